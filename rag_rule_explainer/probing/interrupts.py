"""Ctrl-C while something is under way: kept for whoever waits, instead of raised wherever the main thread
happens to be, which may be between two lines that belong together.

Whatever handled SIGINT before is still called first, and decides: only where it raises is there an
interrupt. Other threads than the main one are never told of Ctrl-C, and take no part in this.
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
"""How long a wait lasts at most before Ctrl-C is looked for: on Windows, and where the system gives the
signal to another thread, it does not end the wait by itself."""


class Interrupts:
    """This class keeps Ctrl-C while it is entered, in the main thread; elsewhere it keeps nothing.

    One that comes when all is done changes nothing any more.
    """

    def __init__(self) -> None:
        # A queue of this kind may be put to by a signal handler, whatever that has interrupted.
        self._news = queue.SimpleQueue[BaseException | None]()
        self._before: Callable[[int, FrameType | None], Any] | None = None
        self._outer: Interrupts | None = None
        self._is_keeping = False
        self._passed = 0

    @property
    def is_keeping(self) -> bool:
        """True while it keeps Ctrl-C: it is entered, and does not pass it on."""
        return self._is_keeping

    def __enter__(self) -> "Interrupts":
        global _current
        if threading.current_thread() is not threading.main_thread():
            return self
        before = signal.getsignal(signal.SIGINT)
        if callable(before):  # otherwise nobody wants it, or it ends the process
            self._before = before
            try:
                signal.signal(signal.SIGINT, self._noticed)
            except ValueError:  # a subinterpreter is told of no signal either
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
        told = self.pending() if kind is None else None
        try:
            # Whoever has put another handler in its place meanwhile means it.
            if signal.getsignal(signal.SIGINT) == self._noticed:
                signal.signal(signal.SIGINT, self._before)
        except KeyboardInterrupt:
            # It came just now, and what is to be returned is all there.
            if kind is not None:
                raise
        self._is_keeping = False
        if told is not None and not isinstance(told, KeyboardInterrupt):
            raise told

    def wake(self) -> None:
        """Ends a wait; may be called from any thread."""
        self._news.put(None)

    def wait(self, seconds: float = LOOK_UP_SECONDS) -> BaseException | None:
        """Returns what the former handler has raised; None when it was woken, or time is up."""
        try:
            return self._news.get(timeout=max(0.0, min(seconds, LOOK_UP_SECONDS)))
        except queue.Empty:
            return None

    def doze(self, seconds: float = LOOK_UP_SECONDS) -> None:
        """Waits until it is woken, or time is up. Raises what the former handler has raised."""
        if (told := self.wait(seconds)) is not None:
            raise told

    def sleep(self, seconds: float) -> None:
        """Waits so long. Raises what the former handler has raised."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.doze(left)

    def check(self) -> None:
        """Raises what the former handler has raised by now."""
        if (told := self.pending()) is not None:
            raise told

    def pending(self) -> BaseException | None:
        """Returns what the former handler has raised by now, if anything, without waiting."""
        while True:
            try:
                told = self._news.get_nowait()
            except queue.Empty:
                return None
            if told is not None:
                return told

    @contextmanager
    def passed_on(self) -> Generator[None, None, None]:
        """Lets Ctrl-C through, as if nobody kept it, such as to the application itself.

        Raises what was kept until then. An interrupt that somebody inside has caught is kept as well.
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
            # asyncio.run() has the task cancelled that waits here, and hears of nothing until it ends.
            if _cancelling() > cancelling:
                self._news.put(KeyboardInterrupt())


_current: Interrupts | None = None
"""The innermost one that is entered in the main thread."""


def kept() -> AbstractContextManager[Interrupts]:
    """Returns what keeps Ctrl-C while it is entered: one of its own, or the one around that does."""
    if threading.current_thread() is threading.main_thread():
        outer = _current
        if outer is not None and outer.is_keeping:
            return nullcontext(outer)
    return Interrupts()


def _cancelling() -> int:
    """Returns how often the task that runs in this thread was asked to end."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return 0
    cancelling = getattr(task, "cancelling", None)  # from Python 3.11 on
    return 0 if cancelling is None else cancelling()
