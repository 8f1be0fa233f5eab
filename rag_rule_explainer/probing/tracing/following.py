"""This module marks the work of threads that replays start, while an explanation runs.

A new thread has an empty context, so it does not know the replay that started it.
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
"""Returns the function to call in a thread in place of the given one: outside replays, the given one
itself."""


class Following:
    """This class replaces the methods that give work to threads while it is in use, and restores them
    afterwards. Thread-safe."""

    def __init__(self, hand_on: HandOn) -> None:
        self._hand_on = hand_on
        self._methods = Replacing(
            lambda: [
                (ThreadPoolExecutor, "submit", self._to_a_pool),
                (threading.Thread, "start", self._to_a_thread),
            ]
        )

    def on(self) -> AbstractContextManager[None]:
        """Passes every call for a thread pool, and every new thread for the user's code, through
        ``hand_on`` inside. May be entered several times at once."""
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
    """Returns False for a thread of a library, such as one of a pool: it also serves callers outside the
    replay."""
    target: Any = getattr(thread, "_target", None) or type(thread)
    while isinstance(target, partial):
        target = cast("partial[Any]", target).func
    return is_users(str(getattr(target, "__module__", None) or ""))
