"""This module bounds the number of calls in flight, over all threads and event loops together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..allowed import called_as, checked_whole
from ..errors import InvalidInput
from .interrupts import Interrupts, kept
from .limits import MOST_AT_A_TIME


class Reentered(InvalidInput):
    """Raised for a call inside a slot of a limiter that is about to wait for another slot of it."""


@called_as("Limiter")
class Limiter:
    """A Limiter has ``size`` slots, which it gives in the order in which they were requested;
    thread-safe. Raises InvalidInput unless the size is a whole number from 1 to 10,000."""

    def __init__(self, size: int) -> None:
        checked_whole("the size of a Limiter", size, 1, MOST_AT_A_TIME)
        self.size = size
        # list.pop() and list.append() are atomic, so the lock is needed only while a caller waits.
        self._free: list[None] = [None] * size
        self._waiting: deque[Callable[[], bool]] = deque()
        # Reentrant: garbage collection under the lock may end a coroutine, which then gives its slot
        # back.
        self._lock = threading.RLock()

    @contextmanager
    def slot(self) -> Generator[None, None, None]:
        """Waits for a slot and holds it; blocks the thread, so no event loop may run in it."""
        entered = False
        try:
            # Ctrl-C between the two lines would lose the slot for ever.
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
        """Waits for a slot on the running loop, and holds it."""
        if not self.enter_at_once():
            await self.enter()
        try:
            with self.held():
                yield
        finally:
            self.leave()

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Marks this context as inside a slot, where waiting for another slot is refused by
        ``check_free``."""
        slot = begun(around(), self)
        try:
            yield
        finally:
            slot.limiter = None

    def check_free(self) -> None:
        """Raises InvalidInput inside one of this limiter's slots. Calls that each hold a slot and wait
        for another one could wait for each other for ever."""
        if any(slot.limiter is self for slot in _slots.get()):
            raise Reentered(
                "this explainer was called inside one of its own replays, or inside one of an explainer "
                "that shares its limiter; they would wait for each other. Inside a replay, use an "
                "Explainer of its own"
            )

    @contextmanager
    def entered(self) -> Generator[None, None, None]:
        """Gives a slot that was entered back at the end, even if the generator around it is abandoned."""
        try:
            yield
        finally:
            self.leave()

    def enter_at_once(self) -> bool:
        """Takes a slot and returns True iff one is free; the caller must then call ``leave``."""
        if self._waiting:
            return False
        try:
            self._free.pop()
        except IndexError:
            return False
        return True

    async def enter(self) -> None:
        """Waits for a slot and takes it; the caller must then call ``leave``."""
        loop = asyncio.get_running_loop()
        admitted: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not admitted.done():
                admitted.set_result(None)

        def admit() -> bool:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:  # the loop is closed, so its task does not wait any more
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
        # A slot may have become free before the caller was in the queue.
        self._admit_waiting()

    def _give_up(self, admit: Callable[[], bool]) -> None:
        """Leaves the queue; a slot that was granted meanwhile goes to the next in the queue."""
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
                except IndexError:  # another thread has taken it without the lock
                    return
                admit = self._waiting.popleft() if self._waiting else _none_waits
                if not admit():
                    self._free.append(None)


@dataclass(slots=True, eq=False)
class Slot:
    """A Slot is held by the code of one context; ``limiter`` is None once it has been given back. Tasks
    that copied the context may outlive the slot."""

    limiter: Limiter | None


_slots: ContextVar[tuple[Slot, ...]] = ContextVar("rag_rule_slots", default=())
"""The slots that are held in this context, whatever the thread and the loop."""


def around() -> tuple[Slot, ...]:
    """Returns the slots that are held in this context."""
    return tuple([slot for slot in _slots.get() if slot.limiter is not None])


def begun(outer: tuple[Slot, ...], limiter: Limiter) -> Slot:
    """Returns a new slot, which this context holds beside the ``outer`` ones from now on."""
    slot = Slot(limiter)
    _slots.set((*outer, slot))
    return slot


def _none_waits() -> bool:
    return False
