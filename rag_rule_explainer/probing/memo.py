"""This module remembers values by key, so that each value is made once, even if several callers need it
at once."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

from .judge_barrier import asleep

Subject = TypeVar("Subject")
Value = TypeVar("Value")


class Memo(Generic[Value]):
    """A Memo holds values by key. The first caller that needs a value makes it, while other callers of
    the same key wait for it. It belongs to one event loop.

    If making a value raises, the caller that made it gets the error, and the next waiting caller tries to
    make the value.
    """

    def __init__(self) -> None:
        self.known: dict[Hashable, Value] = {}
        # This dict has the keys of values that are being made. An event is created only when another
        # caller waits for the value, since that is rare.
        self._being_made: dict[Hashable, anyio.Event | None] = {}

    async def get(
        self, key: Hashable, make: Callable[[Subject], Awaitable[Value]], subject: Subject
    ) -> tuple[Value, bool]:
        """Returns the value of a key, and whether it was there without this call: True if the value was
        known or another caller made it, False if this call made it by ``make(subject)``."""
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
        """Returns True if the value is neither known nor being made; the caller must then make the value
        and call ``end``. Returns False otherwise; the caller must then call ``settled``.

        ``begin``, ``settled`` and ``end`` together do the same as ``get``. They are used by callers that
        run so often that the coroutine of ``get`` would take too much time.
        """
        being_made = self._being_made
        # Hashing a key takes long, so an empty dict is not asked for the key.
        if key in self.known or (being_made and key in being_made):
            return False
        being_made[key] = None
        return True

    async def settled(self, key: Hashable) -> Value | None:
        """Waits until another caller has made the value, and returns it. Returns None if that caller
        failed; this caller must then make the value and call ``end``."""
        while key in self._being_made:
            event = self._being_made[key] = self._being_made[key] or anyio.Event()
            with asleep():
                await event.wait()
        value = self.known.get(key)
        if value is None:
            self._being_made[key] = None
        return value

    def end(self, key: Hashable, value: Value | None) -> None:
        """Keeps the value that the caller has made, and wakes the callers that wait for it. ``value``:
        None if making it failed."""
        if value is not None:
            self.known[key] = value
        waited_for = self._being_made.pop(key)
        if waited_for is not None:
            waited_for.set()
