"""This module makes replays on one event loop begin one after the other.

If all replays began at the same moment, they would send their requests at the same moment. The processor
would then be idle while all of them wait for the models. If replays begin one after the other, some
replays compute while others wait.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

LONGEST_START = 0.02
"""The maximum number of seconds that a replay waits for the previous one. After that, it begins even if
the previous replay has not sent its first request, because that replay may be waiting for something else,
such as an embedding."""
MOST_USELESS_STARTS = 3
"""The number of useless starts after which replays begin at once. A start is useless if it takes too
long, or if the replay computes in its own thread: replays then do not share the event loop."""


class Starts:
    """A ``Starts`` lets a replay begin when the previous replay has sent its first request or has ended.

    No replay waits longer than ``LONGEST_START`` for the previous one.
    """

    def __init__(self) -> None:
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._useless_starts = 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Callable[[object], None], None]:
        """Waits until a replay may begin. Yields a function that must be called with the replay's first
        request; any thread may call it."""
        if self._is_of_no_use:
            yield _nothing
            return
        start = await self._begun()
        try:
            yield start.sent
        finally:
            start.end()

    @property
    def _is_of_no_use(self) -> bool:
        return self._useless_starts >= MOST_USELESS_STARTS

    async def _begun(self) -> "_Start":
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
        lock = self._lock
        await lock.acquire()
        start = _Start(loop, lock, self._note_useless_start)
        if self._is_of_no_use:
            start.end()
        return start

    def _note_useless_start(self) -> None:
        self._useless_starts += 1


class _Start:
    """A ``_Start`` is one replay that begins. It holds a lock, which keeps the next replay waiting until
    this one has sent a request, has ended, or takes too long."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, lock: asyncio.Lock, is_useless: Callable[[], None]
    ) -> None:
        self._loop, self._lock, self._is_useless = loop, lock, is_useless
        self._thread = threading.get_ident()
        self._timer: asyncio.TimerHandle | None = loop.call_later(LONGEST_START, self._expire)

    def sent(self, _request: object) -> None:
        if self._timer is None:
            return
        if threading.get_ident() == self._thread:
            self.end()
            return
        self._is_useless()
        # The caller may have stopped waiting for the replay and closed the event loop. Then no further
        # replay waits to begin, so the RuntimeError of the closed loop is ignored.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._lock.release()

    def _expire(self) -> None:
        self._is_useless()
        self.end()


def _nothing(_request: object) -> None:
    """Does nothing. This function replaces ``_Start.sent`` if no other replay waits for this replay."""
