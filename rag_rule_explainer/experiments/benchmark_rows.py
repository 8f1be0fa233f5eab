"""The rows of a benchmark of models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .examples import Example
from .measures import NAMES, CountedByMeasure
from .models import Examined
from .rates import rate_of
from .replies import LabelledReply

ALL = "all"
"""Whatever number of sources is necessary."""
OfQuestion: TypeAlias = tuple[int, CountedByMeasure]
"""How many sources a question needs, and what was counted on it."""
_SUBJECT = ("model", "temperature", "question_id")
_SAID = ("kind", "truth_in", "says_more", "cut_off", "reworded")
REPLY_COLUMNS = (*_SUBJECT, "kept", "has_all", *_SAID, "deviates", "finish_reason")
DEVIATION_KEYS = (*_SUBJECT, "question", "truth", "necessary", "kept", "answer", *_SAID, "finish_reason")
"""What of a reply is in the table of all, and in the list of those that deviate, with their texts."""


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One measure of one model, over the questions with so many ``necessary`` sources, or all of them:
    ``count`` of ``of``, on so many ``questions``; the 95 % interval is over these. ``rate``, ``low`` and
    ``high`` are None where there is nothing to have a share of."""

    model: str
    temperature: float | None
    necessary: str
    group: str
    measure: str
    count: int
    of: int
    questions: int
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """This class represents the expected rules of one question: how many there are, hold, are undecided,
    and were never asked about."""

    model: str
    temperature: float | None
    question_id: str
    necessary: int
    subsets: int
    retention_expected: int
    retention_hold: int
    retention_undecided: int
    retention_unasked: int
    omission_expected: int
    omission_hold: int
    omission_undecided: int
    omission_unasked: int


def benchmark_rows(model: Examined, counts: Sequence[OfQuestion]) -> Iterator[BenchmarkRow]:
    """Yields the rows of one model: over all questions, and by how many sources they need where that
    differs."""
    numbers = sorted({necessary for necessary, _ in counts})
    wanted = [(ALL, numbers), *((str(each), [each]) for each in numbers if len(numbers) > 1)]
    for told, among in wanted:
        own = [counted for necessary, counted in counts if necessary in among]
        for name, group in NAMES.items():
            found = rate_of(counted[name] for counted in own)
            cells = found.count, found.of, found.questions, found.value, found.low, found.high
            yield BenchmarkRow(model.name, model.temperature, told, group, name, *cells)


def reply_record(model: Examined, example: Example, reply: LabelledReply) -> dict[str, Any]:
    """Returns all that tables say of one reply, with its texts."""
    return {
        "model": model.name,
        "temperature": model.temperature,
        "question_id": example.id,
        "question": example.question,
        "truth": example.answer,
        "necessary": example.necessary,
        "kept": reply.kept,
        "answer": reply.answer.text,
        "has_all": reply.has_all,
        "kind": reply.kind.value,
        "truth_in": reply.truth_in.value,
        "says_more": reply.says_more,
        "cut_off": reply.cut_off,
        "reworded": reply.reworded,
        "deviates": reply.deviates,
        "finish_reason": reply.answer.finish_reason,
    }
