"""This module turns ``sys.exit()`` in a task of a replay into an error of that task.

Otherwise it would end the event loop, and with it the whole explanation; only the task can catch it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import CoroutineType
from typing import Any
from weakref import WeakKeyDictionary

from typing_extensions import override

from ..run_context import participation

_within: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""The number of running replays on each loop."""


_COROUTINE: Any = CoroutineType


class ApplicationExited(Exception):
    """This error replaces a SystemExit that a task of a replay raised."""


@contextmanager
def exits_contained() -> Generator[None, None, None]:
    """Turns a SystemExit that a task of a replay raises into an error, for the duration of the block.
    Needs a running event loop."""
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    is_first = not _within.get(loop, 0)
    _within[loop] = _within.get(loop, 0) + 1
    if is_first:
        loop.set_task_factory(_Containing(before))
    try:
        yield
    finally:
        _within[loop] -= 1
        ours = loop.get_task_factory()
        if not _within[loop] and isinstance(ours, _Containing):
            loop.set_task_factory(ours.before)


class _Containing:
    """This task factory wraps the coroutines of replays. ``before``: the loop's earlier task factory."""

    def __init__(self, before: Callable[..., Any] | None) -> None:
        self.before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> Any:
        # The loop makes all its tasks with this factory, also tasks outside of replays.
        if type(coro) is _COROUTINE and participation() is not None:
            coro = _Contained(coro)
        if self.before is not None:
            return self.before(loop, coro, **given)
        return asyncio.Task(coro, loop=loop, **given)


class _Contained(Coroutine[Any, Any, Any]):
    """This class wraps a coroutine, passes each step on to it, and turns its SystemExit into an
    ``ApplicationExited``.

    An ``async def`` around the coroutine would do the same, but the loop would have to close it after
    each task.
    """

    __slots__ = ("_coroutine",)

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine

    @override
    def send(self, value: Any) -> Any:
        try:
            return self._coroutine.send(value)
        except SystemExit as error:
            raise _exited(error) from error

    @override
    def throw(self, *given: Any) -> Any:
        try:
            return self._coroutine.throw(*given)
        except SystemExit as error:
            raise _exited(error) from error

    @override
    def close(self) -> None:
        self._coroutine.close()

    @override
    def __await__(self) -> Any:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        """Returns other attributes of the coroutine, such as ``cr_frame``."""
        return getattr(self._coroutine, name)


def _exited(error: SystemExit) -> ApplicationExited:
    return ApplicationExited(f"the application ended itself: SystemExit: {error}")
