"""Caps on what one explanation may spend."""

from dataclasses import dataclass

from ..errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Limits:
    """``replays``: most runs of the application, the baseline and the repeat check included."""

    replays: int | None = None

    def __post_init__(self) -> None:
        if self.replays is not None and (type(self.replays) is not int or self.replays < 1):
            raise InvalidInput(f"limits.replays is {self.replays!r}; give at least 1, or None")


class LimitReached(Exception):
    """Raised inside a probe instead of spending more; the drivers turn it into a stop."""
