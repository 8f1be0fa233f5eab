"""This module defines the settings for retries of failed replays."""

from dataclasses import dataclass
from math import isfinite

from ..allowed import brief, called_as, plain_number
from ..errors import InvalidInput


@called_as("Retries")
@dataclass(frozen=True, slots=True)
class Retries:
    """A ``Retries`` says how often, and after which pauses, a replay is retried after a failure that may
    be temporary.

    ``most``: the largest number of retries of one replay. ``first_wait``, ``longest_wait``: bounds of
    the pauses, in seconds. Each pause is drawn at random below a bound, which starts at ``first_wait``
    and doubles with each retry up to ``longest_wait``. ``patience``: the longest ``Retry-After`` of a
    server, in seconds, that is waited for; after a longer one, the replay fails without a retry.

    Raises InvalidInput unless every value is a number of at least 0.
    """

    most: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    patience: float = 120.0

    def __post_init__(self) -> None:
        if type(self.most) is not int or self.most < 0:
            raise InvalidInput(
                f"retries.most is {brief(self.most)}; give a whole number, 0 for no retries"
            )
        for name in ("first_wait", "longest_wait", "patience"):
            seconds = getattr(self, name)
            if type(seconds) not in {int, float} or not isfinite(seconds) or seconds < 0:
                raise InvalidInput(f"retries.{name} is {brief(seconds)}; give seconds, 0 or more")

    @classmethod
    def of(cls, given: "Retries | int") -> "Retries":
        """Returns a Retries object unchanged; turns a number into Retries with that number as ``most``.
        Raises InvalidInput for anything else."""
        if isinstance(given, cls):
            return given
        number = plain_number(given)
        if type(number) is not int:
            raise InvalidInput(f"retries is {brief(given)}; give a whole number, or Retries(...)")
        return cls(number)
