"""What was asked for once is not asked for again, nor twice at the same time."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

from .judge_barrier import asleep

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
        """Returns the value, made of ``subject`` where it is new, and whether it was there or on its
        way."""
        if not self.begin(key):
            value = await self.settled(key)
            if value is not None:
                return value, True
        try:
            made = await make(subject)
        except BaseException:
            self.end(key, None)
            raise
        self.end(key, made)
        return made, False

    def begin(self, key: Hashable) -> bool:
        """Returns True iff the value is neither known nor being made: the caller makes it, and then calls
        ``end``.

        The same as ``get`` in parts, for callers that have no coroutine to spare.
        """
        if key in self.known or key in self._being_made:
            return False
        self._being_made[key] = None
        return True

    async def settled(self, key: Hashable) -> Value | None:
        """Returns the value when it is known; None where its maker failed: then the caller makes it, as
        after a ``begin``."""
        while key in self._being_made:
            event = self._being_made[key] = self._being_made[key] or anyio.Event()
            with asleep():
                await event.wait()
        value = self.known.get(key)
        if value is None:
            self._being_made[key] = None
        return value

    def end(self, key: Hashable, value: Value | None) -> None:
        """The value is made; or it failed, with None."""
        if value is not None:
            self.known[key] = value
        waited_for = self._being_made.pop(key)
        if waited_for is not None:
            waited_for.set()
