"""This module lets Ctrl-C end a search that the main task of ``asyncio.run`` awaits.

On Ctrl-C, ``asyncio.run`` cancels its main task, and then raises KeyboardInterrupt. A Jupyter kernel
cancels the task of its cell, which is regarded as the main task as well. A cancelled search has no
result. So while the main task awaits a search, this module replaces the handler of Ctrl-C by one
that only ends the search. The task is not cancelled, and gets the rules found so far.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, cast


@contextmanager
def ctrl_c_kept() -> Generator[Callable[[], None], None, None]:
    """Yields a function that makes Ctrl-C end the search of the block instead of the main task.

    Before the function is called, Ctrl-C cancels the main task as usual. After the call, a Ctrl-C that
    comes before the search has begun ends the search at its beginning. The block changes nothing if
    another task than the main task enters it, if the user has set a handler of Ctrl-C, or on Python 3.10,
    whose ``asyncio.run`` sets no handler.
    """
    with _presses() as presses:
        yield presses.keep


@contextmanager
def told_of_ctrl_c(on_interrupt: Callable[[], bool]) -> Generator[None, None, None]:
    """Calls ``on_interrupt`` on the event loop after the first Ctrl-C in the block, if the main task of
    ``asyncio.run`` enters the block.

    The handler of ``asyncio.run``, which cancels the main task, is called on every later Ctrl-C. This
    handler is also called on the first Ctrl-C if ``on_interrupt`` returns False, because the search then
    has no result to wait for.
    """
    with _presses() as presses, presses.told(on_interrupt):
        yield


class _Presses:
    """A ``_Presses`` handles Ctrl-C during a block. ``before``: the handler of ``asyncio.run``, which is
    called if no search is to be ended."""

    def __init__(self, before: Callable[[int, FrameType | None], Any] | None = None) -> None:
        self._before = before
        self._loop = asyncio.get_running_loop()
        self._on_interrupt: Callable[[], bool] | None = None
        self._keeps, self._is_pressed, self._is_done = False, False, False

    def keep(self) -> None:
        """From now on, remembers a Ctrl-C that comes while no search runs. Such a Ctrl-C ends the next
        search at its beginning."""
        self._keeps = True

    @contextmanager
    def told(self, on_interrupt: Callable[[], bool]) -> Generator[None, None, None]:
        """Calls ``on_interrupt`` for the first Ctrl-C in the block, or at once for a Ctrl-C that came
        before the block and was remembered. Inside another such block, calls the function of the outer
        block, which can end more searches."""
        outer, self._on_interrupt = self._on_interrupt, self._on_interrupt or on_interrupt
        if self._is_pressed:
            self._tell()
        try:
            yield
        finally:
            self._on_interrupt = outer

    @contextmanager
    def installed(self) -> Generator[None, None, None]:
        """Makes ``noticed`` handle Ctrl-C (SIGINT) during the block."""
        signal.signal(signal.SIGINT, self.noticed)
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)
            self._before, before = None, self._before
            # If the application has set another handler of Ctrl-C in the block, that handler stays.
            if signal.getsignal(signal.SIGINT) == self.noticed:
                signal.signal(signal.SIGINT, before)

    def noticed(self, _number: int, frame: FrameType | None) -> None:
        """Handles SIGINT. Python calls this between any two lines of the main thread, so it only makes
        the event loop call ``_tell`` later, when the main task awaits something."""
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
"""The handler of Ctrl-C that is installed; None if there is none. Tasks that the main task starts have
the same value."""


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
    """Returns True iff this code runs in the main thread and in this task."""
    is_here = threading.current_thread() is threading.main_thread()
    return is_here and task is not None and task is asyncio.current_task()


def _main_task_of(handler: object) -> object:
    """Returns the task that the handler of ``asyncio.run`` or of a Jupyter kernel cancels; None for any
    other handler."""
    handed: Any = getattr(handler, "keywords", None)
    if isinstance(handed, dict):
        return handed.get("main_task")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- the types of its values are unknown
    return _cell_of(handler)


def _cell_of(handler: Any) -> object:
    """Returns the task of the notebook's cell that ipykernel's handler cancels.

    The handler sets the result of a future. A callback of the future then cancels the task, which is an
    argument of the callback.
    """
    if not str(getattr(handler, "__module__", "")).startswith("ipykernel."):
        return None
    for cell in getattr(handler, "__closure__", None) or ():
        for callback, _ in getattr(cell.cell_contents, "_callbacks", None) or ():
            for each in getattr(callback, "args", ()):
                if isinstance(each, asyncio.Task):
                    return cast("object", each)
    return None
