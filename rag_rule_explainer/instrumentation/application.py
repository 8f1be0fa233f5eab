"""This module defines the protocol that an integration implements for an application of its framework."""

from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import FunctionType
from typing import Any, Protocol, TypeVar

from ..probing.tracing import spans
from ..probing.tracing.marks import TracedExplanation
from ..probing.tracing.traced import heard, is_sent, own_root, unheard
from ..sources import Source
from .copies.copying import copied
from .copies.patching import Patches
from .doubts import OF_FRAMEWORKS
from .options import CallInput
from .recording.captured import Captured
from .run_record import Participation
from .source_kinds.result_content import ResultContent, as_content
from .watches import ModelWatch

Item = TypeVar("Item")


class Application(Protocol[Item]):
    """An ``Application`` tells this package how to run a user's application; each integration implements
    it.

    ``run``, ``arun``, ``stream`` and ``astream`` are called during a run. Their parameter ``case`` is the
    input, and ``kept`` are the retained sources of a replay; ``kept`` is None for the baseline. The
    methods that have a body in this class suit an application without a framework.
    """

    @property
    def interception(self) -> Patches:
        """Returns the patches that are applied while the application is explained."""
        ...

    def load_clients(self, functions: Callable[[], Iterable[FunctionType]], *, for_replay: bool) -> None:
        """Imports the packages of models' clients that the application's code imports only when it runs.
        Their requests are recorded only if they are imported before a run begins, so this is called
        before each baseline and each replay. ``functions``: returns the user's functions that the
        application has at this moment; for a replay, this may take longer than the replay itself."""

    @property
    def root(self) -> object:
        """Returns the application as the user passed it. It is searched for state that runs share."""
        ...

    @property
    def making(self) -> str:
        """Returns advice for messages: how to pass a function that makes a new application for
        every run."""
        ...

    @property
    def seeing(self) -> str:
        """Returns advice for messages: how to ask models so that their requests are seen."""
        return OF_FRAMEWORKS

    @property
    def async_only(self) -> bool:
        """Returns True iff the application is known to run only through its async interface."""
        ...

    def run(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        """Runs the application through its sync interface, and returns its output."""
        ...

    async def arun(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        """Runs the application through its async interface, and returns its output."""
        ...

    def stream(self, case: CallInput) -> Iterator[Any]:
        """Runs the baseline, and yields its output in chunks."""
        yield self.run(case, None)

    async def astream(self, case: CallInput) -> AsyncIterator[Any]:
        """Runs the baseline through the async interface, and yields its output in chunks."""
        yield await self.arun(case, None)

    def explaining(self, trace: TracedExplanation, question: str) -> AbstractContextManager[object]:  # noqa: ARG002 -- an integration uses it
        """Groups everything that the framework traces during the block: it appears under one run, or one
        span, of the tracing service. ``trace``: the data about the explanation that the service gets.
        ``question``: the question of the run."""
        return _as_one_span(trace)

    def is_traced(self) -> bool:
        """Returns True iff traces may be sent to a tracing service. ``ask_tracers`` then has to be called
        before ``explaining``."""
        return is_sent()

    def ask_tracers(self) -> object:
        """Asks the tracing services whether they receive traces, and returns the result, which
        ``explaining`` uses. Blocks, because services may be asked over the network."""
        return unheard()

    def means_async_only(self, error: str) -> bool:
        """Returns True iff this error message says that a component can only be called through its async
        interface."""
        ...

    def watch(self, *, accepts: Collection[str]) -> ModelWatch:
        """Returns a new watch, which records the requests of one run to models. ``accepts``: finish
        reasons that mark a reply as complete in addition to the usual ones."""
        ...

    def watching(self, watch: ModelWatch) -> AbstractContextManager[object]:
        """Lets ``watch`` record the requests and replies of the models that are called in the block."""
        ...

    def identify(self, batches: Sequence[Sequence[Item]]) -> Sequence[Sequence[Source]]:
        """Returns, for each retrieval, the sources of its items, in the same order. ``batches``: the
        items of each retrieval, which are documents in the framework's own type."""
        ...

    def brought(self, documents: Sequence[Any]) -> list[Item]:
        """Returns documents that the user passed (with ``documents=`` or ``add_documents=``) as items of
        the framework's own type. Raises InvalidInput for other objects."""
        ...

    def copied(self, given: Any) -> Any:
        """Returns a copy of an input. A run may change its copy, without changing the copies of other
        runs."""
        return copied(given)

    def texts_in(self, given: Any) -> Iterable[str]:
        """Returns all texts in an input. A model may be sent these texts in every replay, whichever
        sources are omitted."""
        ...

    def plain(self, given: Any) -> Any:
        """Returns an input as JSON-like data, which the explanation stores."""
        ...

    def lasting_content(self, remembered: Any) -> Any:
        """Returns the content of a memory object of the application, without the ids and times that the
        framework makes up. If two memory objects have equal content, the results are equal, even in
        different processes."""
        return remembered

    def result_content(self, result: Any) -> ResultContent:
        """Returns the part of a tool's result that a model is shown, and a function that replaces this
        part."""
        return as_content(result)

    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns remarks for the reader of the explanation, if a replay's answer is of another kind than
        the baseline's, for example if no model wrote it.

        ``run``: the replay; ``first``: the baseline. Raises UnusableReply if the replay's output cannot
        be used as an answer.
        """
        return ()

    def shown(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns the ids of sources that the model certainly receives, although their text may not be
        found in its requests."""
        return ()

    def notes(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns notes, for the reader of the explanation, on where the sources came from."""
        return ()

    def why_nothing(self, retrievals: int) -> str:
        """Returns the message for a run that retrieved no source. ``retrievals``: the number of observed
        retrievals of the run, all without a result."""
        ...

    def stopped(self, output: Any, case: CallInput, *, unreadable: bool = False) -> str:  # noqa: ARG002 -- an integration uses it
        """Returns a message that says why an output has no answer, and what to do; empty if it has an
        answer. For example, a run that waits for a human has an output without an answer. ``case``: the
        input of the run. ``unreadable``: True if ``answer_of`` found no answer in the output."""
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
