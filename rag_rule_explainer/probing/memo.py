"""What was asked for once is not asked for again, nor twice at the same time."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """Values by key, each made by one caller while the others wait. For one event loop.

    Where making one raises, the error goes to its maker, and the next waiter makes it instead.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Value] = {}
        # None until somebody waits: most values are made with nobody waiting.
        self._being_made: dict[Hashable, anyio.Event | None] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Value]]) -> tuple[Value, bool]:
        """The value, and whether it was there (or on its way) already."""
        while key not in self._known:
            if key not in self._being_made:
                self._being_made[key] = None
                try:
                    value = self._known[key] = await make()
                    return value, False
                finally:
                    self._end(key)
            event = self._being_made[key] = self._being_made[key] or anyio.Event()
            await event.wait()
        return self._known[key], True

    def known(self, key: Hashable) -> Value | None:
        """The value, if it is there already."""
        return self._known.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keeps a value that was come by otherwise."""
        self._known[key] = value

    def _end(self, key: Hashable) -> None:
        waited_for = self._being_made.pop(key)
        if waited_for is not None:
            waited_for.set()
