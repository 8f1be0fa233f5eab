"""This module records, for each thread that a replay starts, to which replay it belongs, so that
the thread's traces get the metadata of this replay.

A new thread has an empty context, so by itself it does not know which replay started it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial, wraps
from typing import Any, TypeAlias, cast

from ..whose import is_users
from .replacing import Replacing

HandOn: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A function that wraps the work of a thread: it gets the function that the thread is to call, and
returns the function to call instead. Outside replays, it returns the function unchanged."""


class Following:
    """A ``Following`` replaces the methods by which code starts threads or gives work to thread pools,
    and restores them when they are no longer needed. ``hand_on``: a function that wraps the work.
    Thread-safe."""

    def __init__(self, hand_on: HandOn) -> None:
        self._hand_on = hand_on
        self._methods = Replacing(
            lambda: [
                (ThreadPoolExecutor, "submit", self._to_a_pool),
                (threading.Thread, "start", self._to_a_thread),
            ]
        )

    def on(self) -> AbstractContextManager[None]:
        """During the block, wraps by ``hand_on`` every function that is given to a thread pool, and the
        function of every new thread that runs the user's code. Several blocks may be active at the same
        time."""
        return self._methods.on()

    def _to_a_pool(self, submit: Any) -> Any:
        @wraps(submit)
        def submitted(pool: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            return submit(pool, self._hand_on(fn), *args, **kwargs)

        return submitted

    def _to_a_thread(self, start: Any) -> Any:
        @wraps(start)
        def started(thread: threading.Thread) -> Any:
            if _is_for_users_code(thread):
                thread.run = self._hand_on(thread.run)
            return start(thread)

        return started


def _is_for_users_code(thread: threading.Thread) -> bool:
    """Returns True iff a thread runs a function of the user's own code. Other threads, such as a thread
    of a library's pool, are not treated as a part of the replay, because they may also serve callers
    outside of the replay."""
    target: Any = getattr(thread, "_target", None) or type(thread)
    while isinstance(target, partial):
        target = cast("partial[Any]", target).func
    return is_users(str(getattr(target, "__module__", None) or ""))
