"""This module defines the caps on what one explanation may spend."""

from dataclasses import dataclass, fields
from math import isfinite

from ..allowed import brief, called_as, plain_number
from ..errors import InvalidInput

INTERRUPTED = "interrupted"
"""The reason that an explanation gives if it was stopped by Ctrl-C."""

MOST_AT_A_TIME = 10_000
"""The largest number of replays that may run at the same time; each of them may need a thread."""


@called_as("Limits")
@dataclass(frozen=True, slots=True)
class Limits:
    """The Limits are caps on what one explanation may spend. Once one of them is reached, no further
    replay begins, and the rules that are proved by then are returned.

    Replays that are already running may still exceed a cap. None means no cap.

    ``replays``: runs of the application, including the baseline, the repeat check and retries.
    ``tokens``: input and output tokens, as the models of the replays and the judge report them. ``cost``:
    the cost of these tokens at the prices in ``Settings.prices``, in the currency of the prices.

    ``seconds``: seconds since the call began. At this limit, the call no longer waits for a judge. A
    condition that is a function gets one second for an answer that comes shortly before the limit. A
    judge or condition that is still not ready gives the verdict UNKNOWN: an async one is cancelled, and a
    sync one continues in its thread. ``failures``: replays in a row that fail even after retries.

    Raises InvalidInput unless every cap is a positive number or None.
    """

    replays: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    failures: int | None = 10

    def __post_init__(self) -> None:
        for field in fields(self):
            given, whole = getattr(self, field.name), field.name not in {"cost", "seconds"}
            if given is None:
                continue
            cap = plain_number(given)
            kinds = (int,) if whole else (int, float)
            if type(cap) not in kinds or not isfinite(cap) or cap <= 0:
                at_least = "at least 1" if whole else "a number above 0"
                raise InvalidInput(f"limits.{field.name} is {brief(given)}; give {at_least}, or None")
            object.__setattr__(self, field.name, cap)

    @classmethod
    def of(cls, given: "Limits | int") -> "Limits":
        """Returns a Limits object unchanged; turns a number into Limits with that cap on replays. Raises
        InvalidInput for anything else."""
        if isinstance(given, cls):
            return given
        number = plain_number(given)
        if type(number) is not int:
            raise InvalidInput(
                f"limits is {brief(given)}; give a number of replays, or Limits(replays=...)"
            )
        return cls(replays=number)


class LimitReached(Exception):
    """This error is raised in a probe when a limit, or a stop of the search, allows no further spending.
    ``drive`` and ``once`` then stop the searches, and the error does not reach the caller."""


class JudgedTooLate(LimitReached):
    """This error is raised in place of a judgement that was not ready when the limit of seconds was
    reached."""
