"""What becomes of one call of a search: it is recorded, served from a record, or let through.

Only the outermost retrieval takes part; what it delegates to is its own affair.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from ..errors import RagRuleError
from ..probing.gating import GoingOn, Keys, Recording, going_on
from .items import form_of
from .participation import note_retrieving_tools, out_of_sight, refused

T = TypeVar("T")
Item = TypeVar("Item")
Result: TypeAlias = Any

MADE_UP_SCORES = "documents without a known score were served to a search that returns scores, as 1.0"


class Shape(Protocol[Item]):
    """How a search returns what it found."""

    def found(self, result: Any) -> Sequence[Item]:
        """The items of a result."""
        ...

    def result(self, found: Sequence[Item], like: object = ()) -> Any:
        """The items in the shape they came in; ``like``: a real result, where there is one."""
        ...

    def needs_scores(self, found: Iterable[Item]) -> bool:
        """True iff scores would have to be made up."""
        ...


@dataclass(frozen=True, slots=True)
class Asked(Generic[Item]):
    """One call of a search: who was asked, how it is recognised, and the shape of its results.

    ``event_keys``: how it is recognised where only its events were recorded.
    """

    retriever: object
    keys: Keys
    query: str
    shape: Shape[Item]
    event_keys: Keys = ()

    def retrieval(self, part: GoingOn) -> Generator[None, Result, Result]:
        """What the caller gets. Yields where the real search is to be made, and is sent its result."""
        note_retrieving_tools()
        if isinstance(part, Recording):
            try:
                result = yield
            except Exception as error:
                part.failed(self.keys, error, self.retriever)
                raise
            return self._recorded(part, result)
        keys = (*self.keys, *self.event_keys)
        found: Sequence[Item] | None = part.serve(keys, self.query)
        like = part.form(keys)
        if found is None:
            like = yield
            found = part.filtered(self._found(like))
        if self.shape.needs_scores(found):
            part.remarks.add(MADE_UP_SCORES)
        return self.shape.result(found, like)

    def _recorded(self, part: Recording[Item], result: Result) -> Result:
        found = [*self._found(result), *part.added]
        part.record(self.keys, found, self.retriever, form_of(result))
        return self.shape.result(found, result) if part.added else result

    def _found(self, result: Result) -> Sequence[Item]:
        try:
            return self.shape.found(result)
        except RagRuleError as error:
            raise refused(error) from error


def asked_part(retriever: object) -> GoingOn | None:
    """What a call of this retriever takes part in: a replay, a baseline, or nothing."""
    part = going_on()
    return part if part is not None and part.concerns(retriever) else None


def driven(retrieval: Generator[None, Result, T], search: Callable[[], Result]) -> T:
    """Runs a retrieval whose real search is a function."""
    step = _Step(retrieval)
    if step.wants_a_search():
        try:
            with out_of_sight():
                result = search()
        except Exception as error:
            return step.failed(error)
        return step.finished(result)
    return step.result


async def adriven(retrieval: Generator[None, Result, T], search: Callable[[], Awaitable[Result]]) -> T:
    """The same for a coroutine function."""
    step = _Step(retrieval)
    if step.wants_a_search():
        try:
            with out_of_sight():
                result = await search()
        except Exception as error:
            return step.failed(error)
        return step.finished(result)
    return step.result


class _Step(Generic[T]):
    """A retrieval on its way: it makes at most one real search, and then has its result."""

    def __init__(self, retrieval: Generator[None, Result, T]) -> None:
        self._retrieval = retrieval
        self.result: Any = None

    def wants_a_search(self) -> bool:
        """True until it has its result."""
        return self._goes_on(lambda: next(self._retrieval))

    def finished(self, found: Result) -> T:
        """Its result, now that the search has found this."""
        return self._ended(self._goes_on(lambda: self._retrieval.send(found)))

    def failed(self, error: Exception) -> T:
        """What becomes of a search that raised: by rule, that it raises."""
        if isinstance(error, StopIteration):
            # A generator cannot be told of it; and it is the search's, not ours.
            raise error
        return self._ended(self._goes_on(lambda: self._retrieval.throw(error)))

    def _goes_on(self, going: Callable[[], None]) -> bool:
        try:
            going()
        except StopIteration as done:
            self.result = done.value
            return False
        return True

    def _ended(self, goes_on: bool) -> T:
        if goes_on:
            raise RuntimeError("a retrieval makes at most one real search")
        return self.result
