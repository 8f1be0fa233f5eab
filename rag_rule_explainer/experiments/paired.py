"""This module compares two conditions, such as two models or two numbers of samples, that were measured
on the same questions.

Overlapping intervals say little about a difference, because questions differ more from each other than
conditions do. So each question is compared with itself. The test swaps the two values of each question
at random: if the conditions did not differ, both orders would be equally likely.

The interval is the one that belongs to this test: it holds the differences that the test would not
reject. Its ends are means of subsets of the questions (Hartigan, *Using subsample values as typical
values*, 1969). Test and interval assume that differences are as often above their mean as below it. The
bootstrap (drawing questions with replacement) is not used, because its intervals are too narrow if few
questions differ.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice, product
from math import inf
from statistics import fmean

from ..errors import InvalidInput

_EXACT = 12
"""Up to this number of questions, the interval is computed from all subsets of the questions, and the
chance ``p`` from all ways to swap their values. For more questions, both are computed from a random
sample of subsets and of swaps."""
_SUBSETS, _DRAWS = 1_999, 9_999
_OUTSIDE = 0.025
"""The probability that the true difference is below the 95 % interval. The probability that it is above
the interval is the same."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A ``PairedComparison`` is the comparison of two conditions on the same questions.

    ``difference``: the mean of first minus second. ``low``, ``high``: its 95 % interval; infinite for
    fewer than 6 questions, which are too few for an interval. ``p``: the chance of a mean difference at
    least as large, in either direction, if the condition made no difference. ``questions``: the number of
    questions that have both values. ``differ``: the number of questions whose values differ.
    """

    difference: float
    low: float
    high: float
    p: float
    questions: int
    differ: int

    def __str__(self) -> str:
        return (
            f"{self.difference:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p = {self.p:.4f}, "
            f"{self.questions} questions, of which {self.differ} differ"
        )


def paired_comparison(
    first: Mapping[str, float | None], second: Mapping[str, float | None], seed: int = 0
) -> PairedComparison:
    """Returns the comparison of two conditions. ``first``, ``second``: the values under each condition,
    by question. A question that lacks one of its values is left out. ``seed``: the seed of the random
    sample that is used if there are more than ``_EXACT`` questions. Raises InvalidInput if no question
    has both values."""
    pairs = [(a, second.get(name)) for name, a in sorted(first.items())]
    changes = [a - b for a, b in pairs if a is not None and b is not None]
    if not changes:
        raise InvalidInput("no question was measured under both conditions; compare the same questions")
    differing = [change for change in changes if change]
    low, high = _interval(changes, random.Random(seed))  # noqa: S311 -- the draw must be reproducible, and is no secret
    p = _chance(differing, random.Random(seed))  # noqa: S311 -- the draw must be reproducible, and is no secret
    return PairedComparison(fmean(changes), low, high, p, len(changes), len(differing))


def _interval(changes: list[float], draw: random.Random) -> tuple[float, float]:
    size = len(changes)
    if size <= _EXACT:
        chosen = islice(product((False, True), repeat=size), 1, None)
    else:
        chosen = (_subset(size, draw) for _ in range(_SUBSETS))
    # Rounding makes differences such as 0.9 - 0.8 - 0.1 exactly 0, and "+ 0.0" makes a 0 of a -0.
    means = sorted(round(fmean(compress(changes, each)), 9) + 0.0 for each in chosen)
    # The sorted means divide the number line into parts. The true difference is equally likely to be in
    # each part. So the 95 % interval leaves out the lowest 2.5 % and the highest 2.5 % of the parts.
    outside = int(_OUTSIDE * (len(means) + 1))
    return (means[outside - 1], means[-outside]) if outside else (-inf, inf)


def _subset(size: int, draw: random.Random) -> Sequence[bool]:
    """Returns a random subset of ``size`` questions: for each question, True if the subset contains it.
    The subset is not empty, and all subsets are equally likely."""
    bits = draw.randrange(1, 1 << size)
    return [bool(bits >> place & 1) for place in range(size)]


def _chance(changes: list[float], draw: random.Random) -> float:
    # Sums of the same floats in a different order may differ in the last digits, so a small difference is
    # allowed.
    seen = abs(sum(changes)) - 1e-9
    if len(changes) <= _EXACT:
        signs = product((1, -1), repeat=len(changes))
        sums = [abs(sum(s * c for s, c in zip(each, changes, strict=True))) for each in signs]
        return sum(each >= seen for each in sums) / len(sums)
    drawn = (abs(sum(draw.choice((1, -1)) * each for each in changes)) for _ in range(_DRAWS))
    return (1 + sum(each >= seen for each in drawn)) / (_DRAWS + 1)
