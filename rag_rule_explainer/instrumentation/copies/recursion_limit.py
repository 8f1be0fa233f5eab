"""This module raises Python's recursion limit while functions that call themselves are guarded: each of
their calls takes two frames then.

The limit of the application's own is told beside the raised one, so that a change by a run is noticed.
"""

import sys
import threading
from contextlib import suppress

_ASKING = 50
"""The number of frames that a guard may take to choose what is called."""
_lock = threading.RLock()
_limits: list[tuple[int, int]] = []
"""The limit before it was raised, and the raised one; empty if it is not raised."""


def own_recursion_limit() -> int:
    """Returns the recursion limit as it would be without guards."""
    now = sys.getrecursionlimit()
    own, high = _limits[-1] if _limits else (now, now)
    return own if now == high else now


def raise_limit() -> None:
    """Doubles the recursion limit, unless it is raised already."""
    with _lock:
        if not _limits:
            own = sys.getrecursionlimit()
            _limits.append((own, 2 * own + _ASKING))
            sys.setrecursionlimit(2 * own + _ASKING)


def restore_limit() -> None:
    """Restores the recursion limit, unless somebody else has set it meanwhile."""
    with _lock:
        if _limits and sys.getrecursionlimit() == _limits[-1][1]:
            with suppress(RecursionError):  # the caller is too deep for it
                sys.setrecursionlimit(_limits[-1][0])
        _limits.clear()
