"""Shares of what was counted, and the interval in which the true share lies."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
"""How often an interval is to hold the true share."""


@dataclass(frozen=True, slots=True)
class Share:
    """``count`` of ``of``, with the Wilson score interval from ``low`` to ``high``.

    The interval is a 95 % one for cases that were drawn independently. Of nothing there is no share:
    then ``value``, ``low`` and ``high`` are None, and ``undefined`` says of what there was nothing.
    """

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None
    undefined: str = ""

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return f"undefined: {self.undefined}"
        interval = f"{CONFIDENCE:.0%} interval {_told(self.low)} to {_told(self.high)}"
        return f"{_told(self.value)} ({self.count:,} of {self.of:,}; {interval})"


def share(count: int, of: int, nothing: str) -> Share:
    """Returns the share; ``nothing``: what is said where it is one of nothing."""
    if not of:
        return Share(0, 0, None, None, None, nothing)
    low, high = wilson(count, of)
    return Share(count, of, count / of, low, high)


def wilson(count: float, of: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Returns the score interval (Wilson, 1927): every share that so many of so many do not speak
    against.

    ``of`` is above 0, and may be an effective number. Never leaves [0, 1], and is no single point where
    all or none were counted.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    observed, weight = count / of, z * z / of
    centre = (observed + weight / 2) / (1 + weight)
    half = z * sqrt(observed * (1 - observed) / of + weight / (4 * of)) / (1 + weight)
    # At the ends it is exact, and rounding is not.
    low = 0.0 if count == 0 else centre - half
    high = 1.0 if count == of else centre + half
    return low, high


def _told(value: float) -> str:
    """With three decimals, of which none makes all of almost all."""
    if 0 < value < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 <= value < 1 else f"{value:.3f}"
