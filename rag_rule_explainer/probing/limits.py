"""This module defines the caps on what one explanation may spend."""

from dataclasses import dataclass, fields
from math import isfinite

from ..allowed import called_as
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
    ``tokens``: input and output tokens, as the models of the replays and the judge report them.
    ``cost``: the cost of these tokens at the prices in ``Settings.prices``, in the currency of the
    prices. ``seconds``: seconds since the call began; a judge that has not answered
    by then is not waited for, nor a condition that is a function, which has a second for an answer that
    comes late. Their verdicts are UNKNOWN. An async one is cancelled, a sync one goes on in its thread.
    ``failures``: replays in a row that fail even after retries.

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
        """Returns a Limits object unchanged; turns a number into Limits with that cap on replays. Raises
        InvalidInput for anything else."""
        if isinstance(given, cls):
            return given
        if type(given) is not int:
            raise InvalidInput(f"limits is {given!r}; give a number of replays, or Limits(replays=...)")
        return cls(replays=given)


class LimitReached(Exception):
    """Raised in a probe when a limit or a stop forbids to spend more. ``drive`` and ``once`` then stop
    the searches, and the error does not reach the caller."""


class JudgedTooLate(LimitReached):
    """Raised in place of a judgement that was not made when the limit of seconds was reached."""
