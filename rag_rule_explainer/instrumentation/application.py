"""What an integration tells about an application of the user's."""

from collections.abc import (
    AsyncIterator,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from ..probing.tracing.marks import TracedExplanation
from ..sources import Source
from .copies.patching import Patches
from .options import Case
from .recording.recorder import Captured
from .run_context import Participation, Watch

Item = TypeVar("Item")


class Application(Protocol[Item]):
    """An application of the user's, as its framework's integration knows it.

    ``run``, ``arun``, ``stream`` and ``astream`` are called inside the participation of that run.
    ``kept``: the sources of a replay; None for the baseline.
    """

    @property
    def interception(self) -> Patches:
        """What is replaced while it is explained."""
        ...

    @property
    def root(self) -> object:
        """The object of the user's that is run."""
        ...

    @property
    def making(self) -> str:
        """How a function that makes the application anew for every run is passed, in words."""
        ...

    @property
    def async_only(self) -> bool:
        """Known beforehand to have no sync entry."""
        ...

    def run(self, case: Case, kept: Sequence[Source] | None) -> Any:
        """Its output, through its sync entry."""
        ...

    async def arun(self, case: Case, kept: Sequence[Source] | None) -> Any:
        """Its output, through its async entry."""
        ...

    def stream(self, case: Case) -> Iterator[Any]:
        """The baseline in chunks."""
        ...

    def astream(self, case: Case) -> AsyncIterator[Any]:
        """The same through its async entry."""
        ...

    def explaining(self, trace: TracedExplanation, question: str) -> AbstractContextManager[object]:
        """Inside, an explanation is made: what the framework traces there belongs to one run, or span."""
        ...

    def is_traced(self) -> bool:
        """True iff what is traced may go somewhere, so that ``ask_tracers`` has to be called."""
        ...

    def ask_tracers(self) -> object:
        """Asks whether anybody would receive what is traced, so that ``explaining`` knows. Blocks."""
        ...

    def tells_of_async(self, error: str) -> bool:
        """True for the errors, as text, of what has no sync entry."""
        ...

    def watch(self, *, accepts: Collection[str]) -> Watch:
        """What is to see the models of one run; ``accepts``: see ``wholeness.fault_of``."""
        ...

    def watching(self, watch: Watch) -> AbstractContextManager[object]:
        """Inside, the models of this context are seen by it."""
        ...

    def identify(self, batches: Sequence[Sequence[Item]]) -> Sequence[Sequence[Source]]:
        """The source of each item of each retrieval."""
        ...

    def brought(self, documents: Sequence[Any]) -> list[Item]:
        """The caller's documents as items. Raises InvalidInput."""
        ...

    def copied(self, given: Any) -> Any:
        """An input that one run may change without another's being changed."""
        ...

    def texts_in(self, given: Any) -> Iterable[str]:
        """All text of an input, which models may be sent in any case."""
        ...

    def plain(self, given: Any) -> Any:
        """An input as JSON-like data, for the record."""
        ...

    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:
        """What else a reader is to know about how a replay was answered, beside the baseline.

        Raises UnusableReply where that cannot count as an answer.
        """
        ...

    def shown(self, captured: Captured[Item]) -> Iterable[str]:
        """Ids of the sources that the model is known to be shown, whether recognised or not."""
        ...

    def notes(self, captured: Captured[Item]) -> Iterable[str]:
        """What else a reader is to know about where the sources come from."""
        ...

    def why_nothing(self, retrievals: int) -> str:
        """What to say where so many retrievals were seen and no source."""
        ...

    def stopped(self, output: Any, *, unreadable: bool = False) -> str:
        """Returns why an output is none and what to do, such as of a run that waits for a human; else
        nothing. ``unreadable``: no answer could be read out of it."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Of the framework."""
        ...
