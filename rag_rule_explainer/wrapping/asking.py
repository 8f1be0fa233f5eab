"""What becomes of one call of a search: it is recorded, served from a record, or let through.

Only the outermost retrieval takes part; what it delegates to is its own affair.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from ..probing.gating import GoingOn, Keys, Recording, going_on
from .participation import note_retrieving_tools, out_of_sight

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
            result = yield
            return self._recorded(part, result)
        found: Sequence[Item] | None = part.serve((*self.keys, *self.event_keys), self.query)
        like: object = ()
        if found is None:
            like = yield
            found = part.filtered(self.shape.found(like))
        if self.shape.needs_scores(found):
            part.remarks.add(MADE_UP_SCORES)
        return self.shape.result(found, like)

    def _recorded(self, part: Recording[Item], result: Result) -> Result:
        found = [*self.shape.found(result), *part.added]
        part.record(self.keys, found, self.retriever)
        return self.shape.result(found, result) if part.added else result


def asked_part(retriever: object) -> GoingOn | None:
    """What a call of this retriever takes part in: a replay, a baseline, or nothing."""
    part = going_on()
    return part if part is not None and part.concerns(retriever) else None


def driven(retrieval: Generator[None, Result, T], search: Callable[[], Result]) -> T:
    """Runs a retrieval whose real search is a function."""
    try:
        next(retrieval)
        with out_of_sight():
            result = search()
        retrieval.send(result)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a retrieval makes at most one real search")


async def adriven(retrieval: Generator[None, Result, T], search: Callable[[], Awaitable[Result]]) -> T:
    """The same for a coroutine function."""
    try:
        next(retrieval)
        with out_of_sight():
            result = await search()
        retrieval.send(result)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a retrieval makes at most one real search")
