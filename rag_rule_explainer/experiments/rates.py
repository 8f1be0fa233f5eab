"""This module computes shares, such as the share of rules that hold, over many questions. Each share gets
a confidence interval which takes into account that counts within a question depend on each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from ..checking.figures import wilson

_FEW = 5
"""The minimum number of questions with a share above 0, and also of questions with a share below 1. With
fewer questions, the variance cannot be estimated well. The estimate is then used only if it makes the
interval wider."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A ``Rate`` is a share over several questions, with its 95 % interval (``low`` to ``high``).

    ``value``: the share, which is ``count`` / ``of``; a mean of the shares of single questions has no
    ``count`` and no ``of``, which are then 0. ``questions``: the number of questions on which the share
    is based. If there are none, ``value``, ``low`` and ``high`` are None.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0
    of: int = 0
    questions: int = 0


def rate_of(counted: Iterable[tuple[int, int]]) -> Rate:
    """Returns the share of all counts, of all questions together. ``counted``: for each question, a pair
    (count, of). Questions with ``of`` = 0 are left out.

    The 95 % interval is Wilson's. Counts within a question depend on each other, so the interval is
    computed for an effective number of independent cases (Kish; linearised variance of the ratio), which
    is at most the sum of ``of``. If fewer than 5 questions have a count above 0, or fewer than 5 have a
    count below ``of``, the variance cannot be estimated well. The effective number is then at most the
    number of questions, so that the interval is too wide rather than too narrow.
    """
    pairs = [(count, of) for count, of in counted if of]
    count, of = sum(count for count, _ in pairs), sum(of for _, of in pairs)
    if not of:
        return Rate()
    value, size = count / of, _effective_size(pairs, count, of)
    low, high = wilson(value * size, size)
    # Rounding could put the value outside of its own interval, so the interval is extended to the value.
    return Rate(value, min(low, value), max(high, value), count, of, len(pairs))


def micro(shares: Iterable[tuple[int, int]]) -> Rate:
    """Returns the share of all counts, of all questions together. ``shares``: for each question, a pair
    (count, of).

    Unlike ``rate_of``, this assumes that the counts of one question depend on each other completely. The
    interval is Wilson's for one independent case per question, or for fewer if a few questions have most
    of the counts (Kish's effective size). So the interval is never too narrow because of this
    dependence.
    """
    pairs = [(count, of) for count, of in shares if of]
    count, of = sum(count for count, _ in pairs), sum(of for _, of in pairs)
    if not of:
        return Rate()
    value, size = count / of, of * of / sum(of * of for _, of in pairs)
    return Rate(value, *wilson(value * size, size), count, of, len(pairs))


def macro(shares: Iterable[tuple[int, int]]) -> Rate:
    """Returns the mean of the shares of the single questions. ``shares``: for each question, a pair
    (count, of). Questions with ``of`` = 0 have no share and are left out. The interval is Wilson's for
    one independent case per question."""
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
    # If all questions have the same share, the variance is 0, and dividing by 0 would fail.
    size = value * (1 - value) / variance if variance else of
    return min(size, questions if few else of)
