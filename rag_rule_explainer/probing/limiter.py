"""One bound on what is in flight, over threads and event loops together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

from ..errors import InvalidInput


class Limiter:
    """Lets at most ``size`` holders in at a time, whoever has waited longest first; thread-safe.

    Raises InvalidInput for a size that is no whole number above 0.
    """

    def __init__(self, size: int) -> None:
        if type(size) is not int or size < 1:
            raise InvalidInput(f"the size of a Limiter is {size!r}; give a whole number, at least 1")
        self.size = size
        # Taking from and adding to a list is atomic, so nobody needs the lock as long as nobody waits.
        self._free: list[None] = [None] * size
        self._waiting: deque[Callable[[], bool]] = deque()
        # Reentrant: a garbage collection inside may end a coroutine that gives its slot back.
        self._lock = threading.RLock()

    @contextmanager
    def slot(self) -> Generator[None, None, None]:
        """Waits in this thread, which must not be one that an event loop runs in."""
        if not self.enter_at_once():
            admitted = threading.Event()

            def admit() -> bool:
                admitted.set()
                return True

            self._queue(admit)
            try:
                admitted.wait()
            except BaseException:  # Ctrl-C
                self._give_up(admit)
                raise
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

    @contextmanager
    def entered(self) -> Generator[None, None, None]:
        """Around what is done in a slot that was entered; it is given back even if this is forgotten."""
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
            if not admitted.done():
                admitted.set_result(None)

        def admit() -> bool:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:  # the loop is closed: nobody waits there any more
                return False
            return True

        self._queue(admit)
        try:
            await admitted
        except asyncio.CancelledError:
            self._give_up(admit)
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

    def _give_up(self, admit: Callable[[], bool]) -> None:
        """Waits no longer; a slot that was granted meanwhile goes to the next one."""
        with self._lock:
            try:
                self._waiting.remove(admit)
            except ValueError:
                granted = True
            else:
                granted = False
        if granted:
            self.leave()

    def _admit_waiting(self) -> None:
        with self._lock:
            while self._waiting and self._free:
                try:
                    self._free.pop()
                except IndexError:  # somebody was faster
                    return
                admit = self._waiting.popleft() if self._waiting else _nobody
                if not admit():
                    self._free.append(None)


def _nobody() -> bool:
    return False
