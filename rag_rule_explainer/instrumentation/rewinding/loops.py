"""This module reads what waits in an event loop that does not run: calls, timers and tasks that one run
leaves there for the next."""

import asyncio
import functools
from collections.abc import Iterator
from typing import Any

from .companies import is_of_own

_CALLS = frozenset({"_ready", "_scheduled"})
"""The attributes in which an event loop of Python's keeps the calls that it is to make."""


def calls_that_wait(loop: Any) -> object:
    """Returns the ``id()`` of each function of the user's that a loop is to call later; None for a loop
    that runs, because other code may add calls to it at any time. A timer that was cancelled does not
    count."""
    return None if loop.is_running() else sorted(id(each) for each in _waiting(loop) if _is_users(each))


def all_that_wait(loop: Any) -> object:
    """Returns the numbers of calls, timers and tasks that a loop has yet to see to; None for a loop that
    runs."""
    if loop.is_running():
        return None
    return len([*_waiting(loop)]), len(asyncio.all_tasks(loop))


def _waiting(loop: Any) -> Iterator[Any]:
    for name in sorted(_CALLS):
        for handle in tuple(getattr(loop, name, ())):
            if not handle.cancelled():
                yield getattr(handle, "_callback", None)


def _is_users(call: Any) -> bool:
    while isinstance(call, functools.partial):
        call = call.func
    return is_of_own(getattr(call, "__func__", call)) or is_of_own(getattr(call, "__self__", None))
