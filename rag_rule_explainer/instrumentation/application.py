"""This module defines what an integration implements for an application of its framework."""

from collections.abc import (
    AsyncIterator,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Protocol, TypeVar

from ..probing.tracing import spans
from ..probing.tracing.marks import TracedExplanation
from ..probing.tracing.traced import heard, is_sent, own_root, unheard
from ..sources import Source
from .copies.copying import copied
from .copies.patching import Patches
from .options import CallInput
from .recording.captured import Captured
from .run_context import ModelWatch, Participation

Item = TypeVar("Item")


class Application(Protocol[Item]):
    """An ``Application`` describes a user's application to the kit; each integration implements it.

    ``run``, ``arun``, ``stream`` and ``astream`` are called inside the participation of their run.
    ``kept``: the retained sources of a replay; None for the baseline. The methods with a body here suit
    an application without a framework.
    """

    @property
    def interception(self) -> Patches:
        """Returns the patches that are applied while the application is explained."""
        ...

    @property
    def root(self) -> object:
        """Returns the user's object that is run."""
        ...

    @property
    def making(self) -> str:
        """Returns, in words, how to pass a function that makes the application anew for every run."""
        ...

    @property
    def async_only(self) -> bool:
        """Returns True iff the application is known to have no sync entry."""
        ...

    def run(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        """Returns the application's output, through its sync entry."""
        ...

    async def arun(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        """Returns the application's output, through its async entry."""
        ...

    def stream(self, case: CallInput) -> Iterator[Any]:
        """Yields the baseline's output in chunks."""
        yield self.run(case, None)

    async def astream(self, case: CallInput) -> AsyncIterator[Any]:
        """Yields the baseline's output in chunks, through the async entry."""
        yield await self.arun(case, None)

    def explaining(self, trace: TracedExplanation, question: str) -> AbstractContextManager[object]:  # noqa: ARG002 -- an integration uses it
        """Puts all that the framework traces inside the block under one run, or one span."""
        return _as_one_span(trace)

    def is_traced(self) -> bool:
        """Returns True iff traces may be sent somewhere, so that ``ask_tracers`` has to be called."""
        return is_sent()

    def ask_tracers(self) -> object:
        """Finds out whether a tracing service receives traces; ``explaining`` relies on it. Blocks."""
        return unheard()

    def tells_of_async(self, error: str) -> bool:
        """Returns True iff this text of an error says that a component has no sync entry."""
        ...

    def watch(self, *, accepts: Collection[str]) -> ModelWatch:
        """Returns a watch for the models of one run; ``accepts``: see ``wholeness.fault_of``."""
        ...

    def watching(self, watch: ModelWatch) -> AbstractContextManager[object]:
        """Lets the watch see the models that this context calls inside the block."""
        ...

    def identify(self, batches: Sequence[Sequence[Item]]) -> Sequence[Sequence[Source]]:
        """Returns the source of each item, for each retrieval."""
        ...

    def brought(self, documents: Sequence[Any]) -> list[Item]:
        """Returns the caller's documents as items. Raises InvalidInput for other objects."""
        ...

    def copied(self, given: Any) -> Any:
        """Returns a copy of an input, which a run may change without changing other runs' input."""
        return copied(given)

    def texts_in(self, given: Any) -> Iterable[str]:
        """Returns all texts of an input; a model may be sent these in every replay."""
        ...

    def plain(self, given: Any) -> Any:
        """Returns an input as JSON-like data, for the explanation."""
        ...

    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns remarks for the reader on how a replay's answer differs in kind from the baseline's.

        Raises UnusableReply if the replay's output cannot count as an answer.
        """
        return ()

    def shown(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns the ids of sources that the model is known to be shown, even if they are not recognised
        in its requests."""
        return ()

    def notes(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns notes for the reader on the origin of the sources."""
        return ()

    def why_nothing(self, retrievals: int) -> str:
        """Returns the message for a run in which ``retrievals`` retrievals were seen, but no source."""
        ...

    def stopped(self, output: Any, *, unreadable: bool = False) -> str:  # noqa: ARG002 -- an integration uses it
        """Returns why an output holds no answer, such as a run that waits for a human, and what to do;
        empty if it holds one. ``unreadable``: no answer could be read out of the output."""
        return ""

    def versions(self) -> Mapping[str, str]:
        """Returns the versions of the framework's packages, by name."""
        return {}


@contextmanager
def _as_one_span(trace: TracedExplanation) -> Generator[None, None, None]:
    with ExitStack() as inside:
        if not trace.asked:
            inside.enter_context(heard(trace, unheard()))
        if spans.in_use():
            inside.enter_context(own_root(trace))
        trace.is_open = True
        yield
