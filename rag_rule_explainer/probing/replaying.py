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
"""Where the sources of an explanation come from: "given" by the caller, "retrieved" by the application,
or "seen" by the model, as a part of the retrieved ones."""


WantedScope: TypeAlias = Literal["seen", "retrieved"]
"""Which sources the user wants an answer explained by: the ones "seen" by the model, or all "retrieved"
ones."""


class Replay(Protocol):
    """A Replay is a function that runs the application on a question and on sources, in their order. It
    may be sync or async."""

    def __call__(
        self, question: str, sources: Sequence[Source], /
    ) -> Answer | str | Awaitable[Answer | str]:
        """Returns the answer. If this raises an error, the verdict of the probe is UNKNOWN, with the
        error as its reason."""
        ...


class UnusableReply(Exception):
    """Raised by a replay that ran and spent tokens, but whose reply cannot count as an answer.

    The verdict of the probe is UNKNOWN, with ``reason``. ``usage``: the tokens that were spent, which the
    budget counts; ``models``: the same tokens by the name of the model. ``passing``: whether a retry may
    succeed; None if the error that caused this one decides that.
    """

    def __init__(
        self,
        reason: str,
        usage: Mapping[str, int] | None = None,
        models: Mapping[str, Mapping[str, int]] | None = None,
        *,
        passing: bool | None = None,
    ) -> None:
        # The reason may quote a message of a provider that contains a secret, so secrets are masked.
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
    """A ReplayFidelity checks the fidelity of replays: whether they differ from the baseline only in
    their sources.

    ``doubt``: what was observed in a replay that makes its fidelity doubtful; empty if nothing was.
    """

    doubt: str

    @property
    def unchecked(self) -> str:
        """Why the fidelity of replays was not checked; empty if it was. The check compares a replay on
        all sources with the baseline."""
        ...

    @property
    def is_comparable(self) -> bool:
        """True if it is possible to compare replays with each other, even if there is a ``doubt``."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that identifies the requests of the baseline: equal sequences of requests give equal
        texts. Empty if these requests are not known."""
        ...

    @property
    def departs(self) -> bool:
        """True if a replay took another path through the application's code than the baseline. An
        earlier replay may have caused this, by changing the application's state."""
        ...

    def has_changed(self) -> bool:
        """Returns True iff state that the application's code reads has changed since before the first
        replay. The application may then answer differently, even on all sources."""
        ...

    def can_rewind(self) -> bool:
        """Returns True iff state that may influence a run has changed since before the baseline and the
        old state can be restored."""
        ...

    def rewound(self) -> AbstractContextManager[None]:
        """Restores the application's state from before the baseline for the duration of the block. If a
        replay in the block differs from an earlier one on the same sources, ``doubt`` is set."""
        ...

    def remember(self) -> None:
        """Records the ``doubt``, if there is one, for later explanations of the same application. They
        share the state of the application, so the doubt is also about their replays."""
        ...

    def would_compare(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff a replay on the sources with these ids would be compared with an earlier
        replay on the same sources."""
        ...

    @property
    def beginning(self) -> str:
        """A digest of the requests that the baseline sent before the first reply of a model; empty if its
        requests are not known. An application that is unchanged gives the same digest."""
        ...

    def recognise(self, fingerprint: str) -> str:
        """Returns how the requests of this baseline differ from those of an earlier one, whose replays
        were checked. ``fingerprint``: that of the earlier baseline.

        An empty text means that they do not differ; the replays of this baseline then count as checked.
        """
        ...


@dataclass(frozen=True, slots=True)
class Baseline:
    """A Baseline is the run on all sources whose answer the user wants explained, as an integration
    provides it.

    ``answer``: the answer to explain. ``current``: the answer that the application gives now on exactly
    these sources. It is the same as ``answer`` unless that one is from a log, and None if the application
    did not run on exactly these. ``logged``: True if ``answer`` is from a log; a different ``current`` is
    then no fault. ``input``: the application's input, if it is more than the question. ``scope``: where
    the sources come from. ``held_out``: the sources that were retrieved but not shown to the model.
    ``unseen_needed``: returns the error to raise if answers need a source that the model did not see; its
    argument says what the model saw of it. ``state``: a digest of everything else that answers depend on,
    such as the conversation so far. The store treats the same question in another state as another
    question.

    ``replays``: the number of runs of the application for the baseline during this call. ``usage``: the
    tokens that they spent; ``models``: the same tokens by the name of the model. ``failed``: earlier
    attempts that failed; their tokens count too. ``seconds``: the seconds since the call began.
    ``longest``: the seconds that a replay may take, if the duration of the baseline decides that.
    ``judge_spent``: returns the tokens that a judge in the predicate has spent so far; they count for
    ``limits`` too.

    ``warnings``: texts that a report shows before the rules; ``notes``: texts that it shows after them.
    ``late_warnings`` and ``late_notes``: return those that are known only at the end. ``fidelity``: None
    if only the answers of replays can be observed, as with a function of question and sources.
    ``application``: its name. ``versions``: those of the libraries that the application uses. ``trace``:
    what tracers know about this explanation already.
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
        """Returns why the fidelity of the replays was not checked, so that their verdicts may be wrong.
        Empty if it was checked, or if it cannot be checked at all."""
        return "" if self.fidelity is None else self.fidelity.unchecked
