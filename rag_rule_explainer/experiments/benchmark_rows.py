"""The rows of a benchmark of models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .examples import Example
from .measures import NAMES, Counted, Held
from .models import Examined
from .rates import rate
from .replies import Reply

ALL = "all"
"""Whatever number of sources is necessary."""
OfQuestion: TypeAlias = tuple[int, Counted]
"""How many sources a question needs, and what was counted on it."""


@dataclass(frozen=True, slots=True)
class Row:
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
class QuestionRow:
    """The expected rules of one question: how many there are, hold, are undecided, and were never
    asked about."""

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


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """One reply; ``kept``: the ids of the sources shown, apart by spaces."""

    model: str
    temperature: float | None
    question_id: str
    kept: str
    has_all: bool
    kind: str
    truth_in: str
    says_more: bool
    cut_off: bool
    reworded: bool
    deviates: bool
    finish_reason: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that is in no figure of a model, because some subset was not answered."""

    model: str
    temperature: float | None
    question_id: str
    reason: str


def rows_of(model: Examined, counts: Sequence[OfQuestion]) -> Iterator[Row]:
    """The rows of one model: over all questions, and by how many sources they need where that differs."""
    numbers = sorted({necessary for necessary, _ in counts})
    wanted = [(ALL, numbers), *((str(each), [each]) for each in numbers if len(numbers) > 1)]
    for told, among in wanted:
        own = [counted for necessary, counted in counts if necessary in among]
        for name, group in NAMES.items():
            found = rate(counted[name] for counted in own)
            counted_on = found.count, found.of, found.questions
            interval = found.value, found.low, found.high
            yield Row(model.name, model.temperature, told, group, name, *counted_on, *interval)


def question_row(
    model: Examined, example: Example, subsets: int, retention: Held, omission: Held
) -> QuestionRow:
    """The row of one question, of whose sources so many ``subsets`` were asked about."""
    return QuestionRow(
        model.name,
        model.temperature,
        example.id,
        len(example.necessary),
        subsets,
        *(retention.expected, retention.hold, retention.undecided, retention.unasked),
        *(omission.expected, omission.hold, omission.undecided, omission.unasked),
    )


def reply_row(model: Examined, example: Example, reply: Reply) -> ReplyRow:
    """The row of one reply."""
    return ReplyRow(
        model.name,
        model.temperature,
        example.id,
        " ".join(reply.kept),
        reply.has_all,
        reply.kind.value,
        reply.truth_in.value,
        reply.says_more,
        reply.cut_off,
        reply.reworded,
        reply.deviates,
        reply.answer.finish_reason,
    )


def record(model: Examined, example: Example, reply: Reply) -> dict[str, Any]:
    """A reply as JSON can say it, with its texts."""
    return {
        "model": model.name,
        "temperature": model.temperature,
        "question_id": example.id,
        "question": example.question,
        "truth": example.answer,
        "necessary": example.necessary,
        "kept": reply.kept,
        "answer": reply.answer.text,
        "kind": reply.kind.value,
        "truth_in": reply.truth_in.value,
        "says_more": reply.says_more,
        "cut_off": reply.cut_off,
        "reworded": reply.reworded,
        "finish_reason": reply.answer.finish_reason,
    }
