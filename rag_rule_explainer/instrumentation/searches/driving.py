"""This module runs the generator of a retrieval together with the real search, which may be sync or
async.

The generator yields at most once, to request the real search; it yields what handles the searches inside
that search, or None. It is then sent the result of the search,
and returns the result for the application.
"""

from collections.abc import Awaitable, Callable, Generator
from inspect import isawaitable
from typing import Any, Generic, TypeAlias, TypeVar

from ..recording.current import AnyPart
from ..run_context import out_of_sight

T = TypeVar("T")
Result: TypeAlias = Any
Retrieving: TypeAlias = Generator[AnyPart | None, Result, T]


def driven(retrieval: Retrieving[T], search: Callable[[], Result], *, awaited: bool = False) -> Any:
    """Runs a retrieval whose real search is a plain function, and returns the result for the application.
    The result is awaitable if the function returns an awaitable.

    ``awaited``: True if the function is expected to return an awaitable. The result is then awaitable
    even if it is served without calling the function.
    """
    step = _Step(retrieval)
    if not step.wants_a_search():
        return _at_once(step.result) if awaited else step.result
    try:
        with out_of_sight(step.inside):
            result = search()
    except Exception as error:
        return step.failed(error)
    return _once_there(step, result) if isawaitable(result) else step.finished(result)


async def _at_once(result: T) -> T:
    return result


async def _once_there(step: "_Step[T]", coming: Awaitable[Result]) -> T:
    try:
        with out_of_sight(step.inside):
            result = await coming
    except Exception as error:
        return step.failed(error)
    return step.finished(result)


async def adriven(retrieval: Retrieving[T], search: Callable[[], Awaitable[Result]]) -> T:
    """Runs a retrieval whose real search is a coroutine function, and returns the result for the
    application."""
    step = _Step(retrieval)
    if step.wants_a_search():
        try:
            with out_of_sight(step.inside):
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
    """A ``_Step`` runs the generator of one retrieval, which requests at most one real search."""

    def __init__(self, retrieval: Retrieving[T]) -> None:
        self._retrieval = retrieval
        self.result: Any = None
        self.inside: AnyPart | None = None

    def wants_a_search(self) -> bool:
        """Starts the generator. Returns True iff it requests the real search; otherwise ``result`` is
        set."""

        def begin() -> None:
            self.inside = next(self._retrieval)

        return self._goes_on(begin)

    def finished(self, found: Result) -> T:
        """Passes what the real search found to the generator, and returns the result of the retrieval."""
        return self._ended(self._goes_on(lambda: self._retrieval.send(found)))

    def failed(self, error: Exception) -> T:
        """Passes the error of the real search to the generator, which usually raises it again. If the
        generator handles the error, returns the result of the retrieval."""
        if isinstance(error, StopIteration):
            error = Stopped(error)
        return self._ended(self._goes_on(lambda: self._retrieval.throw(error)))

    def _goes_on(self, going: Callable[[], object]) -> bool:
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
