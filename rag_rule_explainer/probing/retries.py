"""How failed replays are tried again."""

from dataclasses import dataclass
from math import isfinite

from ..errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Retries:
    """How failed replays are tried again, where that may help.

    ``most``: further tries after the first. ``first_wait``, ``longest_wait``: seconds; the pauses are
    drawn at random below a bound that doubles from the one to the other. A ``Retry-After`` of the other
    side is honoured up to ``patience`` seconds; if it asks for more, the replay has failed.

    Raises InvalidInput for what is no number, or below 0.
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
        """Returns a number of retries as one with the usual pauses."""
        if isinstance(given, cls):
            return given
        if type(given) is not int:
            raise InvalidInput(f"retries is {given!r}; give a whole number, or Retries(...)")
        return cls(given)
