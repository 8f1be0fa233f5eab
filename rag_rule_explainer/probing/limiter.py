"""One bound on what is in flight, over threads and event loops together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager


class Limiter:
    """Lets at most ``size`` holders in at a time, first come, first served; thread-safe."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._lock = threading.Lock()
        self._free = size
        self._waiting: deque[Callable[[], bool]] = deque()

    @contextmanager
    def slot(self) -> Generator[None, None, None]:
        """Waits in this thread, which must not be one that an event loop runs in."""
        admitted = threading.Event()

        def admit() -> bool:
            admitted.set()
            return True

        if not self._enters(admit):
            admitted.wait()
        try:
            yield
        finally:
            self._leave()

    @asynccontextmanager
    async def aslot(self) -> AsyncGenerator[None, None]:
        """Waits on the running loop."""
        await self._acquire()
        try:
            yield
        finally:
            self._leave()

    async def _acquire(self) -> None:
        loop = asyncio.get_running_loop()
        admitted: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if admitted.cancelled():
                self._leave()  # it gave up meanwhile; the next one may
            else:
                admitted.set_result(None)

        def admit() -> bool:
            if loop.is_closed():
                return False
            loop.call_soon_threadsafe(wake)
            return True

        if self._enters(admit):
            return
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled():
                self._leave()
            raise

    def _enters(self, admit: Callable[[], bool]) -> bool:
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            self._waiting.append(admit)
            return False

    def _leave(self) -> None:
        with self._lock:
            while self._waiting:
                if self._waiting.popleft()():
                    return
            self._free += 1
