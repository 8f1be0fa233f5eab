"""This module catches errors of the user's functions that would otherwise end the event loop, and with it
every call that waits for it."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from .limits import INTERRUPTED, LimitReached
from .threads import Interrupted


@contextmanager
def contained() -> Generator[None, None, None]:
    """Converts errors that the user's code (a condition, a judge or a listener) raises in the block.

    A SystemExit becomes a RuntimeError, which callers treat as an ordinary error of this code. A
    KeyboardInterrupt becomes LimitReached, so that the call ends as after Ctrl-C. In the main thread, a
    KeyboardInterrupt is raised unchanged, because Python itself raises it there for Ctrl-C.
    """
    try:
        yield
    except SystemExit as error:
        raise RuntimeError(f"it raised SystemExit({error.code!r})") from error
    except Interrupted as error:
        raise LimitReached(INTERRUPTED) from error
    except KeyboardInterrupt as error:
        if threading.current_thread() is threading.main_thread():
            raise
        raise LimitReached(INTERRUPTED) from error
