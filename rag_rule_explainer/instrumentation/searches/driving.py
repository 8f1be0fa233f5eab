"""This module runs the generator of a retrieval and makes the real searches that the generator requests,
sync or async.

By its first yield, the generator requests the application's own search; the yielded value is the object
that handles searches inside this search, or None. The search's result is sent to the generator. By
yielding a ``Wide``, the generator may request a search for more results, whose result is sent to it too.
At the end, the generator returns the result for the application.
"""

from collections.abc import Awaitable, Callable, Generator
from inspect import isawaitable
from typing import Any, Generic, TypeAlias, TypeVar

from ..recording.current import AnyPart
from ..run_context import out_of_sight
from .widening import Wide

T = TypeVar("T")
Result: TypeAlias = Any
Retrieving: TypeAlias = Generator[AnyPart | Wide | None, Result, T]


def driven(retrieval: Retrieving[T], search: Callable[[], Result], *, awaited: bool = False) -> Any:
    """Runs the generator ``retrieval``, whose real search is a plain function, and returns the result for
    the application. The result is awaitable if the function returns an awaitable.

    ``awaited``: True if the function is expected to return an awaitable. The result is then awaitable
    even if it comes from the record, so that the function is not called.
    """
    step = _Step(retrieval)
    if not step.wants_a_search():
        return _at_once(step.result) if awaited else step.result
    while True:
        try:
            with out_of_sight(step.inside):
                result = step.next_search(search)()
        except Exception as error:
            return step.failed(error)
        if isawaitable(result):
            return _once_there(step, result)
        if step.is_finished_by(result):
            return step.result


async def _at_once(result: T) -> T:
    return result


async def _once_there(step: "_Step[T]", coming: Awaitable[Result]) -> T:
    while True:
        try:
            with out_of_sight(step.inside):
                result = await coming
        except Exception as error:
            return step.failed(error)
        if step.is_finished_by(result):
            return step.result
        coming = _made(step)


async def _made(step: "_Step[Any]") -> Result:
    """Makes the search for more results that the generator requested, and returns the search's result."""
    result = step.next_search(_nothing)()
    return await result if isawaitable(result) else result


def _nothing() -> Result:
    raise RuntimeError("only a search for more results comes after the first one")


async def adriven(retrieval: Retrieving[T], search: Callable[[], Awaitable[Result]]) -> T:
    """Runs the generator ``retrieval``, whose real search is a coroutine function, and returns the result
    for the application."""
    step = _Step(retrieval)
    if step.wants_a_search():
        return await _once_there(step, _first(search))
    return step.result


async def _first(search: Callable[[], Awaitable[Result]]) -> Result:
    # ``search`` may make calls before it returns an awaitable. So it is called only when this coroutine
    # is awaited, inside ``out_of_sight``, where calls are not recorded.
    return await search()


class Stopped(Exception):
    """A ``Stopped`` wraps the StopIteration that a search raised, because Python does not let a
    StopIteration pass through a generator."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__(str(error))
        self.error = error


class _Step(Generic[T]):
    """A ``_Step`` runs the generator of one retrieval. The generator requests one real search, and
    perhaps further searches for more results."""

    def __init__(self, retrieval: Retrieving[T]) -> None:
        self._retrieval = retrieval
        self.result: Any = None
        self.inside: AnyPart | None = None
        self._wide: Wide | None = None

    def wants_a_search(self) -> bool:
        """Starts the generator. Returns True iff the generator requests the real search. Otherwise, the
        generator has ended and ``result`` is set."""
        return self._goes_on(lambda: next(self._retrieval))

    def next_search(self, first: Callable[[], Result]) -> Callable[[], Result]:
        """Returns the search that the generator requests. ``first``: the application's own search."""
        return first if self._wide is None else self._wide.search

    def is_finished_by(self, found: Result) -> bool:
        """Sends the result of a search to the generator. Returns True if the generator has then ended, so
        that ``result`` is set. Returns False if it requests a search for more results."""
        return not self._goes_on(lambda: self._retrieval.send(found))

    def failed(self, error: Exception) -> T:
        """Raises the error of the real search inside the generator, which usually raises it again. If the
        generator handles the error, returns the result of the retrieval."""
        if isinstance(error, StopIteration):
            error = Stopped(error)
        if self._goes_on(lambda: self._retrieval.throw(error)):
            raise RuntimeError("a retrieval makes no search after one that failed")
        return self.result

    def _goes_on(self, going: Callable[[], AnyPart | Wide | None]) -> bool:
        try:
            wanted = going()
        except StopIteration as done:
            self.result = done.value
            return False
        except Stopped as stopped:
            raise stopped.error from None
        self._wide = wanted if isinstance(wanted, Wide) else None
        # A search for more results is made by this package, not by the application. So the searches
        # inside it are not handled.
        self.inside = None if isinstance(wanted, Wide) else wanted
        return True
