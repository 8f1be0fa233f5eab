"""What an integration tells about an application of the user's."""

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
from .options import Case
from .recording.recorder import Captured
from .run_context import Participation, Watch

Item = TypeVar("Item")


class Application(Protocol[Item]):
    """An application of the user's, as its framework's integration knows it.

    ``run``, ``arun``, ``stream`` and ``astream`` are called inside the participation of that run.
    ``kept``: the sources of a replay; None for the baseline. What has a body here is what holds of an
    application of no framework; an integration says what its own has beside that.
    """

    @property
    def interception(self) -> Patches:
        """Returns what is replaced while it is explained."""
        ...

    @property
    def root(self) -> object:
        """Returns the object of the user's that is run."""
        ...

    @property
    def making(self) -> str:
        """Returns how a function that makes the application anew for every run is passed, in words."""
        ...

    @property
    def async_only(self) -> bool:
        """Known beforehand to have no sync entry."""
        ...

    def run(self, case: Case, kept: Sequence[Source] | None) -> Any:
        """Returns its output, through its sync entry."""
        ...

    async def arun(self, case: Case, kept: Sequence[Source] | None) -> Any:
        """Returns its output, through its async entry."""
        ...

    def stream(self, case: Case) -> Iterator[Any]:
        """Yields the baseline in chunks."""
        yield self.run(case, None)

    async def astream(self, case: Case) -> AsyncIterator[Any]:
        """Yields the same through its async entry."""
        yield await self.arun(case, None)

    def explaining(self, trace: TracedExplanation, question: str) -> AbstractContextManager[object]:  # noqa: ARG002 -- an integration uses it
        """Inside, an explanation is made: what the framework traces there belongs to one run, or span."""
        return _as_one_span(trace)

    def is_traced(self) -> bool:
        """Returns True iff what is traced may go somewhere, so that ``ask_tracers`` has to be called."""
        return is_sent()

    def ask_tracers(self) -> object:
        """Asks whether anybody would receive what is traced, so that ``explaining`` knows. Blocks."""
        return unheard()

    def tells_of_async(self, error: str) -> bool:
        """Returns True for the errors, as text, of what has no sync entry."""
        ...

    def watch(self, *, accepts: Collection[str]) -> Watch:
        """Returns what is to see the models of one run; ``accepts``: see ``wholeness.fault_of``."""
        ...

    def watching(self, watch: Watch) -> AbstractContextManager[object]:
        """Inside, the models of this context are seen by it."""
        ...

    def identify(self, batches: Sequence[Sequence[Item]]) -> Sequence[Sequence[Source]]:
        """Returns the source of each item of each retrieval."""
        ...

    def brought(self, documents: Sequence[Any]) -> list[Item]:
        """Returns the caller's documents as items. Raises InvalidInput."""
        ...

    def copied(self, given: Any) -> Any:
        """Returns an input that one run may change without another's being changed."""
        return copied(given)

    def texts_in(self, given: Any) -> Iterable[str]:
        """Returns all text of an input, which models may be sent in any case."""
        ...

    def plain(self, given: Any) -> Any:
        """Returns an input as JSON-like data, for the record."""
        ...

    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns what else a reader is to know about how a replay was answered, beside the baseline.

        Raises UnusableReply where that cannot count as an answer.
        """
        return ()

    def shown(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Ids of the sources that the model is known to be shown, whether recognised or not."""
        return ()

    def notes(self, captured: Captured[Item]) -> Iterable[str]:  # noqa: ARG002 -- an integration uses it
        """Returns what else a reader is to know about where the sources come from."""
        return ()

    def why_nothing(self, retrievals: int) -> str:
        """Returns what to say where so many retrievals were seen and no source."""
        ...

    def stopped(self, output: Any, *, unreadable: bool = False) -> str:  # noqa: ARG002 -- an integration uses it
        """Returns why an output is none and what to do, such as of a run that waits for a human; else
        nothing. ``unreadable``: no answer could be read out of it."""
        return ""

    def versions(self) -> Mapping[str, str]:
        """Of the framework."""
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
