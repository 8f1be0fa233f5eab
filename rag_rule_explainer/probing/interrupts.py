"""This module keeps Ctrl-C until the main thread waits, instead of raising it between any two lines.

The former handler of SIGINT is still called first: only if it raises is there an interrupt. Python runs
signal handlers in the main thread only, so this module does nothing in other threads.
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
"""The longest wait, in seconds, before Ctrl-C is checked for.

Ctrl-C does not end a wait on Windows, nor where the system gives the signal to another thread.
"""


class Interrupts:
    """This class keeps Ctrl-C while it is entered in the main thread; in other threads it does nothing. A
    Ctrl-C that arrives when the work is done is dropped."""

    def __init__(self) -> None:
        # SimpleQueue is reentrant: a signal handler may put to it, even while it is being put to.
        self._news = queue.SimpleQueue[BaseException | None]()
        self._before: Callable[[int, FrameType | None], Any] | None = None
        self._outer: Interrupts | None = None
        self._is_keeping = False
        self._passed = 0

    @property
    def is_keeping(self) -> bool:
        """True while Ctrl-C is kept: this object is entered, and does not pass Ctrl-C on."""
        return self._is_keeping

    def __enter__(self) -> "Interrupts":
        global _current
        if threading.current_thread() is not threading.main_thread():
            return self
        before = signal.getsignal(signal.SIGINT)
        if callable(before):  # otherwise SIGINT is ignored, or ends the process
            self._before = before
            try:
                signal.signal(signal.SIGINT, self._noticed)
            except ValueError:  # raised in a subinterpreter, which receives no signals
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
        global _current  # noqa: PLW0603
        if _current is not self:
            return
        _current = self._outer
        pending = self.pending() if kind is None else None
        try:
            # A handler that the application has set meanwhile stays.
            if signal.getsignal(signal.SIGINT) == self._noticed:
                signal.signal(signal.SIGINT, self._before)
        except KeyboardInterrupt:
            # This Ctrl-C came at the very end; a complete result is returned in spite of it.
            if kind is not None:
                raise
        self._is_keeping = False
        if pending is not None and not isinstance(pending, KeyboardInterrupt):
            raise pending

    def wake(self) -> None:
        """Ends a wait in the thread that entered this object; any thread may call this."""
        self._news.put(None)

    def wait(self, seconds: float = LOOK_UP_SECONDS) -> BaseException | None:
        """Waits at most ``seconds``. Returns the error that the former handler raised; None if none."""
        try:
            return self._news.get(timeout=max(0.0, min(seconds, LOOK_UP_SECONDS)))
        except queue.Empty:
            return None

    def doze(self, seconds: float = LOOK_UP_SECONDS) -> None:
        """Waits until ``wake`` or the end of ``seconds``. Raises the error that the former handler
        raised."""
        if (raised := self.wait(seconds)) is not None:
            raise raised

    def sleep(self, seconds: float) -> None:
        """Waits for the full ``seconds``. Raises the error that the former handler raised."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.doze(left)

    def check(self) -> None:
        """Raises the error that the former handler has raised by now, if any."""
        if (raised := self.pending()) is not None:
            raise raised

    def pending(self) -> BaseException | None:
        """Returns the error that the former handler has raised by now, or None, without waiting."""
        while True:
            try:
                raised = self._news.get_nowait()
            except queue.Empty:
                return None
            if raised is not None:
                return raised

    @contextmanager
    def passed_on(self) -> Generator[None, None, None]:
        """Lets Ctrl-C interrupt the code inside, such as the application itself, at any point. Raises
        first what was kept until then. An interrupt that the code inside catches is kept as well."""
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
            # The handler of asyncio.run() does not raise: it cancels the task that waits in this thread.
            if _cancelling() > cancelling:
                self._news.put(KeyboardInterrupt())


_current: Interrupts | None = None
"""The innermost ``Interrupts`` that is entered in the main thread; None if none is."""


def kept() -> AbstractContextManager[Interrupts]:
    """Returns a context that keeps Ctrl-C: the ``Interrupts`` around it, or else a new one."""
    if threading.current_thread() is threading.main_thread():
        outer = _current
        if outer is not None and outer.is_keeping:
            return nullcontext(outer)
    return Interrupts()


def _cancelling() -> int:
    """Returns the number of pending cancellations of the task that runs in this thread."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return 0
    cancelling = getattr(task, "cancelling", None)  # from Python 3.11 on
    return 0 if cancelling is None else cancelling()
