"""This module defines the *marks*: the metadata about explanations and replays that traces contain.

The marks of a replay are the id of its explanation, the id of the explained run, the ids of the retained
sources and, at its end, the verdict on its answer. The verdict is known only when the answer is judged,
so a tracer's record of a replay is ended only then. All runs of one explanation share one id.
"""

import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from logging import getLogger
from typing import Literal, NamedTuple, TypeAlias
from uuid import uuid4

from ...printable import shortened
from ...sources import Arrangement
from ...verdicts import Answer, Judgement, Verdict

EXPLANATION = "rag_rule_explanation"
"""The name of the root run, or span, of an explanation. It contains all other runs or spans of the
explanation."""
REPLAY = "rag_rule_replay"
"""The name of the run, or span, of one replay."""
BASELINE_TAG_NAME = "rag_rule_baseline"
"""The name of the span of the baseline (the run whose answer is explained), if no framework makes one."""
REPLAY_TAG = "rag-rule-replay"
BASELINE_TAG = "rag-rule-baseline"

ReplayPurpose: TypeAlias = Literal["baseline", "replay", "retry", "repeat check", "comparison"]
"""The purpose for which an explanation runs the application. "baseline": to get the answer to explain.
"replay": to probe a subset. "retry": to repeat a run that has failed. "repeat check": to test whether the
answer on all sources is the same again. "comparison": to compare the run with an earlier run on the same
sources."""
TraceMarks: TypeAlias = Mapping[str, str | int]

_LONGEST = 500
_NONE: TraceMarks = {}
_LOG = getLogger(__name__)


class Outcome(NamedTuple):
    """An Outcome holds the data that the trace of a replay shows at its end.

    ``marks``: metadata, such as the verdict. ``answer``: the text of the answer; None if there is none.
    ``error``: the error of a replay that has no answer; None if there is an answer.
    """

    marks: TraceMarks
    answer: str | None = None
    error: BaseException | None = None


EndListener: TypeAlias = Callable[[Outcome], Awaitable[None] | None]
"""A function that ends the run or span that a tracer has begun for a replay. It gets the outcome."""


class TracedReplay:
    """A TracedReplay holds the data about one replay for tracers such as LangSmith. A tracer's run or
    span for the replay ends once the answer of the replay is judged.

    ``kept``: the ids of the retained sources. ``number``: the number of the replay in its explanation,
    from 1. ``answered``: its arrangement (ordered sources) and its answer; None before the answer and
    after the end. A replay that was abandoned may still go on; if it begins a tracer's run after its end,
    that run is ended at once.
    """

    # An explanation keeps thousands of these objects, and tracers read few of them. To save memory, an
    # object has no lock and no dictionary of its own, and makes its texts only when a tracer reads them.
    __slots__ = (
        "_condition",
        "_endings",
        "_error",
        "_judgement",
        "_kept",
        "_kind",
        "_marks",
        "_number",
        "_text",
        "answered",
        "explanation",
    )

    def __init__(
        self, explanation: "TracedExplanation", kept: Iterable[str], kind: ReplayPurpose, number: int
    ) -> None:
        self.explanation = explanation
        self.answered: tuple[Arrangement, Answer] | None = None
        self._kept, self._kind, self._number = kept, kind, number
        self._marks: TraceMarks | None = None
        self._endings: tuple[EndListener, ...] = ()
        self._judgement: Judgement | None = None
        self._condition = ""
        self._text: str | None = None
        self._error: BaseException | None = None

    @property
    def is_baseline(self) -> bool:
        """Returns True if this replay is the run that gives the answer to explain."""
        return self._kind == "baseline"

    @property
    def marks(self) -> TraceMarks:
        """Returns the metadata that is known from the start; an empty mapping after the end."""
        marks = self._marks
        if marks is None:
            marks = self._marks = {
                **self.explanation.marks,
                "rag_rule_kept": ",".join(self._kept),
                "rag_rule_kind": self._kind,
                "rag_rule_number": self._number,
            }
        return marks

    @property
    def tag(self) -> str:
        """Returns the tag that all traces of this replay have, by which a user can filter traces."""
        return BASELINE_TAG if self.is_baseline else REPLAY_TAG

    @property
    def is_shown(self) -> bool:
        """Returns True if tracers receive the traces of this replay: always for a baseline; for other
        replays unless the user hides them."""
        return self.is_baseline or self.explanation.replays

    @property
    def ended(self) -> bool:
        """Returns True once ``end`` was called, so the outcome is known."""
        return self._judgement is not None

    def at_end(self, ending: EndListener) -> None:
        """Makes ``end`` call ``ending`` with the outcome. A coroutine function is awaited; any other
        function is called in a thread. If the replay has ended already, calls ``ending`` at once; but a
        coroutine function is then not called."""
        with self.explanation.guard:
            if self._judgement is None:
                self._endings = (*self._endings, ending)
                return
            outcome = self._outcome(self._judgement)
        if not inspect.iscoroutinefunction(ending):
            _call_ending(ending, outcome)

    async def end(
        self, judgement: Judgement, condition: str = "", error: BaseException | None = None
    ) -> None:
        """Ends the runs and spans of all tracers for this replay with its outcome. Only the first call
        has an effect. An error of a tracer is logged, not raised.

        ``judgement``: the judgement of the answer. ``condition``: the condition that was judged; empty
        for the explanation's own condition. ``error``: the error of a replay without an answer.
        """
        from .. import threads  # imported late: an explanation that is read from a file needs no threads

        with self.explanation.guard:
            if self._judgement is not None:
                return
            self._judgement, self._error = judgement, error
            self._condition = condition or self.explanation.condition
            self._text = None if self.answered is None else self.answered[1].text
            endings, self._endings = self._endings, ()
            # Replies stay in memory and refer to this object, so it drops data that it no longer needs.
            self.answered, self._kept, self._marks = None, (), _NONE
        self.explanation.forget(self)
        if not endings:
            return
        outcome = self._outcome(judgement)
        # The endings send data to tracers. These data belong to this replay too, so it is made the
        # current replay here.
        with being_traced(self):
            for ending in endings:
                if inspect.iscoroutinefunction(ending):
                    try:
                        await ending(outcome)
                    except Exception:
                        _LOG.warning("a tracer failed to end a replay", exc_info=True)
                else:
                    await threads.shared().run(_call_ending, ending, outcome)

    def _outcome(self, judgement: Judgement) -> Outcome:
        marks: dict[str, str | int] = {"rag_rule_verdict": judgement.verdict.value}
        if self._condition:
            marks["rag_rule_condition"] = shortened(self._condition, _LONGEST)
        if judgement.reason:
            marks["rag_rule_reason"] = shortened(judgement.reason, _LONGEST)
        return Outcome(marks, self._text, self._error)


