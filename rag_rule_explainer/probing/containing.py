"""This module contains errors of the user's functions that would end the event loop, and with it every
call that waits for it."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from .limits import INTERRUPTED, LimitReached
from .threads import Interrupted


@contextmanager
def contained() -> Generator[None, None, None]:
    """Runs a condition, a judge or a listener in its block. A SystemExit that it raises becomes a
    RuntimeError, as any other fault of it. A KeyboardInterrupt becomes LimitReached, so that the call
    ends as after Ctrl-C. In the main thread, where Python raises it for Ctrl-C itself, it is raised."""
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
