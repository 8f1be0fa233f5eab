"""This module defines the rows of the two tables of the robustness experiment: rows about single
questions, and rows about all questions."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..rules import RuleKind
from .models import Examined
from .rates import Rate, macro, micro
from .scoring import Score


@dataclass(frozen=True, slots=True)
class RobustnessQuestion:
    """A ``RobustnessQuestion`` counts the rules of one kind for one question, if the first ``samples``
    samples of each subset vote.

    ``expected``: the number of rules that follow from the labels, which say which sources are necessary
    for the right answer. ``right``: the number of rules that are both found and expected. ``precision``,
    ``recall``: None if undefined, that is, if no rules are found or none expected.
    """

    model: str
    temperature: float | None
    question_id: str
    kind: RuleKind
    samples: int
    expected: int
    found: int
    right: int
    precision: float | None
    recall: float | None


@dataclass(frozen=True, slots=True)
class RobustnessRow:
    """A ``RobustnessRow`` covers all questions for one model, one kind of rule and one number of samples.

    ``expected``: the number of rules that follow from the labels, which say which sources are necessary
    for the right answer. Each rate has a 95 % interval. Micro rates are over the rules of all questions
    together. Macro rates are the mean over those questions for which the rate is defined.
    ``precision_undefined``: the number of questions for which no rules of this kind were found.
    ``recall_undefined``: the number of questions with no expected rules. ``failed``: the number of
    questions that failed; they are in no other column.
    """

    model: str
    temperature: float | None
    kind: RuleKind
    samples: int
    questions: int
    failed: int
    expected: int
    found: int
    right: int
    micro_precision: float | None
    micro_precision_low: float | None
    micro_precision_high: float | None
    micro_recall: float | None
    micro_recall_low: float | None
    micro_recall_high: float | None
    macro_precision: float | None
    macro_precision_low: float | None
    macro_precision_high: float | None
    precision_undefined: int
    macro_recall: float | None
    macro_recall_low: float | None
    macro_recall_high: float | None
    recall_undefined: int


def row_of(
    model: Examined, kind: RuleKind, count: int, scores: Sequence[Score], failed: int
) -> RobustnessRow:
    """Returns the row that sums up the scores of all questions. ``count``: the number of samples that
    voted. ``failed``: the number of questions that failed, and so have no score."""
    precision = [(each.right, each.found) for each in scores]
    recall = [(each.right, each.expected) for each in scores]
    return RobustnessRow(
        model.name,
        model.temperature,
        kind,
        count,
        len(scores),
        failed,
        sum(each.expected for each in scores),
        sum(each.found for each in scores),
        sum(each.right for each in scores),
        *_cells(micro(precision)),
        *_cells(micro(recall)),
        *_cells(macro(precision)),
        sum(each.precision is None for each in scores),
        *_cells(macro(recall)),
        sum(each.recall is None for each in scores),
    )


def _cells(rate: Rate) -> tuple[float | None, float | None, float | None]:
    return rate.value, rate.low, rate.high
