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
    """An ``Application`` tells this package how to run a user's application; each integration implements
    it.

    ``run``, ``arun``, ``stream`` and ``astream`` are called while the ``Participation`` of their run is
    the current one. ``kept``: the retained sources of a replay; None for the baseline. The methods that
    have a body in this class suit an application without a framework.
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
        """Returns the advice, for messages, on how to pass a function that makes a new application for
        every run."""
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
        """Groups all that the framework traces during the block: it appears under one run, or one span,
        of the tracing service."""
        return _as_one_span(trace)

    def is_traced(self) -> bool:
        """Returns True iff traces may be sent to a tracing service. ``ask_tracers`` then has to be called
        before ``explaining``."""
        return is_sent()

    def ask_tracers(self) -> object:
        """Asks whether a tracing service receives traces, and returns the finding, which ``explaining``
        uses. Blocks."""
        return unheard()

    def tells_of_async(self, error: str) -> bool:
        """Returns True iff this error message says that a component can only be called through its async
        entry."""
        ...

    def watch(self, *, accepts: Collection[str]) -> ModelWatch:
        """Returns a new watch for the models of one run. ``accepts``: finish reasons that count as
        complete in addition to the usual ones."""
        ...

    def watching(self, watch: ModelWatch) -> AbstractContextManager[object]:
        """Lets ``watch`` record the requests and replies of the models that are called in the block."""
        ...

    def identify(self, batches: Sequence[Sequence[Item]]) -> Sequence[Sequence[Source]]:
        """Returns, for each retrieval, the sources of its items, in the same order. ``batches``: the
        items of each retrieval."""
        ...

    def brought(self, documents: Sequence[Any]) -> list[Item]:
        """Returns the caller's documents as items. Raises InvalidInput for other objects."""
        ...

    def copied(self, given: Any) -> Any:
        """Returns a copy of an input. A run may change its copy, and the other runs' copies stay as they
        are."""
        return copied(given)

    def texts_in(self, given: Any) -> Iterable[str]:
        """Returns all texts in an input. A model may be sent these texts in every replay, whatever is
        omitted."""
        ...

    def plain(self, given: Any) -> Any:
        """Returns an input as JSON-like data, which the explanation stores."""
        ...

    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns remarks, for the reader of the explanation, on a replay's answer that is of another
        kind than the baseline's. An example is an answer that no model wrote.

        ``run``: the replay; ``first``: the baseline. Raises UnusableReply if the replay's output cannot
        count as an answer.
        """
        return ()

    def shown(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns the ids of sources that the model certainly receives, even where their text is not
        recognised in its requests."""
        return ()

    def notes(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns notes, for the reader of the explanation, on where the sources came from."""
        return ()

    def why_nothing(self, retrievals: int) -> str:
        """Returns the message for a run that retrieved no source. ``retrievals``: the number of its
        retrievals that were seen, each without a result."""
        ...

    def stopped(self, output: Any, *, unreadable: bool = False) -> str:  # noqa: ARG002 -- an integration uses it
        """Returns why an output holds no answer, and what to do; empty if it holds an answer. An example
        is the output of a run that waits for a human. ``unreadable``: True if ``answer_of`` found no
        answer in the output."""
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
