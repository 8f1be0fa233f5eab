"""This module counts votes: it decides when there are enough answers to one arrangement (an ordered list
of sources) for a verdict.

Each answer (a sample) is one vote: the verdict of the base predicate (the predicate without its negation)
on it. There is no separate vote on the negation of a predicate; the negation gets the inverted outcome. A
tie counts as HOLDS, so with two separate votes a predicate and its negation could both hold.
"""

from dataclasses import dataclass
from math import ceil, comb, log
from typing import Protocol

from ..verdicts import Verdict


def chance_of_misleading(most: int, least: int, wrong: float) -> float:
    """Returns the chance that the wrong verdict gets ``most`` votes while the right verdict still has at
    most ``least``. ``wrong``: the chance that a single vote is wrong. The result is 1 if ``most`` is
    0."""
    if most <= 0:
        return 1.0
    return sum(
        comb(most - 1 + other, other) * wrong**most * (1 - wrong) ** other for other in range(least + 1)
    )


class Count(Protocol):
    """A Count decides, from the votes so far, whether there is a verdict and which one."""

    @property
    def most(self) -> int:
        """Returns the largest number of samples (repeated answers) that may be drawn of one
        arrangement."""
        ...

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict, or None if more samples are needed. The parameters are the numbers of
        samples with each verdict so far."""
        ...

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns the smallest number of further samples after which there may be a verdict. This number
        of samples can be drawn at the same time, and none of them is superfluous."""
        ...


@dataclass(frozen=True, slots=True)
class Majority:
    """A Majority gives HOLDS if the predicate holds on at least half of ``most`` samples (the majority
    vote of the paper on which this package is based). It decides as soon as the remaining samples cannot
    change the outcome.

    A sample whose verdict is UNKNOWN is not counted as a vote. If the outcome depends on such samples, it
    is UNKNOWN.
    """

    most: int

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict that all ``most`` samples would give; None as long as the samples not yet
        drawn can change it."""
        enough = (self.most + 1) // 2
        if holds >= enough:
            return Verdict.HOLDS
        if breaks > self.most - enough:
            return Verdict.BREAKS
        too_late = self._lacking(holds, breaks) > self._left(holds, breaks, unknown)
        return Verdict.UNKNOWN if too_late else None

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns the smallest number of further samples after which there may be a verdict; at least
        1."""
        lacking = self._lacking(holds, breaks)
        until_undecidable = self._left(holds, breaks, unknown) - lacking + 1
        return max(1, min(lacking, until_undecidable))

    def _lacking(self, holds: int, breaks: int) -> int:
        enough = (self.most + 1) // 2
        return min(enough - holds, self.most - enough + 1 - breaks)

    def _left(self, holds: int, breaks: int, unknown: int) -> int:
        return self.most - holds - breaks - unknown


@dataclass(frozen=True, slots=True)
class Sequential:
    """A Sequential is Wald's sequential probability ratio test. It tests the hypothesis "the predicate
    holds on a share of 0.5 + margin of all answers" against "on a share of 0.5 - margin".

    ``most``: the largest number of samples; if so many samples do not decide, the verdict is UNKNOWN.
    ``false_holds``: the highest chance of the verdict HOLDS if the second hypothesis is true.
    ``false_breaks``: the highest chance of the verdict BREAKS if the first one is true. The real chances
    may be slightly higher, because the thresholds of the test are approximations (Wald, 1945).
    """

    most: int
    false_holds: float
    false_breaks: float
    margin: float

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns HOLDS or BREAKS once the test accepts a hypothesis, and UNKNOWN once too few samples
        are left for that; before, None."""
        if holds - breaks >= self._to_hold:
            return Verdict.HOLDS
        if breaks - holds >= self._to_break:
            return Verdict.BREAKS
        left = self.most - holds - breaks - unknown
        return Verdict.UNKNOWN if self._lacking(holds - breaks) > left else None

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns the smallest number of further samples after which there may be a verdict; at least 1.
        The verdict UNKNOWN comes when too few samples are left for a decision."""
        lacking, left = self._lacking(holds - breaks), self.most - holds - breaks - unknown
        # ``lacking``: the votes that are missing for HOLDS or BREAKS. ``left``: the samples that can
        # still be drawn. The verdict is UNKNOWN once ``lacking`` is larger than ``left``. Each sample
        # lowers ``left`` by 1 and may raise ``lacking`` by 1, so this may take few samples. But
        # ``lacking`` is never larger than ``half``, where both thresholds are equally far away.
        half = (self._to_hold + self._to_break) // 2
        until_undecidable = max((left - lacking) // 2, left - half) + 1
        return max(1, min(lacking, until_undecidable))

    def _lacking(self, ahead: int) -> int:
        return min(self._to_hold - ahead, self._to_break + ahead)

    @property
    def _to_hold(self) -> int:
        """Returns the lead of HOLDS over BREAKS, in votes, at which the verdict is HOLDS. Each vote
        changes the log-likelihood ratio by the same amount, so nothing but the lead matters."""
        return ceil(log((1 - self.false_breaks) / self.false_holds) / self._step)

    @property
    def _to_break(self) -> int:
        return ceil(log((1 - self.false_holds) / self.false_breaks) / self._step)

    @property
    def _step(self) -> float:
        return log((0.5 + self.margin) / (0.5 - self.margin))
