"""Lets the replays on one event loop begin one after the other.

Replays that begin together take turns at computing, send their requests together, and then all wait
together, while nothing computes. One after the other, some compute while others wait for their models.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

LONGEST_START = 0.02
"""Seconds after which a replay is taken to wait for something else before its first request, such as an
embedding; the next one then begins."""
MOST_USELESS_STARTS = 3
"""After so many useless starts, replays begin at once. A start is useless if it is long, or if the replay
computes in a thread of its own: other replays then do not take turns with it on the loop."""


class Starts:
    """This class lets a replay begin when the one before it has sent its first request or has ended.

    No replay waits longer than ``LONGEST_START`` for the one before it.
    """

    def __init__(self) -> None:
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._useless_starts = 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Callable[[object], None], None]:
        """Waits until a replay may begin. Yields what to call when its first request is sent, from any
        thread."""
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
    """This class holds the lock until the replay has sent a request, has ended, or takes too long."""

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
        # The loop of a replay that was left behind may be closed by now.
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
    """Stands for a start that no other replay waits for."""
