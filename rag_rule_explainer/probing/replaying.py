"""This module defines the contract of a replay, and the baseline that replays are compared with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from ..errors import RagRuleError
from ..printable import without_secrets
from ..sources import Source
from ..verdicts import Answer
from .prices import TokensByModel
from .tracing.marks import TracedExplanation

Scope: TypeAlias = Literal["given", "retrieved", "seen"]
"""The origin of the sources: given by the caller, returned by retrieval, or the retrieved ones that the
model saw."""


WantedScope: TypeAlias = Literal["seen", "retrieved"]
"""The sources by which an application is to be explained: those the model saw, or all retrieved ones."""


class Replay(Protocol):
    """A Replay runs the application on a question and an ordered sequence of sources; sync or async."""

    def __call__(
        self, question: str, sources: Sequence[Source], /
    ) -> Answer | str | Awaitable[Answer | str]:
        """Returns the answer. An error makes the probe UNKNOWN, with the error as its reason."""
        ...


class UnusableReply(Exception):
    """Raised by a replay that ran and was paid for, but whose reply cannot count as an answer.

    The probe is UNKNOWN with ``reason``. ``usage``: tokens spent, which the budget counts; ``models``:
    the same by model. ``passing``: True if a retry may succeed; None if the cause of this error decides
    that.
    """

    def __init__(
        self,
        reason: str,
        usage: Mapping[str, int] | None = None,
        models: Mapping[str, Mapping[str, int]] | None = None,
        *,
        passing: bool | None = None,
    ) -> None:
        # The reason may quote a provider, and so contain a secret.
        self.reason = without_secrets(reason)
        super().__init__(self.reason)
        self.usage = usage
        self.models = models
        self.passing = passing


EMPTY = "the answer is empty"


def said_nothing(answer: Answer) -> bool:
    """Returns True iff the answer has neither text nor value."""
    text = answer.text
    return (not text or text.isspace()) and answer.value is None


class ReplayFidelity(Protocol):
    """A ReplayFidelity has checked whether replays differ from the baseline in nothing but their sources.
    ``doubt``: an observation in a replay that speaks against that; empty if there is none."""

    doubt: str

    @property
    def unchecked(self) -> str:
        """The reason why fidelity was not checked; empty if a replay on all sources was compared with the
        baseline."""
        ...

    @property
    def is_comparable(self) -> bool:
        """True if replays can be compared with each other, with or without a doubt."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that is equal for equal sequences of requests; empty if the baseline's requests are not
        known."""
        ...

    @property
    def departs(self) -> bool:
        """True if a replay took a course that the baseline did not take, which an earlier replay may have
        caused."""
        ...

    def has_changed(self) -> bool:
        """Returns True iff state that the application's code reads has changed since before the first
        replay. The application may then answer otherwise on all sources."""
        ...

    def can_rewind(self) -> bool:
        """Returns True iff state that may influence a run has changed since before the baseline and can
        be restored."""
        ...

    def rewound(self) -> AbstractContextManager[None]:
        """Restores, inside the context, the application's state from before the baseline. A replay there
        that differs from an earlier one on the same sources leaves a doubt."""
        ...

    def remember(self) -> None:
        """Records a doubt, if there is one, for later explanations of the same application, which share
        its state."""
        ...

    def would_compare(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff a replay on the sources with these ids would be compared with an earlier one
        on them."""
        ...

    @property
    def beginning(self) -> str:
        """A digest of the requests before the first reply of a model, equal for an equal application;
        empty if the baseline's requests are not known."""
        ...

    def recognise(self, fingerprint: str) -> str:
        """Returns how the requests differ from those of an earlier, checked baseline with this
        fingerprint.

        An empty text means no difference; then this baseline's replays count as checked as well.
        """
        ...


@dataclass(frozen=True, slots=True)
class Baseline:
    """A Baseline is the run on all sources that the user wants explained, as an integration provides it.

    ``answer``: the answer to explain. ``current``: the application's answer now on exactly these sources;
    the same as ``answer`` unless that one is from a log, None if the application did not run on exactly
    these. ``logged``: ``answer`` is from a log, so that a different ``current`` is no fault. ``replays``:
    the runs of the application for the baseline during this call. ``input``: the application's input, if
    that is more than the question. ``held_out``: the sources that were retrieved and not shown to the
    model; ``unseen_needed``: returns the error to raise if answers need a source that was not seen, for a
    text on what was seen of it. ``usage``: the tokens spent on it during this call; ``models``: the same
    by model. ``state``: a digest of everything else that answers depend on, such as the conversation so
    far: the store treats the same question in another state as another question. ``failed``: earlier
    attempts that failed, and are paid for as well. ``seconds``: since the call began. ``warnings``: texts
    for before the rules; ``notes``: texts for after them. ``fidelity``: None if only the answers of
    replays are seen, as with a function of question and sources. ``application``: its name. ``longest``:
    the seconds that a replay may take, if the baseline's duration decides that. ``late_warnings``,
    ``late_notes``: return those that are known only at the end. ``judge_spent``: returns the tokens that
    a judge in the predicate has spent so far, which count for ``limits`` as well. ``versions``: of the
    libraries that the application uses. ``trace``: the explanation as tracers know it already.
    """

    answer: Answer
    current: Answer | None = None
    logged: bool = False
    replays: int = 0
    input: Any = None
    scope: Scope = "given"
    held_out: tuple[Source, ...] = ()
    unseen_needed: Callable[[str], RagRuleError] | None = None
    failed: tuple[UnusableReply, ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    models: Mapping[str, Mapping[str, int]] | None = None
    state: str = ""
    fidelity: ReplayFidelity | None = None
    application: str = ""
    longest: float | None = None
    late_warnings: Callable[[], Sequence[str]] | None = None
    late_notes: Callable[[], Sequence[str]] | None = None
    judge_spent: Callable[[], TokensByModel] | None = None
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    trace: TracedExplanation | None = None

    def doubt(self) -> str:
        """Returns why verdicts on replays cannot be relied on; empty if they can, or if that cannot be
        checked."""
        return "" if self.fidelity is None else self.fidelity.unchecked
