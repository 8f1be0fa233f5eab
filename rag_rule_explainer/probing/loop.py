"""One private event loop per process, for the blocking entry points.

HTTP clients bind to the loop they were first used on, so a new loop per call ends in "Event loop is
closed" on the second call. This one lives as long as the process, in a daemon thread, and therefore
also serves a caller whose own thread already runs a loop.
"""

import asyncio
import concurrent.futures
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from ..errors import InvalidInput
from .interrupts import Interrupts, kept

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""How long what is aborted may take to end before nobody waits for it any more: the loop may be held by
an application that blocks it."""

_starting = threading.Lock()
_running: dict[int, tuple[asyncio.AbstractEventLoop, threading.Thread]] = {}
"""By process id: a forked child has the parent's memory but not its thread."""


def run_blocking(
    work: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], object] | None = None
) -> T:
    """Runs the coroutine that ``work`` makes on the private loop, in a copy of the caller's context, and
    waits for it.

    The first Ctrl-C, whenever it comes meanwhile, calls ``on_interrupt`` on that loop, and goes on
    waiting; where there is none, or it returns False, the coroutine is cancelled and KeyboardInterrupt
    raised. The next one cancels it in any case, and waits for no more than ``GRACE_SECONDS``.
    Raises InvalidInput when called on the private loop itself, which would wait for itself.
    """
    with kept() as interrupts:
        loop, thread = _private_loop()
        if threading.current_thread() is thread:
            raise InvalidInput("explain() was called inside an async replay; await aexplain() there")
        return _Waiting(work, on_interrupt, loop, interrupts).outcome()


class _Waiting(Generic[T]):
    """This class runs one coroutine on the private loop, and waits for it in another thread."""

    def __init__(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        on_interrupt: Callable[[], object] | None,
        loop: asyncio.AbstractEventLoop,
        interrupts: Interrupts,
    ) -> None:
        self._work, self._on_interrupt = work, on_interrupt
        self._loop, self._interrupts = loop, interrupts
        self._task: asyncio.Task[T] | None = None
        self._interrupt: KeyboardInterrupt | None = None
        self._is_cut_off = False

    def outcome(self) -> T:
        """Returns what the coroutine does. Raises what it raises, and KeyboardInterrupt."""
        told = self._interrupts.pending()
        if told is not None and not isinstance(told, KeyboardInterrupt):
            raise told
        self._interrupt = told
        self._loop.call_soon_threadsafe(self._begin, told is not None)
        try:
            task = self._ended()
        except BaseException:
            self._abandon()
            raise
        came_last = self._interrupts.pending()
        if came_last is not None and self._interrupt is None and self._on_interrupt is not None:
            # Where there is more to come than this, as in a stream, that ends too.
            self._loop.call_soon_threadsafe(self._on_interrupt)
        has_failed = task.cancelled() or task.exception() is not None
        if self._interrupt is not None and self._is_cut_off and has_failed:
            raise self._interrupt
        if task.cancelled():
            raise concurrent.futures.CancelledError
        return task.result()

    def _ended(self) -> asyncio.Task[T]:
        while (task := self._task) is None or not task.done():
            told = self._interrupts.wait()
            if told is None:
                continue
            if self._interrupt is not None or not isinstance(told, KeyboardInterrupt):
                raise told
            self._interrupt = told
            self._loop.call_soon_threadsafe(self._stop)
        return task

    def _abandon(self) -> None:
        self._loop.call_soon_threadsafe(self._cut_off)
        until = time.monotonic() + GRACE_SECONDS
        while (left := until - time.monotonic()) > 0:
            if self._is_cut_off and (self._task is None or self._task.done()):
                return
            if self._interrupts.wait(left) is not None:
                return

    # The rest is called on the loop.

    def _begin(self, is_interrupted: bool) -> None:
        self._task = self._loop.create_task(self._done())
        self._task.add_done_callback(self._told)
        if is_interrupted:
            self._stop()  # before it has taken its first step

    async def _done(self) -> T:
        return await self._work()

    def _told(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # asyncio would complain of it where nobody waits any more
        self._interrupts.wake()

    def _stop(self) -> None:
        if self._on_interrupt is None or self._on_interrupt() is False:
            self._cut_off()

    def _cut_off(self) -> None:
        if not self._is_cut_off:
            self._is_cut_off = True
            if self._on_interrupt is not None:
                # Whatever still comes to its turn before it is cancelled begins with nothing more.
                self._on_interrupt()
            if self._task is not None:
                self._task.cancel()
        self._interrupts.wake()


def _private_loop() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:
        running = _running.get(os.getpid())
        if running is None or not running[1].is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="rag-rule-loop", daemon=True)
            thread.start()
            _running[os.getpid()] = loop, thread
        return _running[os.getpid()]
