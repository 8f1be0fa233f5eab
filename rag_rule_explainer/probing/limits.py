"""Caps on what one explanation may spend."""

from dataclasses import dataclass, fields
from math import isfinite

from ..errors import InvalidInput

INTERRUPTED = "interrupted"
"""The stop reason after Ctrl-C."""

MOST_AT_A_TIME = 10_000
"""Replays in flight; each may come to be a thread."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard caps: once one is reached nothing more is asked, and what was proved until then is returned.

    Exceeded by no more than what is in flight at that moment.

    ``replays``: runs of the application, the baseline, the repeat check and retries included.
    ``tokens``: in and out, of the replays' models and the judge's, as they report them.
    ``cost``: what these tokens cost by ``Settings.prices``, in its currency.
    ``seconds``: from the call on. ``failures``: replays in a row that fail for good, retries and all;
    then everything is taken to fail. None: no cap.

    Raises InvalidInput for a cap that is no positive number.
    """

    replays: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    failures: int | None = 10

    def __post_init__(self) -> None:
        for field in fields(self):
            cap, whole = getattr(self, field.name), field.name not in {"cost", "seconds"}
            if cap is None:
                continue
            kinds = (int,) if whole else (int, float)
            if type(cap) not in kinds or not isfinite(cap) or cap <= 0:
                at_least = "at least 1" if whole else "a number above 0"
                raise InvalidInput(f"limits.{field.name} is {cap!r}; give {at_least}, or None")

    @classmethod
    def of(cls, given: "Limits | int") -> "Limits":
        """Returns limits as they are, and a number as one of replays. Raises InvalidInput."""
        if isinstance(given, cls):
            return given
        if type(given) is not int:
            raise InvalidInput(f"limits is {given!r}; give a number of replays, or Limits(replays=...)")
        return cls(replays=given)


class LimitReached(Exception):
    """Raised inside a probe instead of spending more; the drivers turn it into a stop."""