def _call_ending(ending: EndListener, outcome: Outcome) -> None:
    try:
        ending(outcome)
    except Exception:
        _LOG.warning("a tracer failed to end a replay", exc_info=True)


@dataclass(eq=False)
class TracedExplanation:
    """A TracedExplanation holds the data about one explanation for tracers such as LangSmith.

    ``explained_run``: the tracer's id of the explained run; empty if it is not known. ``replays``: False
    to hide replays from all tracers. ``opens_spans``: True if this package makes the spans of
    OpenTelemetry, since no framework makes them. ``follows_threads``: True if this package marks the work
    of threads that replays start, since no integration does so. ``is_open``: True once there is a root
    run or span of the explanation.

    ``asked``: True once the endpoints of traces were checked. ``notes``: texts for the user about
    endpoints that do not answer. ``endpoints``: the endpoints that replays send to, each with such a note
    or, if it answers, an empty text. ``condition``: the condition of the explanation, in words. The marks
    of a replay name it, unless its answer was judged by another condition.
    """

    id: str = field(default_factory=lambda: str(uuid4()))
    explained_run: str = ""
    replays: bool = True
    opens_spans: bool = False
    follows_threads: bool = False
    is_open: bool = False
    asked: bool = False
    condition: str = ""
    notes: list[str] = field(default_factory=list[str])
    endpoints: dict[str, str] = field(default_factory=dict[str, str])
    guard: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _open: set[TracedReplay] = field(default_factory=set[TracedReplay])

    @property
    def marks(self) -> dict[str, str | int]:
        """Returns the metadata that all runs and spans of this explanation have."""
        marks: dict[str, str | int] = {"rag_rule_explanation": self.id}
        if self.explained_run:
            marks["rag_rule_explained_run"] = self.explained_run
        return marks

    @property
    def open(self) -> tuple[TracedReplay, ...]:
        """Returns the replays of this explanation that have not ended yet."""
        return tuple(self._open)

    def replay(self, kept: Iterable[str], kind: ReplayPurpose) -> TracedReplay:
        """Returns a new TracedReplay for a run of the application on some sources, and numbers it.
        ``kept``: the ids of these sources. ``kind``: the purpose of the run."""
        begun = TracedReplay(self, kept, kind, next(self._numbers))
        self._open.add(begun)
        return begun

    def take_note(self, note: str) -> None:
        """Adds a note for the user, unless it is there already."""
        if note not in self.notes:
            self.notes.append(note)

    def forget(self, replay: TracedReplay) -> None:
        """Removes a replay that has ended from the list of open replays."""
        self._open.discard(replay)

    async def close(self) -> None:
        """Closes the spans of replays whose answers nobody judged, even if the caller is cancelled."""
        import anyio  # imported late: an explanation that is read from a file needs no event loop

        with anyio.CancelScope(shield=True):
            for each in self.open:
                await each.end(Judgement(Verdict.UNKNOWN, "not judged"))


_current: ContextVar[TracedReplay | None] = ContextVar("rag_rule_traced_replay", default=None)


def current_replay() -> TracedReplay | None:
    """Returns the traced replay that this context belongs to; None if there is none."""
    return _current.get()


class being_traced:  # noqa: N801 -- it is used as a function, and a generator would take three times as long
    """This context manager makes ``replay`` the current replay during its block. With None, the block
    belongs to no replay."""

    __slots__ = ("_replay", "_token")

    def __init__(self, replay: TracedReplay | None) -> None:
        self._replay = replay

    def __enter__(self) -> None:
        self._token = _current.set(self._replay)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
