"""This module remembers values by key, so that each value is made once, even if several callers need it
at once."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

from .judge_barrier import asleep

Subject = TypeVar("Subject")
Value = TypeVar("Value")


class Memo(Generic[Value]):
    """A Memo holds values by key; one caller makes a value while the others wait. For one event loop.

    If making a value raises, its maker gets the error, and the next waiting caller makes the value
    instead.
    """

    def __init__(self) -> None:
        self.known: dict[Hashable, Value] = {}
        # The event is None until a caller waits: most values are made while no caller waits.
        self._being_made: dict[Hashable, anyio.Event | None] = {}

    async def get(
        self, key: Hashable, make: Callable[[Subject], Awaitable[Value]], subject: Subject
    ) -> tuple[Value, bool]:
        """Returns the value, and False iff this call has made it of ``subject``."""
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
        """Returns True iff the value is neither known nor being made: then the caller must make it and
        call ``end``.

        ``begin``, ``settled`` and ``end`` do the same as ``get``, for callers that avoid one more
        coroutine.
        """
        if key in self.known or key in self._being_made:
            return False
        self._being_made[key] = None
        return True

    async def settled(self, key: Hashable) -> Value | None:
        """Waits until the value is made, and returns it. None: its maker failed, and the caller must make
        it, as after ``begin``."""
        while key in self._being_made:
            event = self._being_made[key] = self._being_made[key] or anyio.Event()
            with asleep():
                await event.wait()
        value = self.known.get(key)
        if value is None:
            self._being_made[key] = None
        return value

    def end(self, key: Hashable, value: Value | None) -> None:
        """Stores a value that was made, and wakes the waiting callers. None: making it failed."""
        if value is not None:
            self.known[key] = value
        waited_for = self._being_made.pop(key)
        if waited_for is not None:
            waited_for.set()
