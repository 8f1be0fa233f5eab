"""This module holds the settings for retries of failed replays."""

from dataclasses import dataclass
from math import isfinite

from ..allowed import called_as
from ..errors import InvalidInput


@called_as("Retries")
@dataclass(frozen=True, slots=True)
class Retries:
    """The Retries settings say how replays are retried after failures that may pass.

    ``most``: the number of retries. ``first_wait``, ``longest_wait``: seconds; the pauses are drawn at
    random below a bound that doubles from the first to the second. A ``Retry-After`` of the server is
    honoured up to ``patience`` seconds; a longer one makes the replay fail.

    Raises InvalidInput unless every value is a number of at least 0.
    """

    most: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    patience: float = 120.0

    def __post_init__(self) -> None:
        if type(self.most) is not int or self.most < 0:
            raise InvalidInput(f"retries.most is {self.most!r}; give a whole number, 0 for no retries")
        for name in ("first_wait", "longest_wait", "patience"):
            seconds = getattr(self, name)
            if type(seconds) not in {int, float} or not isfinite(seconds) or seconds < 0:
                raise InvalidInput(f"retries.{name} is {seconds!r}; give seconds, 0 or more")

    @classmethod
    def of(cls, given: "Retries | int") -> "Retries":
        """Returns retries unchanged, and a number as that many retries with the usual pauses."""
        if isinstance(given, cls):
            return given
        if type(given) is not int:
            raise InvalidInput(f"retries is {given!r}; give a whole number, or Retries(...)")
        return cls(given)
