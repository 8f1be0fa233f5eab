"""This module defines the rows of the benchmark's tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .examples import Example
from .measures import NAMES, CountedByMeasure
from .models import Examined
from .rates import rate_of
from .replies import LabelledReply

ALL = "all"
"""The value of the column ``necessary`` in rows about all questions."""
OfQuestion: TypeAlias = tuple[int, CountedByMeasure]
"""The results for one question: the number of its necessary sources, and for each measure its counts."""
_SUBJECT = ("model", "temperature", "question_id")
_SAID = ("kind", "truth_in", "says_more", "cut_off", "reworded")
REPLY_COLUMNS = (*_SUBJECT, "kept", "has_all", *_SAID, "deviates", "finish_reason")
DEVIATION_KEYS = (*_SUBJECT, "question", "truth", "necessary", "kept", "answer", *_SAID, "finish_reason")
"""``DEVIATION_KEYS``: the keys of the records of deviations (replies that are wrong or ignore the
instructions), which include texts. ``REPLY_COLUMNS``: the columns of the table of all replies, which
includes no texts."""


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A ``BenchmarkRow`` holds the value of one measure for one model.

    ``necessary``: the number of necessary sources of the questions that the row covers, or "all".
    ``group``: the heading under which reports list the measure. The value is the share ``count`` /
    ``of``. ``questions``: the number of questions on which it is based. ``rate``, ``low``, ``high``: the
    share and its 95 % interval over questions; None if ``of`` is 0.
    """

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
    """A ``BenchmarkQuestion`` counts, for one question, the rules that its labels imply. The labels say
    which sources are necessary for the right answer.

    For each kind of rule, it counts all of these rules (expected), those that hold, those that are
    undecided because a subset has no verdict, and those that apply to no replayed subset (unasked).
    ``necessary``: the number of necessary sources. ``subsets``: the number of replayed subsets.
    """

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
    """Yields the rows of one model: first the rows over all questions. If the questions differ in their
    number of necessary sources, rows for each of these numbers follow. ``counts``: the results by
    question."""
    numbers = sorted({necessary for necessary, _ in counts})
    wanted = [(ALL, numbers), *((str(each), [each]) for each in numbers if len(numbers) > 1)]
    for label, among in wanted:
        own = [counted for necessary, counted in counts if necessary in among]
        for name, group in NAMES.items():
            found = rate_of(counted[name] for counted in own)
            cells = found.count, found.of, found.questions, found.value, found.low, found.high
            yield BenchmarkRow(model.name, model.temperature, label, group, name, *cells)


def reply_record(model: Examined, example: Example, reply: LabelledReply) -> dict[str, Any]:
    """Returns one reply as a record for the tables, with its texts."""
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
