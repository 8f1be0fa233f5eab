"""This module lets Ctrl-C end a search that the main task of ``asyncio.run`` awaits.

On Ctrl-C, ``asyncio.run`` cancels its main task, and raises KeyboardInterrupt when the task has ended so.
A search that is cancelled has no result. So, while the main task awaits a search, Ctrl-C ends the search
in place of the task, and the task goes on with the result.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any


@contextmanager
def ctrl_c_kept() -> Generator[Callable[[], None], None, None]:
    """Yields a function. After it was called, Ctrl-C in the block ends the search of the block, also one
    that has not begun yet. Before, the handler of ``asyncio.run`` is called.

    This holds if the main task of ``asyncio.run`` enters the block. In other tasks, under a handler of
    the user's, and on Python 3.10, whose ``asyncio.run`` has no handler, nothing is changed.
    """
    with _presses() as presses:
        yield presses.keep


@contextmanager
def told_of_ctrl_c(on_interrupt: Callable[[], bool]) -> Generator[None, None, None]:
    """Calls ``on_interrupt`` on the event loop after the first Ctrl-C in the block, in the main task of
    ``asyncio.run``; see ``ctrl_c_kept``.

    If it returns False, since there is no result to wait for, and on every later Ctrl-C, the handler of
    ``asyncio.run`` is called.
    """
    with _presses() as presses, presses.told(on_interrupt):
        yield


class _Presses:
    """A ``_Presses`` handles Ctrl-C in place of ``before``, the handler of ``asyncio.run``."""

    def __init__(self, before: Callable[[int, FrameType | None], Any] | None = None) -> None:
        self._before = before
        self._loop = asyncio.get_running_loop()
        self._on_interrupt: Callable[[], bool] | None = None
        self._keeps, self._is_pressed, self._is_done = False, False, False

    def keep(self) -> None:
        """From now on, a Ctrl-C waits for the next search."""
        self._keeps = True

    @contextmanager
    def told(self, on_interrupt: Callable[[], bool]) -> Generator[None, None, None]:
        """Hands the first Ctrl-C in the block, or one that waits, to ``on_interrupt``. Inside of another
        such block, which knows more searches, that one is told."""
        outer, self._on_interrupt = self._on_interrupt, self._on_interrupt or on_interrupt
        if self._is_pressed:
            self._tell()
        try:
            yield
        finally:
            self._on_interrupt = outer

    @contextmanager
    def installed(self) -> Generator[None, None, None]:
        """Handles SIGINT in the block."""
        signal.signal(signal.SIGINT, self.noticed)
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)
            self._before, before = None, self._before
            # If the application has set another handler in the block, that handler stays.
            if signal.getsignal(signal.SIGINT) == self.noticed:
                signal.signal(signal.SIGINT, before)

    def noticed(self, _number: int, frame: FrameType | None) -> None:
        """Handles SIGINT. Python calls it between any two lines of the main thread, so the search is told
        in a callback of the loop, while the main task waits."""
        if self._is_pressed:
            self._hand_on(frame)
            return
        self._is_pressed = True
        self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self._is_done or (self._on_interrupt is None and self._keeps):
            return
        self._is_done = True
        if self._on_interrupt is None or not self._on_interrupt():
            self._hand_on(None)

    def _hand_on(self, frame: FrameType | None) -> None:
        if self._before is not None:  # a Ctrl-C that comes after the result is dropped
            self._before(signal.SIGINT, frame)


_current: ContextVar[_Presses | None] = ContextVar("rag_rule_presses", default=None)
"""It holds the handler of Ctrl-C for the current task, also if the main task only awaits that task."""


@contextmanager
def _presses() -> Generator[_Presses, None, None]:
    before: Any = signal.getsignal(signal.SIGINT)
    outer = _current.get()
    if outer is not None and before == outer.noticed:
        yield outer
        return
    found = _Presses(before)
    if not _runs_now(_main_task_of(before)):
        yield found
        return
    with found.installed():
        yield found


def _runs_now(task: object) -> bool:
    """Returns True iff a task is the one that runs now, in the main thread."""
    is_here = threading.current_thread() is threading.main_thread()
    return is_here and task is not None and task is asyncio.current_task()


def _main_task_of(handler: object) -> object:
    """Returns the task that the handler of ``asyncio.run`` cancels; None for any other handler."""
    handed: Any = getattr(handler, "keywords", None)
    return handed.get("main_task") if isinstance(handed, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- a dict of anything
