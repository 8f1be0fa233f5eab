"""A replay that ends the process ends itself alone.

``sys.exit()`` in a task of its own, such as a branch of a chain, would end the loop, and with it all that
was found out by then: there is no way to catch it but in the task.
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
        if type(coro) is _COROUTINE and participation() is not None:
            coro = _Contained(coro)
        if self.before is not None:
            return self.before(loop, coro, **given)
        return asyncio.Task(coro, loop=loop, **given)


class _Contained(Coroutine[Any, Any, Any]):
    """This class represents a coroutine, of which a SystemExit is an error like any other.

    It is stepped as the coroutine itself would be: one around it would have to be closed after it, which
    costs each task a call of the loop.
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
        """Returns what shows how far it is, such as ``cr_frame``."""
        return getattr(self._coroutine, name)


def _exited(error: SystemExit) -> ApplicationExited:
    return ApplicationExited(f"the application ended itself: SystemExit: {error}")
