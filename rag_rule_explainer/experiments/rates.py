"""How often something happens, with an interval over the questions it was counted on."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from ..checking.figures import wilson

_FEW = 5
"""Questions: of fewer, a variance is no more than a guess."""


@dataclass(frozen=True, slots=True)
class Rate:
    """This class represents a share with its 95 % interval over questions: None of all three where there
    is nothing to have a share of. ``count`` of ``of``, counted on so many ``questions``."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0
    of: int = 0
    questions: int = 0


def rate_of(counted: Iterable[tuple[int, int]]) -> Rate:
    """So many of so many, question by question; questions of which there is nothing are left out.

    The interval is a 95 % one over the questions, which were drawn independently, and not over what was
    counted on one of them, which is anything but independent. Where every question counts once, it is
    Wilson's. Elsewhere it is Wilson's for as many cases as would vary as much from sample to sample if
    they were independent (Kish's effective size; the variance of the ratio, linearised). There are never
    more of these than were counted, and no more than questions where fewer than 5 questions differ from
    all others, which say never, or always: how much they vary is then a guess, and the interval rather
    too wide.
    """
    pairs = [(count, of) for count, of in counted if of]
    count, of = sum(count for count, _ in pairs), sum(of for _, of in pairs)
    if not of:
        return Rate()
    value, size = count / of, _effective_size(pairs, count, of)
    low, high = wilson(value * size, size)
    # Rounding is not to take the value out of its own interval.
    return Rate(value, min(low, value), max(high, value), count, of, len(pairs))


def micro(shares: Iterable[tuple[int, int]]) -> Rate:
    """So many of so many rules, over all questions together.

    Rules of one question stand and fall together, so the interval is that of as many independent cases as
    there are questions, or fewer where some have most of the rules (Wilson; Kish's effective size). Rules
    that were less alike would make it narrower: it is never too narrow for that reason.
    """
    pairs = [(count, of) for count, of in shares if of]
    count, of = sum(count for count, _ in pairs), sum(of for _, of in pairs)
    if not of:
        return Rate()
    value, size = count / of, of * of / sum(of * of for _, of in pairs)
    return Rate(value, *wilson(value * size, size), count, of, len(pairs))


def macro(shares: Iterable[tuple[int, int]]) -> Rate:
    """Returns the mean over the questions for which it is defined; the interval is as for ``micro``."""
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
    # All questions may have the very same share.
    size = value * (1 - value) / variance if variance else of
    return min(size, questions if few else of)
