"""This module runs the generator of a retrieval together with the real search, sync or async."""

from collections.abc import Awaitable, Callable, Generator
from inspect import isawaitable
from typing import Any, Generic, TypeAlias, TypeVar

from ..run_context import out_of_sight

T = TypeVar("T")
Result: TypeAlias = Any


def driven(
    retrieval: Generator[None, Result, T], search: Callable[[], Result], *, awaited: bool = False
) -> Any:
    """Returns the result of a retrieval whose real search is a function; awaitable if the search's is.

    ``awaited``: the search is known to return an awaitable, so a served result has to be awaitable too.
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
    """Returns the result of a retrieval whose real search is a coroutine function."""
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
    """This error carries a search's StopIteration, which cannot be thrown into or out of a generator."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__(str(error))
        self.error = error


class _Step(Generic[T]):
    """This class steps the generator of a retrieval, which makes at most one real search."""

    def __init__(self, retrieval: Generator[None, Result, T]) -> None:
        self._retrieval = retrieval
        self.result: Any = None

    def wants_a_search(self) -> bool:
        """Returns whether the real search has to be made; if not, ``result`` is set."""
        return self._goes_on(lambda: next(self._retrieval))

    def finished(self, found: Result) -> T:
        """Returns the retrieval's result, given the real search's."""
        return self._ended(self._goes_on(lambda: self._retrieval.send(found)))

    def failed(self, error: Exception) -> T:
        """Returns the retrieval's result where the search raised; usually raises the same error."""
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
