"""Ctrl-C between questions: it ends an experiment, even where an explanation was just finished by it."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptions() -> Generator[Callable[[], bool], None, None]:
    """Says whether Ctrl-C was pressed meanwhile; it raises KeyboardInterrupt as ever.

    An explanation that was interrupted comes back with what it has, and one that was just about to end
    says nothing of it at all. Outside of the main thread, which alone is told, it always says no.
    """
    pressed = False

    def noticed(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        if callable(before):
            before(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        # Whoever started this wants no interrupts.
        yield lambda: False
        return
    signal.signal(signal.SIGINT, noticed)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
