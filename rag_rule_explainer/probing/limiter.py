"""This module limits how many calls run at the same time, over all threads and event loops together."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..allowed import called_as, checked_whole
from ..errors import InvalidInput
from .interrupts import Interrupts, kept
from .limits import MOST_AT_A_TIME


class Reentered(InvalidInput):
    """This error is raised for a call that would wait for ever: the call already runs under a limiter,
    and is about to wait until the same limiter lets it run a second time."""


@called_as("Limiter")
class Limiter:
    """A ``Limiter`` lets at most ``size`` calls run at the same time. Each running call occupies a slot;
    the others wait, and get slots in the order of their requests. Thread-safe. Raises InvalidInput
    unless the size is a whole number from 1 to 10,000."""

    def __init__(self, size: int) -> None:
        checked_whole("the size of a Limiter", size, 1, MOST_AT_A_TIME)
        self.size = size
        # This list has one entry for each free slot, and so for each further call that may run.
        # list.pop() and list.append() are atomic, so the lock is needed only while a caller waits for a
        # slot.
        self._free: list[None] = [None] * size
        self._waiting: deque[Callable[[], bool]] = deque()
        # The lock must be reentrant. While a thread holds it, garbage collection may end a coroutine,
        # which then gives its slot back and takes the lock once more in the same thread.
        self._lock = threading.RLock()

    def __deepcopy__(self, _memo: object) -> "Limiter":
        """Returns this ``Limiter`` itself, so that a copied explainer and its original share the
        limit."""
        return self

    @contextmanager
    def slot(self) -> Generator[None, None, None]:
        """Waits until this call may run, and occupies a slot during the block. The wait blocks the
        thread, so the caller must not run in an event loop."""
        entered = False
        try:
            # Ctrl-C is delayed until ``entered`` is True. If it were raised after the slot was taken and
            # before that line, the slot would never be given back.
            with kept() as interrupts:
                if not self.enter_at_once():
                    self.wait(interrupts)
                entered = True
                interrupts.check()
            with self.held():
                yield
        finally:
            if entered:
                self.leave()

    @asynccontextmanager
    async def aslot(self) -> AsyncGenerator[None, None]:
        """Waits until this call may run, without blocking the event loop, and occupies a slot during the
        block."""
        if not self.enter_at_once():
            await self.enter()
        try:
            with self.held():
                yield
        finally:
            self.leave()

    def judging(self) -> AbstractAsyncContextManager[None]:
        """Waits until a request to a judge may run, and occupies a slot during the block. A subclass
        that counts replays must not count this request."""
        return self.aslot()

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Records during the block that its code already runs under this limiter, so that ``check_free``
        refuses to let it wait a second time."""
        slot = begun(around(), self)
        try:
            yield
        finally:
            slot.limiter = None

    def check_free(self) -> None:
        """Raises Reentered, an InvalidInput, if the caller already runs under this limiter. Calls that
        each occupy a slot and wait for a second one could wait for each other for ever."""
        if any(slot.limiter and slot.limiter.is_part_of(self) for slot in _slots.get()):
            raise Reentered(
                "this explainer was called inside one of its own replays, or inside one of an explainer "
                "that shares its limiter; they would wait for each other. Inside a replay, use an "
                "Explainer of its own"
            )

    def is_part_of(self, limiter: "Limiter") -> bool:
        """Returns True iff every call that runs under this limiter also counts for ``limiter``."""
        return self is limiter

    @contextmanager
    def entered(self) -> Generator[None, None, None]:
        """Frees, at the end of the block, the slot that the caller has taken with ``enter``. The slot is
        freed even if the caller is a generator that is never finished."""
        try:
            yield
        finally:
            self.leave()

    def enter_at_once(self) -> bool:
        """If a slot is free and no other caller waits, takes the slot, so that the caller may run.
        Returns True iff it took a slot; the caller must then call ``leave``."""
        if self._waiting:
            return False
        try:
            self._free.pop()
        except IndexError:
            return False
        return True

    async def enter(self) -> None:
        """Waits until the caller may run; the caller must then call ``leave`` when it has ended."""
        loop = asyncio.get_running_loop()
        admitted: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not admitted.done():
                admitted.set_result(None)

        def admit() -> bool:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:  # the event loop is closed, so its task no longer waits for the slot
                return False
            return True

        self._queue(admit)
        try:
            await admitted
        except asyncio.CancelledError:
            self._give_up(admit)
            raise

    def leave(self) -> None:
        """Records that the caller's run has ended, and lets the next caller in the queue run."""
        self._free.append(None)
        if self._waiting:
            self._admit_waiting()

    def _give_back(self) -> None:
        self._free.append(None)
        if self._waiting:
            self._admit_waiting()

    def wait(self, interrupts: Interrupts) -> None:
        """Waits until the caller may run; the caller must then call ``leave`` when it has ended. Blocks
        the thread. A Ctrl-C that ``interrupts`` delays is raised during the wait."""
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
        # A slot may have become free just before the caller was put into the queue. Then no other call
        # would notice the caller, so the queue is checked at once.
        self._admit_waiting()

    def _give_up(self, admit: Callable[[], bool]) -> None:
        """Removes from the queue a caller that no longer waits. If it was already allowed to run, the
        next caller may run in its place. ``admit``: the entry of the caller in the queue."""
        with self._lock:
            try:
                self._waiting.remove(admit)
            except ValueError:
                granted = True
            else:
                granted = False
        if granted:
            self._give_back()

    def _admit_waiting(self) -> None:
        with self._lock:
            while self._waiting and self._free:
                try:
                    self._free.pop()
                except IndexError:  # another thread, which needs no lock for this, has taken the slot
                    return
                admit = self._waiting.popleft() if self._waiting else _none_waits
                if not admit():
                    self._free.append(None)


@dataclass(slots=True, eq=False)
class Slot:
    """A ``Slot`` records that code in a context runs under ``limiter``. ``limiter`` becomes None when
    this run has ended, because a task with a copy of the context may still see this object then."""

    limiter: Limiter | None


_slots: ContextVar[tuple[Slot, ...]] = ContextVar("rag_rule_slots", default=())
"""The limiters under which the code in this context runs, as ``Slot`` objects. New tasks and threads of
replays get a copy of the context, so the limiters are known there, too."""


def around() -> tuple[Slot, ...]:
    """Returns the records of the limiters under which the code in this context runs now."""
    return tuple([slot for slot in _slots.get() if slot.limiter is not None])


def begun(outer: tuple[Slot, ...], limiter: Limiter) -> Slot:
    """Records that this context runs under ``limiter``, in addition to the limiters in ``outer``, and
    returns the record."""
    slot = object.__new__(Slot)  # half of the time of ``Slot(limiter)``, in each replay
    slot.limiter = limiter
    _slots.set((*outer, slot))
    return slot


def _none_waits() -> bool:
    return False
