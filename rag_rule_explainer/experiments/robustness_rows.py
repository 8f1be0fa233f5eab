"""This module defines the tables of the robustness experiment: one row per question, and one for all of
them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..rules import RuleKind
from .models import Examined
from .rates import Rate, macro, micro
from .scoring import Score


@dataclass(frozen=True, slots=True)
class RobustnessQuestion:
    """A ``RobustnessQuestion`` counts the rules of one kind on one question, by votes of the first
    ``samples`` samples. ``right``: rules both found and expected. ``precision`` and ``recall`` are
    None if undefined."""

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
    """A ``RobustnessRow`` covers all questions of one model, kind and number of samples.

    Each rate has its 95 % interval. Micro: of the rules of all questions together. Macro: the mean over
    the questions for which it is defined; ``precision_undefined`` questions have no rules of this kind,
    and ``recall_undefined`` have no expected ones. ``failed``: questions that are in no figure.
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
    """Returns the row of these scores, which are by ``count`` samples each."""
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
