"""When several answers to one arrangement decide. Pure counting: asks nobody, knows no clock.

Votes are counted on the base predicate. A negation is never put to a vote of its own, or with an even
number of samples a tie would satisfy both.
"""

from dataclasses import dataclass
from math import ceil, log
from typing import Protocol

from ..verdicts import Verdict


class Count(Protocol):
    """Reads a verdict off the votes so far. ``most``: samples that are drawn at the most."""

    @property
    def most(self) -> int:
        """Samples of one arrangement at the most."""
        ...

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict, or None where more samples can still change it."""
        ...

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Returns how many more samples it takes at the least: these may be drawn together, none in
        vain."""
        ...


@dataclass(frozen=True, slots=True)
class Majority:
    """HOLDS at half or more of ``most`` samples (paper, section on majority votes), curtailed: decided as
    soon as the remaining samples cannot change the outcome.

    A sample without a verdict is nobody's vote: where it could decide, the outcome is UNKNOWN.
    """

    most: int

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict, the same as all ``most`` samples would give; None while it is open."""
        enough = (self.most + 1) // 2
        if holds >= enough:
            return Verdict.HOLDS
        if breaks > self.most - enough:
            return Verdict.BREAKS
        too_late = self._lacking(holds, breaks) > self._left(holds, breaks, unknown)
        return Verdict.UNKNOWN if too_late else None

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Samples that decide if they all agree; at least 1."""
        lacking = self._lacking(holds, breaks)
        in_vain = self._left(holds, breaks, unknown) - lacking + 1
        return max(1, min(lacking, in_vain))

    def _lacking(self, holds: int, breaks: int) -> int:
        enough = (self.most + 1) // 2
        return min(enough - holds, self.most - enough + 1 - breaks)

    def _left(self, holds: int, breaks: int, unknown: int) -> int:
        return self.most - holds - breaks - unknown


@dataclass(frozen=True, slots=True)
class Sequential:
    """Wald's sequential probability ratio test of "holds on 0.5 + margin of the answers" against "on
    0.5 - margin", UNKNOWN where ``most`` samples leave it undecided.

    ``false_holds`` and ``false_breaks``: the chance, at those two shares, of the wrong one of both
    verdicts is at most about that (Wald, 1945); a cap only turns verdicts into UNKNOWN.
    """

    most: int
    false_holds: float
    false_breaks: float
    margin: float

    def outcome(self, holds: int, breaks: int, unknown: int = 0) -> Verdict | None:
        """Returns the verdict, or None while neither hypothesis is likely enough."""
        if holds - breaks >= self._to_hold:
            return Verdict.HOLDS
        if breaks - holds >= self._to_break:
            return Verdict.BREAKS
        left = self.most - holds - breaks - unknown
        return Verdict.UNKNOWN if self._lacking(holds - breaks) > left else None

    def soonest(self, holds: int, breaks: int, unknown: int = 0) -> int:
        """Samples that decide if they all agree, or are enough for the others to come too late; at least
        1."""
        lacking, left = self._lacking(holds - breaks), self.most - holds - breaks - unknown
        # At its furthest from both ends it lacks half of what lies between them.
        half = (self._to_hold + self._to_break) // 2
        in_vain = max((left - lacking) // 2, left - half) + 1
        return max(1, min(lacking, in_vain))

    def _lacking(self, ahead: int) -> int:
        return min(self._to_hold - ahead, self._to_break + ahead)

    @property
    def _to_hold(self) -> int:
        """By how many the votes for it must be ahead: each counts the same in the logarithm."""
        return ceil(log((1 - self.false_breaks) / self.false_holds) / self._step)

    @property
    def _to_break(self) -> int:
        return ceil(log((1 - self.false_holds) / self.false_breaks) / self._step)

    @property
    def _step(self) -> float:
        return log((0.5 + self.margin) / (0.5 - self.margin))
