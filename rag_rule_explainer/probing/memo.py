"""What was asked for once is not asked for again, nor twice at the same time."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

Subject = TypeVar("Subject")
Value = TypeVar("Value")


class Memo(Generic[Value]):
    """Values by key, each made by one caller while the others wait. For one event loop.

    Where making one raises, the error goes to its maker, and the next waiter makes it instead.
    """

    def __init__(self) -> None:
        self.known: dict[Hashable, Value] = {}
        # None until somebody waits: most values are made with nobody waiting.
        self._being_made: dict[Hashable, anyio.Event | None] = {}

    async def get(
        self, key: Hashable, make: Callable[[Subject], Awaitable[Value]], subject: Subject
    ) -> tuple[Value, bool]:
        """The value, made of ``subject`` where it is new, and whether it was there or on its way."""
        while key in self._being_made:
            event = self._being_made[key] = self._being_made[key] or anyio.Event()
            await event.wait()
        value = self.known.get(key)
        if value is not None:
            return value, True
        self._being_made[key] = None
        try:
            value = self.known[key] = await make(subject)
        finally:
            waited_for = self._being_made.pop(key)
            if waited_for is not None:
                waited_for.set()
        return value, False
