"""This module defines the contract of a replay, and the baseline that replays are compared with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ..errors import RagRuleError
from ..printable import without_secrets
from ..sources import Source
from ..verdicts import Answer
from .prices import TokensByModel

if TYPE_CHECKING:  # imported only for its types, because few explanations are traced
    from .tracing.marks import TracedExplanation

Scope: TypeAlias = Literal["given", "retrieved", "seen"]
"""The sources that an explanation is about. "given": the sources that the caller gave. "retrieved": the
sources that the application retrieved. "seen": the retrieved sources that the model was shown."""


WantedScope: TypeAlias = Literal["seen", "retrieved"]
"""The sources by which the user wants an answer explained: only those "seen" by the model, or all
"retrieved" ones."""


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
    """A replay raises this error if it ran and spent tokens, but its reply cannot be used as an answer.

    The verdict of the probe is UNKNOWN, with ``reason``. ``usage``: the tokens that were spent, which the
    budget counts; ``models``: the same tokens by the name of the model. ``passing``: whether a retry may
    succeed. If it is None, the error that caused this one decides whether there is a retry.
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

    ``doubt``: a warning that a replay may differ from the baseline in more than its sources; empty if
    nothing shows this.
    """

    doubt: str

    @property
    def unchecked(self) -> str:
        """Returns the reason why the replays may be wrong: the finding of their check, or why there was
        no check. Empty if they were checked and nothing was found. The check compares a replay on all
        sources with the baseline."""
        ...

    @property
    def is_comparable(self) -> bool:
        """Returns True if replays on the same sources can be compared with each other, even if there is a
        ``doubt``. If it is False, no replay is repeated at the end for a comparison."""
        ...

    @property
    def fingerprint(self) -> str:
        """Returns a text that identifies the requests of the baseline: equal sequences of requests give
        equal texts. Empty if these requests are not known."""
        ...

    @property
    def departs(self) -> bool:
        """Returns True if a replay took another path through the application's code than the baseline. An
        earlier replay may have caused this, by changing the application's state."""
        ...

    def has_changed(self) -> bool:
        """Returns True iff state that the application's code reads has changed since before the first
        replay. The application may then answer differently, even on all sources."""
        ...

    def can_rewind(self) -> bool:
        """Returns True iff state that may influence a run has changed since before the baseline, and its
        earlier content can be restored."""
        ...

    @property
    def dependent_places(self) -> str:
        """Returns, as a list in words, the names of the changed state (such as variables) whose content
        may depend on which sources a run got, or on how many runs there were; empty if there is no such
        state."""
        ...

    def rewound(self) -> AbstractContextManager[None]:
        """Restores the application's state from before the baseline for the duration of the block. If a
        replay in the block differs from an earlier one on the same sources, ``doubt`` then says so."""
        ...

    def remember(self) -> None:
        """Records the changes of state that the runs have left behind, and the ``doubt`` (the reason why
        the rules may be wrong), if there is one. Later explanations use this record, because they begin
        with the changed state."""
        ...

    def would_compare(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff a replay on the sources with these ids would be compared with an earlier
        replay on the same sources."""
        ...

    @property
    def beginning(self) -> str:
        """Returns a digest of the requests that the baseline sent before the first reply of a model;
        empty if its requests are not known. An application that is unchanged gives the same digest."""
        ...

    def recognise(self, fingerprint: str) -> str:
        """Returns how the requests of this baseline differ from those of an earlier baseline, whose
        replays were checked. If they do not differ, returns an empty text, and the replays of this
        baseline are regarded as checked too. ``fingerprint``: the fingerprint of the earlier baseline."""
        ...


@dataclass(slots=True)
class Promotion:
    """A ``Promotion`` warns of sources that the model was not shown in the baseline, but is shown when
    other sources are omitted.

    ``warning``: a text that names these sources, which are in the fields ``held_out`` and ``dropped`` of
    the ``Baseline``; empty as long as no replay has shown one.
    """

    warning: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A ``Baseline`` is the run on all sources whose answer the user wants explained, as an integration
    provides it.

    ``answer``: the answer to explain. ``current``: the answer that the application gives now on exactly
    the sources of ``answer``; None if it was not run on exactly these. It equals ``answer``, unless
    ``answer`` is from a log. ``logged``: True if ``answer`` is from a log; a different ``current`` is
    then no fault. ``input``: the application's input, if it is more than the question. ``state``: a
    digest of everything else that answers depend on, such as the conversation so far. The store treats
    the same question in another state as another question.

    ``scope``: where the sources come from. ``held_out``: the sources that were retrieved but not shown
    to the model. ``dropped``: the sources that a search found but did not return, for example because a
    reranker inside it dropped them. ``promoted``: says which sources of ``held_out`` and ``dropped`` the
    model is shown when other sources are omitted. ``unseen_needed``: a function that makes the error to
    raise if a replay without the sources in ``held_out`` has another answer than the baseline. Its
    argument says in words how the two answers differ. It may be None if ``held_out`` is empty.

    ``replays``: the number of runs of the application for the baseline during this call. ``usage``: the
    tokens that they spent; ``models``: the same tokens by the name of the model; None if the models are
    not known. ``failed``: earlier attempts that failed; their tokens count too.

    ``seconds``: the seconds that the call had taken when the baseline was ready. ``longest``: the seconds
    that a replay may take, if the duration of the baseline decides that; else None. ``judge_spent``: a
    function that returns the tokens that a judge in the predicate has spent so far; they count for
    ``limits`` too. None if no judge counts its own tokens.

    ``warnings``: texts that a report shows before the rules; ``notes``: texts that it shows after them.
    ``if_constant``: a note that is added if no source decides; empty if there is none.
    ``late_warnings`` and ``late_notes``: functions that return the warnings and notes that are known
    only at the end.

    ``fidelity``: the checks whether replays differ from the baseline only in their sources; None if the
    application is a function of question and sources, of whose replays only the answers are known.
    ``chance``: a function that returns a warning if code of the application decides by chance, else an
    empty text. ``served_otherwise``: a function that returns the reason why a real search may find other
    sources than the search in a replay returned; an empty text if there is no such reason. ``stale``:
    the reason why the store's answers may come from another version of the application; empty if there
    is none.

    ``application``: the application's name. ``versions``: the versions of the libraries that it uses.
    ``trace``: the data about this explanation for tracers such as LangSmith; None if the integration did
    not begin a trace.
    """

    answer: Answer
    current: Answer | None = None
    logged: bool = False
    replays: int = 0
    input: Any = None
    scope: Scope = "given"
    held_out: tuple[Source, ...] = ()
    dropped: tuple[Source, ...] = ()
    unseen_needed: Callable[[str], RagRuleError] | None = None
    failed: tuple[UnusableReply, ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if_constant: str = ""
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    models: Mapping[str, Mapping[str, int]] | None = None
    state: str = ""
    fidelity: ReplayFidelity | None = None
    chance: Callable[[], str] = str
    application: str = ""
    longest: float | None = None
    late_warnings: Callable[[], Sequence[str]] | None = None
    served_otherwise: Callable[[], str] | None = None
    late_notes: Callable[[], Sequence[str]] | None = None
    judge_spent: Callable[[], TokensByModel] | None = None
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    trace: "TracedExplanation | None" = None
    stale: str = ""
    promoted: Promotion = field(default_factory=Promotion)

    def doubt(self) -> str:
        """Returns the reason why the verdicts of replays may be wrong; empty if no reason is known. If
        several are known, the first of this list is returned:

        - The store's answers may come from another version of the application.
        - The check of the replays has found a difference, or there was no check.
        - The search in a replay returned sources that a real search may not find.
        - Code of the application decides by chance.
        - If sources are omitted, the application shows the model other sources instead.
        """
        checked = "" if self.fidelity is None else self.fidelity.unchecked
        return self.stale or checked or self.doubt_about_answers() or self.promoted.warning

    def doubt_about_answers(self) -> str:
        """Returns the reason to distrust the answers themselves: the search in a replay returned sources
        that a real search may not find, or code of the application decides by chance. Empty if neither is
        known. A later explanation that takes these answers from a store must repeat this reason."""
        served = "" if self.served_otherwise is None else self.served_otherwise()
        return served or self.chance()

    def warnings_at_the_end(self) -> tuple[str, ...]:
        """Returns the warnings that are known only after all replays. The first says that replays may
        differ from the baseline in more than their sources, if there is such a doubt."""
        late = () if self.late_warnings is None else self.late_warnings()
        doubt = self.doubt()
        return (doubt, *late) if doubt else tuple(late)

    def notes_at_the_end(self) -> tuple[str, ...]:
        """Returns the notes that are known only after all replays."""
        return () if self.late_notes is None else tuple(self.late_notes())

    def remember(self) -> None:
        """Records the changes of state that the runs have left behind, because later explanations begin
        with the changed state."""
        if self.fidelity is not None:
            self.fidelity.remember()

    def counted_before(self) -> "Baseline":
        """Returns a copy of the baseline for a further search of the same call. The copy has no runs, no
        tokens and no trace, because they belong to the first search and must not be counted twice."""
        return replace(self, replays=0, usage={}, models=None, failed=(), seconds=0.0, trace=None)
