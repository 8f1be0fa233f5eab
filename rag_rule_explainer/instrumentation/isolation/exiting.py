"""This module turns ``sys.exit()`` in a task of a replay into an error of that task.

Otherwise, the SystemExit would end the event loop and the whole explanation, and no code outside of the
task could prevent this.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import CoroutineType
from typing import Any
from weakref import WeakKeyDictionary

from typing_extensions import override

from ..bounds import ReplayEnded
from ..late_calls import in_its_run, run_of_work
from ..run_context import participation
from .whereabouts import note_task

_within: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
"""The number of running replays on each event loop."""


_COROUTINE: Any = CoroutineType


class ApplicationExited(Exception):
    """This error replaces a SystemExit that a task of a replay raised."""


@contextmanager
def exits_contained() -> Generator[None, None, None]:
    """Turns a SystemExit that a task of a replay raises in the block into an ``ApplicationExited``. Needs
    a running event loop."""
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
    """A ``_Containing`` makes the tasks of an event loop while replays run. It wraps each coroutine of a
    replay in a ``_Contained``, so that ``sys.exit()`` in the coroutine becomes an error of its task.

    ``before``: the event loop's earlier task factory, which is still used, and is restored later.
    """

    def __init__(self, before: Callable[..., Any] | None) -> None:
        self.before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> Any:
        # The event loop makes all its tasks by this factory, including tasks that belong to no replay.
        # Tasks that belong to no replay stay unchanged.
        run = run_of_work()
        # Only the run of a replay has no ``trace``.
        if type(coro) is _COROUTINE and run is not None and run.trace is None:
            coro = _Contained(coro)
        if self.before is None:
            task: Any = asyncio.Task(coro, loop=loop, **given)
        else:
            task = self.before(loop, coro, **given)
        if run is not None:
            run.work.add(task)
            with in_its_run():
                note_task(task, run)
        return task


class _Contained(Coroutine[Any, Any, Any]):
    """A ``_Contained`` runs a coroutine as if it were that coroutine, but raises an ``ApplicationExited``
    instead of the coroutine's SystemExit.

    An ``async def`` around the coroutine would do the same, but would take more time for each task,
    because the event loop would also have to close it.
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
        except ReplayEnded as error:
            raise _ended(error) from error

    @override
    def throw(self, *given: Any) -> Any:
        try:
            return self._coroutine.throw(*given)
        except SystemExit as error:
            raise _exited(error) from error
        except ReplayEnded as error:
            raise _ended(error) from error

    @override
    def close(self) -> None:
        self._coroutine.close()

    @override
    def __await__(self) -> Any:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        """Returns other attributes of the coroutine, such as ``cr_frame``."""
        return getattr(self._coroutine, name)


def _ended(error: ReplayEnded) -> BaseException:
    """Returns the error with which a task fails because its replay was ended. This is ``error`` while the
    replay goes on. After the end of the replay, no code waits for the task, and ``error`` would be logged
    as a failure of the application. So a CancelledError is returned then."""
    return error if participation() is not None else asyncio.CancelledError(str(error))


def _exited(error: SystemExit) -> ApplicationExited:
    return ApplicationExited(f"the application ended itself: SystemExit: {error}")
