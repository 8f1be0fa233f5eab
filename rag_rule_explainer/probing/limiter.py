"""One bound on what is in flight, over threads and event loops together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager


class Limiter:
    """Lets at most ``size`` holders in at a time, whoever has waited longest first; thread-safe."""

    def __init__(self, size: int) -> None:
        self.size = size
        # Taking from and adding to a list is atomic, so nobody needs the lock as long as nobody waits.
        self._free: list[None] = [None] * size
        self._waiting: deque[Callable[[], bool]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self) -> Generator[None, None, None]:
        """Waits in this thread, which must not be one that an event loop runs in."""
        if not self.enter_at_once():
            admitted = threading.Event()

            def admit() -> bool:
                admitted.set()
                return True

            self._queue(admit)
            admitted.wait()
        try:
            yield
        finally:
            self.leave()

    @asynccontextmanager
    async def aslot(self) -> AsyncGenerator[None, None]:
        """Waits on the running loop."""
        if not self.enter_at_once():
            await self.enter()
        try:
            yield
        finally:
            self.leave()

    def enter_at_once(self) -> bool:
        """True iff a slot was free, which is now taken; to be followed by ``leave``."""
        if self._waiting:
            return False
        try:
            self._free.pop()
        except IndexError:
            return False
        return True

    async def enter(self) -> None:
        """Waits for a slot; to be followed by ``leave``."""
        loop = asyncio.get_running_loop()
        admitted: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if admitted.cancelled():
                self.leave()  # it gave up meanwhile; the next one may
            else:
                admitted.set_result(None)

        def admit() -> bool:
            if loop.is_closed():
                return False
            loop.call_soon_threadsafe(wake)
            return True

        self._queue(admit)
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Gives the slot back."""
        self._free.append(None)
        if self._waiting:
            self._admit_waiting()

    def _queue(self, admit: Callable[[], bool]) -> None:
        self._waiting.append(admit)
        # A slot may have come free just before.
        self._admit_waiting()

    def _admit_waiting(self) -> None:
        with self._lock:
            while self._waiting and self._free:
                try:
                    self._free.pop()
                except IndexError:  # somebody was faster
                    return
                if not self._waiting.popleft()():
                    self._free.append(None)
