"""One bound on what is in flight, over threads and event loops together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..allowed import checked_whole
from ..errors import InvalidInput
from .interrupts import Interrupts, kept
from .limits import MOST_AT_A_TIME


class Reentered(InvalidInput):
    """What is done in a slot was about to wait for another one."""


class Limiter:
    """Lets at most ``size`` holders in at a time, whoever has waited longest first; thread-safe.

    Raises InvalidInput for a size that is no whole number from 1 to 10,000.
    """

    def __init__(self, size: int) -> None:
        checked_whole("the size of a Limiter", size, 1, MOST_AT_A_TIME)
        self.size = size
        # Taking from and adding to a list is atomic, so nobody needs the lock as long as nobody waits.
        self._free: list[None] = [None] * size
        self._waiting: deque[Callable[[], bool]] = deque()
        # Reentrant: a garbage collection inside may end a coroutine that gives its slot back.
        self._lock = threading.RLock()

    @contextmanager
    def slot(self) -> Generator[None, None, None]:
        """Waits in this thread, which must not be one that an event loop runs in."""
        entered = False
        try:
            # A slot that Ctrl-C made one forget would be lost to all.
            with kept() as interrupts:
                if not self.enter_at_once():
                    self._wait(interrupts)
                entered = True
                interrupts.check()
            with self.held():
                yield
        finally:
            if entered:
                self.leave()

    @asynccontextmanager
    async def aslot(self) -> AsyncGenerator[None, None]:
        """Waits on the running loop."""
        if not self.enter_at_once():
            await self.enter()
        try:
            with self.held():
                yield
        finally:
            self.leave()

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Around what is done in a slot: it must not wait for another one, see ``check_free``."""
        slot = begun(around(), self)
        try:
            yield
        finally:
            slot.limiter = None

    def check_free(self) -> None:
        """Raises InvalidInput inside what is done in one of its slots: enough of them could take all
        there are, and each would wait for another."""
        if any(slot.limiter is self for slot in _slots.get()):
            raise Reentered(
                "this explainer was called inside one of its own replays, or inside one of an explainer "
                "that shares its limiter; they would wait for each other. Inside a replay, use an "
                "Explainer of its own"
            )

    @contextmanager
    def entered(self) -> Generator[None, None, None]:
        """Around what is done in a slot that was entered; it is given back even if this is forgotten."""
        try:
            yield
        finally:
            self.leave()

    def enter_at_once(self) -> bool:
        """Returns True iff a slot was free, which is now taken; to be followed by ``leave``."""
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

    def _wait(self, interrupts: Interrupts) -> None:
        admitted = False

        def admit() -> bool:
            nonlocal admitted
            admitted = True
            interrupts.wake()
            return True

        self._queue(admit)
        try:
            while not admitted:
                interrupts.doze()
        except BaseException:
            self._give_up(admit)
            raise

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


@dataclass(slots=True, eq=False)
class Slot:
    """What is done in a slot of a limiter; None once that has ended, whoever still runs in its
    context."""

    limiter: Limiter | None


_slots: ContextVar[tuple[Slot, ...]] = ContextVar("rag_rule_slots", default=())
"""The slots that are held around what is done here, in any thread and on any loop."""


def around() -> tuple[Slot, ...]:
    """Returns the slots that are held here."""
    return tuple([slot for slot in _slots.get() if slot.limiter is not None])


def begun(outer: tuple[Slot, ...], limiter: Limiter) -> Slot:
    """One more slot, from now on in this context; ``outer``: the others."""
    slot = Slot(limiter)
    _slots.set((*outer, slot))
    return slot


def _nobody() -> bool:
    return False
