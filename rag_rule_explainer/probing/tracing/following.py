"""Follows what replays give to threads, for as long as somebody explains.

A thread begins with a context of its own, so it knows nothing of the replay in which it was begun.
"""

import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, TypeAlias, cast

from ..whose import is_users

HandOn: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Returns what is called in a thread instead of a function; the function itself outside of replays."""


class Following:
    """This class replaces the methods by which threads get their work, while somebody wants it, and
    makes them what they were afterwards. Thread-safe."""

    def __init__(self, hand_on: HandOn) -> None:
        self._hand_on = hand_on
        self._guard = threading.Lock()
        self._users = 0
        self._replaced: list[tuple[type, str, Any, Any]] = []

    @contextmanager
    def on(self) -> Generator[None, None, None]:
        """Inside, the function is handed on of each call that a pool is given, and of each thread that
        is begun for code of the user's. Nests, and is shared."""
        with self._guard:
            self._users += 1
            if self._users == 1:
                self._replace(ThreadPoolExecutor, "submit", self._to_a_pool)
                self._replace(threading.Thread, "start", self._to_a_thread)
        try:
            yield
        finally:
            with self._guard:
                self._users -= 1
                if not self._users:
                    self._put_back()

    def _replace(self, owner: type, name: str, wrapping: Callable[[Any], Any]) -> None:
        method = vars(owner)[name]
        replacement = wrapping(method)
        self._replaced.append((owner, name, method, replacement))
        setattr(owner, name, replacement)

    def _put_back(self) -> None:
        for owner, name, method, replacement in self._replaced:
            # Somebody may have wrapped ours meanwhile; ours does nothing outside of replays.
            if vars(owner)[name] is replacement:
                setattr(owner, name, method)
        self._replaced.clear()

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
    """Returns False for a thread of a library, such as a pool's own: it serves whoever comes later."""
    does: Any = getattr(thread, "_target", None) or type(thread)
    while isinstance(does, partial):
        does = cast("partial[Any]", does).func
    return is_users(str(getattr(does, "__module__", None) or ""))
