"""This module runs the blocking entry points, such as ``explain``, on one private event loop per process.

HTTP clients bind to the event loop on which they are first used. With a new loop for each call, the
second call would fail with "Event loop is closed", so the private loop lives as long as the process. It
runs in a daemon thread of its own, so it also serves a caller whose thread already runs an event loop.
"""

import asyncio
import concurrent.futures
import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from ..errors import InvalidInput
from .interrupts import Interrupts, kept

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""The seconds to wait for the end of a cancelled coroutine. It may never end, since an application may
block the event loop."""

_OF_A_LOOP = (
    "; the call blocks the event loop in which it was made, and whatever the application awaits there "
    "waits for it: await the async method in its place, such as aexplain"
)
PATIENCE_SECONDS = 2.0
"""The seconds after which a blocking call warns that the application seems to need the event loop that
this call blocks."""

_starting = threading.Lock()
_running: dict[int, tuple[asyncio.AbstractEventLoop, threading.Thread]] = {}
"""The private loop and its thread, by process id. A forked child inherits this dictionary but not the
running thread, so it needs a loop of its own."""


def run_blocking(
    work: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], object] | None = None
) -> T:
    """Runs the coroutine that ``work`` returns on the private loop, in a copy of the caller's context,
    and returns its result.

    On the first Ctrl-C, ``on_interrupt`` is called on that loop, and the wait goes on. If
    ``on_interrupt`` returns False or is None, the coroutine is cancelled and KeyboardInterrupt is raised.
    The second Ctrl-C always cancels the coroutine, and waits at most ``GRACE_SECONDS`` for its end.
    Raises InvalidInput if called in the thread of the private loop, which would then wait for itself.
    """
    with kept() as interrupts:
        loop, thread = _private_loop()
        if threading.current_thread() is thread:
            raise InvalidInput("explain() was called inside an async replay; await aexplain() there")
        before = _blocked.set(_BlockedLoop.of_the_caller())
        try:
            return _Waiting(work, on_interrupt, loop, interrupts).outcome()
        finally:
            _blocked.reset(before)


def about_the_callers_loop() -> str:
    """Returns advice to add to an error about a late answer, for a caller whose own event loop stands
    still until the blocking call returns; an empty text for any other caller."""
    return "" if _blocked.get() is None else _OF_A_LOOP


def waits_for_the_callers_loop() -> bool:
    """Returns True iff a late answer may only be waiting for the caller's own event loop: this loop
    stands still until the blocking call returns, and callbacks have been scheduled on it since the call
    began. A retry would then be late, too."""
    blocked = _blocked.get()
    return blocked is not None and blocked.has_work()


def why_late() -> TimeoutError | None:
    """Returns a TimeoutError as the cause of the error for a late answer. Errors with such a cause are
    regarded as temporary, so the call is tried again. Returns None if the answer waits for the caller's
    own event loop, because another try would then be of no use."""
    return None if waits_for_the_callers_loop() else TimeoutError()


class _BlockedLoop:
    """A ``_BlockedLoop`` is the event loop in which a blocking call was made. The loop runs nothing until
    the call returns, so a replay that needs the loop cannot answer in time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._before = self._waiting()

    @classmethod
    def of_the_caller(cls) -> "_BlockedLoop | None":
        loop = asyncio._get_running_loop()  # pyright: ignore[reportPrivateUsage] -- no public function tells without raising
        return None if loop is None else cls(loop)

    def has_work(self) -> bool:
        """Returns True iff callbacks were scheduled on the loop since the call began. Only the
        application and other threads can have done so."""
        return self._waiting() > self._before

    def _waiting(self) -> int:
        # asyncio has no public way to read the number of scheduled callbacks. Event loops of other
        # libraries may not have this attribute.
        return len(getattr(self._loop, "_ready", ()))


_blocked: ContextVar[_BlockedLoop | None] = ContextVar("rag_rule_blocked_loop", default=None)


class _Waiting(Generic[T]):
    """This class runs one coroutine on the private loop, while the caller's thread waits for its
    result."""

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
        self._patient_until = time.monotonic() + PATIENCE_SECONDS

    def outcome(self) -> T:
        """Starts the coroutine, waits for its end and returns its result. Raises its error, and
        KeyboardInterrupt on Ctrl-C."""
        raised = self._interrupts.pending()
        if raised is not None and not isinstance(raised, KeyboardInterrupt):
            raise raised
        self._interrupt = raised
        self._loop.call_soon_threadsafe(self._begin, raised is not None)
        try:
            task = self._ended()
        except BaseException:
            self._abandon()
            raise
        came_last = self._interrupts.pending()
        if came_last is not None and self._interrupt is None and self._on_interrupt is not None:
            # Ctrl-C arrived after the coroutine had ended. If the coroutine was one step of a stream,
            # the rest of the stream must end too.
            self._loop.call_soon_threadsafe(self._on_interrupt)
        has_failed = task.cancelled() or task.exception() is not None
        if self._interrupt is not None and self._is_cut_off and has_failed:
            raise self._interrupt
        if task.cancelled():
            raise concurrent.futures.CancelledError
        return task.result()

    def _ended(self) -> asyncio.Task[T]:
        while (task := self._task) is None or not task.done():
            raised = self._interrupts.wait()
            if raised is None:
                self._warn_if_needed()
                continue
            if self._interrupt is not None or not isinstance(raised, KeyboardInterrupt):
                raise raised
            self._interrupt = raised
            self._loop.call_soon_threadsafe(self._stop)
        return task

    def _warn_if_needed(self) -> None:
        """Warns once if the application seems to wait for the loop that this call blocks. Otherwise the
        user would learn it only at the end of the timeout."""
        if time.monotonic() >= self._patient_until and waits_for_the_callers_loop():
            self._patient_until = math.inf
            warnings.warn(f"the application has given no answer yet{_OF_A_LOOP}", stacklevel=2)

    def _abandon(self) -> None:
        self._loop.call_soon_threadsafe(self._cut_off)
        until = time.monotonic() + GRACE_SECONDS
        while (left := until - time.monotonic()) > 0:
            if self._is_cut_off and (self._task is None or self._task.done()):
                return
            if self._interrupts.wait(left) is not None:
                return

    # The methods above run in the caller's thread, and those below on the private loop.

    def _begin(self, is_interrupted: bool) -> None:
        self._task = self._loop.create_task(self._done())
        self._task.add_done_callback(self._ended_on_loop)
        if is_interrupted:
            self._stop()

    async def _done(self) -> T:
        return await self._work()

    def _ended_on_loop(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # asyncio logs an exception that nobody reads; this call reads it
        self._interrupts.wake()

    def _stop(self) -> None:
        if self._on_interrupt is None or self._on_interrupt() is False:
            self._cut_off()

    def _cut_off(self) -> None:
        if not self._is_cut_off:
            self._is_cut_off = True
            if self._on_interrupt is not None:
                # The coroutine may still make some steps before the cancellation arrives. Calling
                # ``on_interrupt`` keeps these steps from beginning a replay.
                self._on_interrupt()
            if self._task is not None:
                self._task.cancel()
        self._interrupts.wake()


def _private_loop() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:
        running = _running.get(os.getpid())
        if running is None or not running[1].is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name="rag-rule-loop", daemon=True)
            thread.start()
            _running[os.getpid()] = loop, thread
        return _running[os.getpid()]


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        # A task may raise SystemExit or KeyboardInterrupt: asyncio keeps the error as the outcome of the
        # task, and raises it in this thread as well. A task may also call ``stop``. All calls of the
        # process wait for this loop, so the loop must continue in all these cases.
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
