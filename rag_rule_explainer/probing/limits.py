"""This module defines the caps on what one explanation may spend."""

from dataclasses import dataclass, fields
from math import isfinite

from ..allowed import called_as
from ..errors import InvalidInput

INTERRUPTED = "interrupted"
"""The stop reason after Ctrl-C."""

MOST_AT_A_TIME = 10_000
"""The largest number of replays in flight; each of them may need a thread."""


@called_as("Limits")
@dataclass(frozen=True, slots=True)
class Limits:
    """The Limits are hard caps: once one is reached, no replay is begun, and the proved rules are
    returned.

    Only the replays in flight at that moment may exceed a cap. None: no cap.

    ``replays``: runs of the application, the baseline, the repeat check and retries included.
    ``tokens``: input and output tokens, as the models of the replays and the judge report them.
    ``cost``: the cost of these tokens by ``Settings.prices``, in its currency.
    ``seconds``: seconds since the call. ``failures``: replays in a row that fail in spite of retries.

    Raises InvalidInput unless every cap is a positive number or None.
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
        """Returns limits unchanged, and a number as a cap on replays. Raises InvalidInput."""
        if isinstance(given, cls):
            return given
        if type(given) is not int:
            raise InvalidInput(f"limits is {given!r}; give a number of replays, or Limits(replays=...)")
        return cls(replays=given)


class LimitReached(Exception):
    """Raised inside a probe instead of spending more; the drivers turn it into a stop."""
