"""What becomes of one call of a search: it is recorded, served from a record, or let through.

Only the outermost retrieval takes part; what it delegates to is its own affair.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from rag_rule_explainer.probing.gating import GoingOn, Keys, Recording, going_on, taking_part

from .finding import Found, Shape
from .ordinary import ordinary_recording
from .participation import participation
from .tools import current_tools
from .watching import inside_retrieval

T = TypeVar("T")
Result: TypeAlias = Any

MADE_UP_SCORES = "documents without a known score were served to a search that returns scores, as 1.0"


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a search: who was asked, how it is recognised, and the shape of its results.

    ``event_keys``: how it is recognised where only its events were recorded.
    """

    retriever: object
    keys: Keys
    query: str
    shape: Shape
    event_keys: Keys = ()

    def retrieval(self, part: GoingOn) -> Generator[None, Result, Result]:
        """What the caller gets. Yields where the real search is to be made, and is sent its result."""
        _note_tool()
        if isinstance(part, Recording):
            result = yield
            return self._recorded(part, result)
        found: list[Found] | None = part.serve((*self.keys, *self.event_keys), self.query)
        like: object = ()
        if found is None:
            like = yield
            found = part.filtered(self.shape.found(like))
        if self.shape.needs_scores(found):
            part.remarks.add(MADE_UP_SCORES)
        return self.shape.result(found, like)

    def _recorded(self, part: Recording[Found], result: Result) -> Result:
        found = self.shape.found(result)
        part.record(self.keys, [*found, *part.added], self.retriever)
        return self.shape.result([*found, *part.added], result) if part.added else result


def asked_part(retriever: object) -> GoingOn | None:
    """What a call of this retriever takes part in: a replay, a baseline, or a run with our handler."""
    part = going_on()
    if part is None and not inside_retrieval.get():
        part = ordinary_recording()
    return part if part is not None and part.concerns(retriever) else None


def driven(retrieval: Generator[None, Result, T], search: Callable[[], Result]) -> T:
    """Runs a retrieval whose real search is a function."""
    try:
        next(retrieval)
        with _hidden():
            result = search()
        retrieval.send(result)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a retrieval makes at most one real search")


async def adriven(retrieval: Generator[None, Result, T], search: Callable[[], Awaitable[Result]]) -> T:
    """The same for a coroutine function."""
    try:
        next(retrieval)
        with _hidden():
            result = await search()
        retrieval.send(result)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a retrieval makes at most one real search")


@contextmanager
def _hidden() -> Generator[None, None, None]:
    token = inside_retrieval.set(True)
    try:
        with taking_part(None):
            yield
    finally:
        inside_retrieval.reset(token)


def _note_tool() -> None:
    run = participation()
    if run is not None:
        run.retrieving_tools.update(current_tools.get())
