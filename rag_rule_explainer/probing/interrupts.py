"""This module delays Ctrl-C. KeyboardInterrupt is then raised only where the main thread waits, and not
between any two lines.

The handler of SIGINT that was set before is called at once. If this handler raises an error, such as
KeyboardInterrupt, the error is delayed and raised later. If the handler raises no error, no error is
raised later. Python runs signal handlers only in the main thread, so this module does nothing in other
threads.
"""

import asyncio
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, TracebackType
from typing import Any

LOOK_UP_SECONDS = 0.2
"""The longest time, in seconds, that the main thread waits before it checks for Ctrl-C.

The main thread must check regularly, because Ctrl-C does not end a wait on Windows, nor if the operating
system delivers the signal to another thread.
"""


class Interrupts:
    """This context manager delays Ctrl-C in its block until the code calls one of its waiting methods.

    It works in the main thread and does nothing in other threads. A Ctrl-C that has not been raised when
    the block ends is dropped, since the work is then done.
    """

    def __init__(self) -> None:
        # A signal handler may interrupt a put() and put something itself. SimpleQueue allows this, since
        # it is reentrant.
        self._news = queue.SimpleQueue[BaseException | None]()
        self._before: Callable[[int, FrameType | None], Any] | None = None
        self._outer: Interrupts | None = None
        self._is_keeping = False
        self._passed = 0

    @property
    def is_keeping(self) -> bool:
        """Returns True while Ctrl-C is delayed: inside the block of this object, but not inside a block
        of ``passed_on``, in which Ctrl-C may interrupt the code."""
        return self._is_keeping

    def __enter__(self) -> "Interrupts":
        global _current
        if threading.current_thread() is not threading.main_thread():
            return self
        before = signal.getsignal(signal.SIGINT)
        if callable(before):  # if there is no handler in Python, Ctrl-C is ignored or ends the process
            self._before = before
            try:
                signal.signal(signal.SIGINT, self._noticed)
            except ValueError:  # a subinterpreter receives no signals
                return self
            self._is_keeping = True
            self._outer, _current = _current, self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _current  # noqa: PLW0603 -- a process has one SIGINT handler
        if _current is not self:
            return
        _current = self._outer
        pending = self.pending() if kind is None else None
        try:
            # If the application has set another handler of Ctrl-C in the block, that handler stays.
            if signal.getsignal(signal.SIGINT) == self._noticed:
                signal.signal(signal.SIGINT, self._before)
        except KeyboardInterrupt:
            # This Ctrl-C came after the last line of the block. If the block succeeded, its result is
            # complete and is returned, so this Ctrl-C is ignored.
            if kind is not None:
                raise
        self._is_keeping = False
        if pending is not None and not isinstance(pending, KeyboardInterrupt):
            raise pending

    def wake(self) -> None:
        """Ends the current wait of the thread that entered this object. Any thread may call this."""
        self._news.put(None)

    def wait(self, seconds: float = LOOK_UP_SECONDS) -> BaseException | None:
        """Waits until ``wake`` is called or Ctrl-C arrives, but at most for the shorter of ``seconds``
        and ``LOOK_UP_SECONDS``. Returns the delayed error of Ctrl-C, usually a KeyboardInterrupt; None
        if there is none."""
        try:
            return self._news.get(timeout=max(0.0, min(seconds, LOOK_UP_SECONDS)))
        except queue.Empty:
            return None

    def doze(self, seconds: float = LOOK_UP_SECONDS) -> None:
        """Waits for at most the shorter of ``seconds`` and ``LOOK_UP_SECONDS``, or until ``wake`` is
        called. Raises the delayed error of Ctrl-C, usually a KeyboardInterrupt, if Ctrl-C has arrived."""
        if (raised := self.wait(seconds)) is not None:
            raise raised

    def sleep(self, seconds: float) -> None:
        """Waits for the full ``seconds``. If Ctrl-C arrives meanwhile, raises its error, usually a
        KeyboardInterrupt."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.doze(left)

    def check(self) -> None:
        """Raises the delayed error of Ctrl-C, usually a KeyboardInterrupt, if there is one. Does not
        wait."""
        if (raised := self.pending()) is not None:
            raise raised

    def pending(self) -> BaseException | None:
        """Returns the delayed error of Ctrl-C, usually a KeyboardInterrupt; None if there is none. Does
        not wait."""
        while True:
            try:
                raised = self._news.get_nowait()
            except queue.Empty:
                return None
            if raised is not None:
                return raised

    @contextmanager
    def passed_on(self) -> Generator[None, None, None]:
        """Lets Ctrl-C interrupt the code of the block at any line, for code such as the application.

        Before the block, raises an error that was delayed until then. If Ctrl-C arrives in the block,
        and the code of the block catches the KeyboardInterrupt, a KeyboardInterrupt is raised again at
        the next wait.
        """
        self.check()
        self._passed, kept = 0, self._is_keeping
        self._is_keeping = False
        try:
            yield
        finally:
            self._is_keeping = kept
        if self._passed:
            self._news.put(KeyboardInterrupt())

    def _noticed(self, number: int, frame: FrameType | None) -> None:
        before = self._before
        if before is None:
            raise KeyboardInterrupt
        if not self._is_keeping:
            self._passed += 1
            before(number, frame)
            return
        cancelling = _cancelling()
        try:
            before(number, frame)
        except BaseException as error:
            self._news.put(error)
        else:
            # The handler of asyncio.run() does not raise. It cancels the task that runs in this thread,
            # so a new cancellation means that Ctrl-C arrived.
            if _cancelling() > cancelling:
                self._news.put(KeyboardInterrupt())


_current: Interrupts | None = None
"""The ``Interrupts`` whose block the main thread is in, the innermost one if they are nested; None
outside such a block."""


def kept() -> AbstractContextManager[Interrupts]:
    """Returns a context manager that delays Ctrl-C in its block. If the caller is already in the block of
    an ``Interrupts``, this object is used; otherwise a new one is made."""
    if threading.current_thread() is threading.main_thread():
        outer = _current
        if outer is not None and outer.is_keeping:
            return nullcontext(outer)
    return Interrupts()


def _cancelling() -> int:
    """Returns the number of pending cancellations of the task that runs in this thread; 0 if there is no
    task, and before Python 3.11, which does not count them."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return 0
    cancelling = getattr(task, "cancelling", None)  # since Python 3.11
    return 0 if cancelling is None else cancelling()
