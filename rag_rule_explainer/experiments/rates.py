"""This module computes shares with confidence intervals over questions."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from ..checking.figures import wilson

_FEW = 5
"""With fewer questions than this, an estimate of the variance is not reliable."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A ``Rate`` is a share with its 95 % interval over questions.

    It is the share ``count`` / ``of``, based on ``questions`` questions. ``value``, ``low`` and ``high``
    are None if ``of`` is 0.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0
    of: int = 0
    questions: int = 0


def rate_of(counted: Iterable[tuple[int, int]]) -> Rate:
    """Returns the share of all counts. ``counted``: for each question, a pair (count, of). Questions with
    ``of`` = 0 are left out.

    The 95 % interval is over questions, which were drawn independently. Counts within a question are not
    independent. If every question counts once, it is Wilson's interval. Otherwise it is Wilson's interval
    for the effective number of independent cases (Kish; linearised variance of the ratio). This number is
    at most the number of counts. If fewer than 5 questions differ from the others, the variance is
    uncertain. The number is then at most the number of questions, which makes the interval too wide
    rather than too narrow.
    """
    pairs = [(count, of) for count, of in counted if of]
    count, of = sum(count for count, _ in pairs), sum(of for _, of in pairs)
    if not of:
        return Rate()
    value, size = count / of, _effective_size(pairs, count, of)
    low, high = wilson(value * size, size)
    # Rounding must not put the value outside of its own interval.
    return Rate(value, min(low, value), max(high, value), count, of, len(pairs))


def micro(shares: Iterable[tuple[int, int]]) -> Rate:
    """Returns the share of all counts, of all questions together.

    Counts of one question depend on each other. So the interval is computed as for one independent case
    per question; for fewer cases, if a few questions have most of the counts (Wilson; Kish's effective
    size). The dependence therefore never makes it too narrow.
    """
    pairs = [(count, of) for count, of in shares if of]
    count, of = sum(count for count, _ in pairs), sum(of for _, of in pairs)
    if not of:
        return Rate()
    value, size = count / of, of * of / sum(of * of for _, of in pairs)
    return Rate(value, *wilson(value * size, size), count, of, len(pairs))


def macro(shares: Iterable[tuple[int, int]]) -> Rate:
    """Returns the mean share of the questions for which it is defined. The interval is computed as for
    ``micro``."""
    values = [count / of for count, of in shares if of]
    size = len(values)
    if not size:
        return Rate()
    value = sum(values) / size
    return Rate(value, *wilson(value * size, size), questions=size)


def _effective_size(pairs: list[tuple[int, int]], count: int, of: int) -> float:
    questions, value = len(pairs), count / of
    seen, missed = sum(part > 0 for part, _ in pairs), sum(part < whole for part, whole in pairs)
    few = min(seen, missed) < _FEW
    if of == questions or count in {0, of} or questions == 1:
        return questions
    spread = sqrt(sum((part - value * whole) ** 2 for part, whole in pairs)) / of
    variance = spread**2 * questions / (questions - 1)
    # The variance is 0 if all questions have the same share.
    size = value * (1 - value) / variance if variance else of
    return min(size, questions if few else of)
