"""This module computes shares, each with an interval that probably contains the true share."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
"""The probability with which the interval of a share contains the true share."""


@dataclass(frozen=True, slots=True)
class Share:
    """A ``Share`` is the share ``count`` / ``of``, with its Wilson score interval from ``low`` to
    ``high``.

    It is a 95 % interval for cases that were drawn independently. If ``of`` is 0, ``value``, ``low`` and
    ``high`` are None, and ``undefined`` gives the reason.
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
        interval = f"{CONFIDENCE:.0%} interval {_rounded(self.low)} to {_rounded(self.high)}"
        return f"{_rounded(self.value)} ({self.count:,} of {self.of:,}; {interval})"


def share(count: int, of: int, nothing: str) -> Share:
    """Returns the share ``count`` / ``of``. ``nothing``: the reason to give if ``of`` is 0."""
    if not of:
        return Share(0, 0, None, None, None, nothing)
    low, high = wilson(count, of)
    return Share(count, of, count / of, low, high)


def wilson(count: float, of: float) -> tuple[float, float]:
    """Returns the lower and the upper end of Wilson's score interval (1927) for the observed share
    ``count`` / ``of``, which contains the true share with a confidence of ``CONFIDENCE``.

    ``of`` must be above 0. It may be an effective number of cases, which need not be whole. The interval
    stays within [0, 1], and has a width even if ``count`` is 0 or equal to ``of``.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    observed, weight = count / of, z * z / of
    centre = (observed + weight / 2) / (1 + weight)
    half = z * sqrt(observed * (1 - observed) / of + weight / (4 * of)) / (1 + weight)
    # If no case counts, the low end is exactly 0; if all count, the high end is exactly 1. The formula
    # would miss these values by a rounding error.
    low = 0.0 if count == 0 else centre - half
    high = 1.0 if count == of else centre + half
    return low, high


def _rounded(value: float) -> str:
    """Returns the value with three decimals. A value below 1 never becomes 1, and a value above 0
    never becomes 0."""
    if 0 < value < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 <= value < 1 else f"{value:.3f}"
