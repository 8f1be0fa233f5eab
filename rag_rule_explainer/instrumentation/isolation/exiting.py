"""A replay that ends the process ends itself alone.

``sys.exit()`` in a task of its own, such as a branch of a chain, would end the loop, and with it all that
was found out by then: there is no way to catch it but in the task.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import CoroutineType
from typing import Any
from weakref import WeakKeyDictionary

from ..run_context import participation

_within: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""How many replays go on by loop."""


_COROUTINE: Any = CoroutineType


class ApplicationExited(Exception):
    """Stands for a SystemExit that a task of a replay raised."""


@contextmanager
def exits_contained() -> Generator[None, None, None]:
    """Inside, a SystemExit in a task of a replay is an error of that task. On a running loop."""
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
    """Makes tasks as they are made otherwise. ``before``: by what."""

    def __init__(self, before: Callable[..., Any] | None) -> None:
        self.before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> Any:
        # Every task of the loop comes by here.
        if type(coro) is not _COROUTINE or participation() is None:
            return self._task(loop, coro, given)
        task = self._task(loop, _contained(coro), given)
        # A task that is cancelled before it begins would leave the coroutine behind, never awaited.
        task.add_done_callback(partial(_closed, coro))
        return task

    def _task(self, loop: asyncio.AbstractEventLoop, coro: Any, given: dict[str, Any]) -> Any:
        if self.before is not None:
            return self.before(loop, coro, **given)
        return asyncio.Task(coro, loop=loop, **given)


def _closed(coroutine: Any, _done: object) -> None:
    coroutine.close()


async def _contained(coroutine: Any) -> Any:
    try:
        return await coroutine
    except SystemExit as error:
        raise ApplicationExited(f"the application ended itself: SystemExit: {error}") from error
