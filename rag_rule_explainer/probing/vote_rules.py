"""This module counts votes: it decides when the answers to one arrangement suffice for a verdict.

Votes are counted on the base predicate. Its negation gets the inverted outcome instead of a vote of its
own, since a tie of an even number of samples would satisfy both.
"""

from dataclasses import dataclass
from math import ceil, log
from typing import Protocol

from ..verdicts import Verdict


class Count(Protocol):
    """A Count decides the verdict from the votes so far."""

    @property
    def most(self) -> int:
        """The largest number of samples of one arrangement."""
        ...

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict; None if more samples can still change it."""
        ...

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns the smallest number of further samples that can decide; drawing them together wastes
        none."""
        ...


@dataclass(frozen=True, slots=True)
class Majority:
    """A Majority gives HOLDS at half or more of ``most`` samples (paper, section on majority votes). It
    decides as soon as the remaining samples cannot change the outcome.

    A sample without a verdict is no vote: if such samples could change the outcome, it is UNKNOWN.
    """

    most: int

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict that all ``most`` samples would give; None while it is open."""
        enough = (self.most + 1) // 2
        if holds >= enough:
            return Verdict.HOLDS
        if breaks > self.most - enough:
            return Verdict.BREAKS
        too_late = self._lacking(holds, breaks) > self._left(holds, breaks, unknown)
        return Verdict.UNKNOWN if too_late else None

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns the smallest number of further samples that can decide, at least 1."""
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
    """A Sequential is Wald's sequential probability ratio test of "holds on 0.5 + margin of the answers"
    against "on 0.5 - margin"; UNKNOWN if ``most`` samples leave it undecided.

    ``false_holds`` and ``false_breaks``: upper bounds, up to the approximation of Wald (1945), on the
    chance of the wrong verdict at those two shares. The cap ``most`` only turns verdicts into UNKNOWN.
    """

    most: int
    false_holds: float
    false_breaks: float
    margin: float

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict; None while neither hypothesis is likely enough."""
        if holds - breaks >= self._to_hold:
            return Verdict.HOLDS
        if breaks - holds >= self._to_break:
            return Verdict.BREAKS
        left = self.most - holds - breaks - unknown
        return Verdict.UNKNOWN if self._lacking(holds - breaks) > left else None

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns the smallest number of further samples that can decide, or that leaves too few for a
        decision; at least 1."""
        lacking, left = self._lacking(holds - breaks), self.most - holds - breaks - unknown
        # Between both thresholds, at most half of their distance is lacking.
        half = (self._to_hold + self._to_break) // 2
        until_undecidable = max((left - lacking) // 2, left - half) + 1
        return max(1, min(lacking, until_undecidable))

    def _lacking(self, ahead: int) -> int:
        return min(self._to_hold - ahead, self._to_break + ahead)

    @property
    def _to_hold(self) -> int:
        """The lead of the votes for HOLDS that decides: each vote adds the same to the log-likelihood
        ratio."""
        return ceil(log((1 - self.false_breaks) / self.false_holds) / self._step)

    @property
    def _to_break(self) -> int:
        return ceil(log((1 - self.false_holds) / self.false_breaks) / self._step)

    @property
    def _step(self) -> float:
        return log((0.5 + self.margin) / (0.5 - self.margin))
