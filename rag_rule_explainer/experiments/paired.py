"""This module compares two conditions, such as two models or two numbers of samples, that were measured
on the same questions.

Overlapping intervals say little about a difference, because questions differ more from each other than
conditions do. So each question is compared with itself. The test swaps the two values of each question at
random: if the condition made no difference, either order would be as likely.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from ..errors import InvalidInput

_EXACT = 12
"""If at most this number of questions have two different values, all ways to swap values are counted.
Otherwise, random ways are drawn."""
_DRAWS = 9_999


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A ``PairedComparison`` is the comparison of two conditions on the same questions.

    ``difference``: the mean of first minus second. ``low``, ``high``: its 95 % interval, by drawing
    questions with replacement. ``p``: the chance of a mean difference at least as large, in either
    direction, if the condition made no difference. ``questions``: the number of questions that have both
    values. ``differ``: the number of questions whose values differ.
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
    """Returns the comparison of two conditions, each given as values by question. A question that lacks
    one of its values is left out. Raises InvalidInput if no question has both."""
    pairs = [(a, second.get(name)) for name, a in sorted(first.items())]
    changes = [a - b for a, b in pairs if a is not None and b is not None]
    if not changes:
        raise InvalidInput("no question was measured under both conditions; compare the same questions")
    draw = random.Random(seed)  # noqa: S311 -- reproducible
    means = sorted(fmean(draw.choices(changes, k=len(changes))) for _ in range(2_000))
    differing = [change for change in changes if change]
    p = _chance(differing, draw)
    return PairedComparison(fmean(changes), means[49], means[1949], p, len(changes), len(differing))


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
