"""This module lets the generator of a retrieval work together with the real search, which may be sync or
async.

The generator yields at most once, to ask for the real search; it is sent the result, and returns what the
caller gets.
"""

from collections.abc import Awaitable, Callable, Generator
from inspect import isawaitable
from typing import Any, Generic, TypeAlias, TypeVar

from ..run_context import out_of_sight

T = TypeVar("T")
Result: TypeAlias = Any


def driven(
    retrieval: Generator[None, Result, T], search: Callable[[], Result], *, awaited: bool = False
) -> Any:
    """Runs a retrieval whose real search is a plain function, and returns what its caller gets. This is
    awaitable if the function returns an awaitable.

    ``awaited``: True if the function is expected to return an awaitable. A result that is served without
    calling the function is then awaitable too.
    """
    step = _Step(retrieval)
    if not step.wants_a_search():
        return _at_once(step.result) if awaited else step.result
    try:
        with out_of_sight():
            result = search()
    except Exception as error:
        return step.failed(error)
    return _once_there(step, result) if isawaitable(result) else step.finished(result)


async def _at_once(result: T) -> T:
    return result


async def _once_there(step: "_Step[T]", coming: Awaitable[Result]) -> T:
    try:
        with out_of_sight():
            result = await coming
    except Exception as error:
        return step.failed(error)
    return step.finished(result)


async def adriven(retrieval: Generator[None, Result, T], search: Callable[[], Awaitable[Result]]) -> T:
    """Runs a retrieval whose real search is a coroutine function, and returns what its caller gets."""
    step = _Step(retrieval)
    if step.wants_a_search():
        try:
            with out_of_sight():
                result = await search()
        except Exception as error:
            return step.failed(error)
        return step.finished(result)
    return step.result


class Stopped(Exception):
    """A ``Stopped`` carries the StopIteration that a search raised, because Python does not let a
    StopIteration pass through a generator."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__(str(error))
        self.error = error


class _Step(Generic[T]):
    """A ``_Step`` runs the generator of one retrieval, which asks for at most one real search."""

    def __init__(self, retrieval: Generator[None, Result, T]) -> None:
        self._retrieval = retrieval
        self.result: Any = None

    def wants_a_search(self) -> bool:
        """Starts the generator. Returns True iff it asks for the real search; otherwise ``result`` is
        set."""
        return self._goes_on(lambda: next(self._retrieval))

    def finished(self, found: Result) -> T:
        """Passes what the real search found to the generator, and returns the result of the retrieval."""
        return self._ended(self._goes_on(lambda: self._retrieval.send(found)))

    def failed(self, error: Exception) -> T:
        """Passes the error of the real search to the generator. Usually the generator raises it again;
        otherwise the result of the retrieval is returned."""
        if isinstance(error, StopIteration):
            error = Stopped(error)
        return self._ended(self._goes_on(lambda: self._retrieval.throw(error)))

    def _goes_on(self, going: Callable[[], None]) -> bool:
        try:
            going()
        except StopIteration as done:
            self.result = done.value
            return False
        except Stopped as stopped:
            raise stopped.error from None
        return True

    def _ended(self, goes_on: bool) -> T:
        if goes_on:
            raise RuntimeError("a retrieval makes at most one real search")
        return self.result
