"""What a replay is, and the baseline that replays are compared with."""

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
"""Where the sources come from: handed over by the caller, what retrieval returned, or the part of
it that the model was shown."""


WantedScope: TypeAlias = Literal["seen", "retrieved"]
"""Which of these an application is to be explained by."""


class Replay(Protocol):
    """Runs the application on a question and an ordered sequence of sources, sync or async."""

    def __call__(
        self, question: str, sources: Sequence[Source], /
    ) -> Answer | str | Awaitable[Answer | str]:
        """Returns the answer; whatever it raises makes the probe UNKNOWN, with the error as its
        reason."""
        ...


class UnusableReply(Exception):
    """Raised by a replay that ran and was paid for, but whose reply cannot count as an answer.

    The probe is UNKNOWN with ``reason``; ``usage``, and the same by model, are still put on the budget.
    ``passing``: whether another try may do better; None where its cause tells.
    """

    def __init__(
        self,
        reason: str,
        usage: Mapping[str, int] | None = None,
        models: Mapping[str, Mapping[str, int]] | None = None,
        *,
        passing: bool | None = None,
    ) -> None:
        # It may be what a provider said.
        self.reason = without_secrets(reason)
        super().__init__(self.reason)
        self.usage = usage
        self.models = models
        self.passing = passing


EMPTY = "the answer is empty"


def said_nothing(answer: Answer) -> bool:
    """Returns True iff there is nothing in the answer to judge."""
    text = answer.text
    return (not text or text.isspace()) and answer.value is None


class ReplayFidelity(Protocol):
    """Knows whether replays are the baseline but for their sources, as far as that was seen.

    ``doubt``: what in a replay tells against it, whatever was compared; empty for nothing.
    """

    doubt: str

    @property
    def unchecked(self) -> str:
        """Returns why nobody knows; empty where a replay on all sources was compared with the
        baseline."""
        ...

    @property
    def is_comparable(self) -> bool:
        """Returns True iff replays can be compared with each other, be there a doubt or not."""
        ...

    @property
    def fingerprint(self) -> str:
        """Returns a text from which an equal course of requests can be told from another one; empty where
        the baseline's requests are not known."""
        ...

    @property
    def departs(self) -> bool:
        """Returns True iff a replay went a way that the baseline did not go, which an earlier one may
        have caused."""
        ...

    def has_changed(self) -> bool:
        """Returns True iff the application holds something else than before the first replay, which its
        code reads: its answer on all sources may not be the same any more."""
        ...

    def can_rewind(self) -> bool:
        """Returns True iff the application holds something else than before the baseline that may bear on
        a run, and that can be put back."""
        ...

    def rewound(self) -> AbstractContextManager[None]:
        """Inside, the application holds again what it held before the baseline. A replay there that
        differs from an earlier one on the same sources leaves a doubt."""
        ...

    def remember(self) -> None:
        """Notes for later explanations of the same application what tells against its replays, if
        anything does: they would find what these have left."""
        ...

    def would_compare(self, ids: tuple[str, ...]) -> bool:
        """Returns True iff a replay on the sources of these ids would be compared with an earlier one on
        them."""
        ...

    @property
    def beginning(self) -> str:
        """Returns a digest of what models were sent before any of them replied, which an equal
        application sends again; empty where the baseline's requests are not known."""
        ...

    def recognise(self, fingerprint: str) -> str:
        """Compares with the fingerprint of an earlier baseline, whose replays were checked. Returns how
        the requests differ; nothing where they do not, and then these count as checked as well."""
        ...


@dataclass(frozen=True, slots=True)
class Baseline:
    """This class represents the run on all sources that the user asked about, as an integration hands it
    over.

    ``answer``: what is asked about. ``current``: what the application answers now on exactly these
    sources; the same as ``answer`` unless that one is from a log, None where it did not run on just
    these. ``logged``: ``answer`` is from a log, so that a ``current`` that differs is news and no fault.
    ``replays``: how often the application ran for it during this call. ``input``: what the application
    was given, where that is more than the question. ``held_out``: what was retrieved and never shown to
    the model; ``unseen_needed``: the error that says so where answers need it, given what was seen of
    that. ``usage``: the tokens spent on it during this call, ``models``: the same by model.
    ``state``: what else answers depend on, such as a conversation so far, as a digest: the same question
    in another state is another question to the store. ``failed``: tries before it that failed, and are
    paid for as well. ``seconds``: since the call began. ``warnings``: what is to be read before any rule;
    ``notes``: what may be read after. ``fidelity``: None where nothing of replays is seen but their
    answers, as of a function of question and sources. ``application``: its name. ``longest``: seconds
    that a replay may take, where that follows from what the baseline took. ``late_warnings``,
    ``late_notes``: those that are known once all is done. ``judge_spent``: the tokens that a judge in the
    predicate has spent so far, where somebody counts them; they count for ``limits`` as well.
    ``versions``: of what it is built with. ``trace``: as what traces know the explanation already.
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
        """Returns why verdicts on replays cannot be relied on; empty where they can, or where nobody can
        tell."""
        return "" if self.fidelity is None else self.fidelity.unchecked
