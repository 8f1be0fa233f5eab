"""This module defines the marks that traces carry on an explanation and its replays.

All runs of one question share one id. A replay's marks name its explanation, the explained run, the
retained sources and, at its end, the verdict on its answer. That is known only after the judging, so the
run of a replay ends after it.
"""

import inspect
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
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
"""The name of the run, or span, that holds all others of one explanation."""
REPLAY = "rag_rule_replay"
"""The name of the run, or span, of one replay."""
BASELINE_TAG_NAME = "rag_rule_baseline"
"""The name of a baseline's span if no framework names it."""
REPLAY_TAG = "rag-rule-replay"
BASELINE_TAG = "rag-rule-baseline"

ReplayPurpose: TypeAlias = Literal["baseline", "replay", "retry", "repeat check", "comparison"]
"""The purpose of a run of the application."""
TraceMarks: TypeAlias = Mapping[str, str | int]

_LONGEST = 500
_NONE: TraceMarks = {}
_LOG = getLogger(__name__)


class Outcome(NamedTuple):
    """An Outcome is the end of a replay as its trace shows it. ``error``: set if the replay has no
    answer."""

    marks: TraceMarks
    answer: str | None = None
    error: BaseException | None = None


EndTelling: TypeAlias = Callable[[Outcome], Awaitable[None] | None]
"""Ends the run or span that a tracer has begun for a replay."""


class TracedReplay:
    """A TracedReplay is one replay as tracers know it; their runs end once the replay was judged.

    ``marks``: known from the start. ``answered``: its arrangement and answer, until it has ended. A
    replay that was abandoned may still run; a run that it begins then is ended at once.
    """

    def __init__(self, explanation: "TracedExplanation", marks: TraceMarks, *, is_baseline: bool) -> None:
        self.explanation = explanation
        self.marks: TraceMarks = marks
        self.is_baseline = is_baseline
        self.answered: tuple[Arrangement, Answer] | None = None
        self._endings: list[EndTelling] = []
        self._outcome: Outcome | None = None
        self._guard = threading.Lock()

    @property
    def tag(self) -> str:
        """The tag by which the user filters traces."""
        return BASELINE_TAG if self.is_baseline else REPLAY_TAG

    @property
    def is_shown(self) -> bool:
        """True if tracers receive the replay."""
        return self.is_baseline or self.explanation.replays

    @property
    def ended(self) -> bool:
        """True if the outcome is known."""
        return self._outcome is not None

    def at_end(self, ending: EndTelling) -> None:
        """Calls ``ending`` with the outcome once it is known; in another thread, unless it is a coroutine
        function."""
        with self._guard:
            outcome = self._outcome
            if outcome is None:
                self._endings.append(ending)
                return
        if not inspect.iscoroutinefunction(ending):
            _tell(ending, outcome)

    async def end(
        self, judgement: Judgement, condition: str = "", error: BaseException | None = None
    ) -> None:
        """Calls every ending with the outcome, on the first call only; the error of a tracer is logged,
        not raised."""
        from .. import threads  # an explanation that is read from a file needs no event loop

        with self._guard:
            if self._outcome is not None:
                return
            marks: dict[str, str | int] = {"rag_rule_verdict": judgement.verdict.value}
            condition = condition or self.explanation.condition
            if condition:
                marks["rag_rule_condition"] = shortened(condition, _LONGEST)
            if judgement.reason:
                marks["rag_rule_reason"] = shortened(judgement.reason, _LONGEST)
            text = None if self.answered is None else self.answered[1].text
            self._outcome = outcome = Outcome(marks, text, error)
            endings, self._endings = self._endings, []
            # Kept replies refer to this object, so it drops what takes memory.
            self.answered, self.marks = None, _NONE
        self.explanation.forget(self)
        # What the endings send is the replay's as well.
        with being_traced(self):
            for ending in endings:
                if inspect.iscoroutinefunction(ending):
                    try:
                        await ending(outcome)
                    except Exception:
                        _LOG.warning("a tracer failed to end a replay", exc_info=True)
                else:
                    await threads.shared().run(_tell, ending, outcome)


def _tell(ending: EndTelling, outcome: Outcome) -> None:
    try:
        ending(outcome)
    except Exception:
        _LOG.warning("a tracer failed to end a replay", exc_info=True)


@dataclass(eq=False)
class TracedExplanation:
    """A TracedExplanation is one explanation as tracers know it.

    ``explained_run``: the tracer's id of the explained run. ``replays``: False hides replays from all
    tracers. ``opens_spans``: this package makes the OpenTelemetry spans, since no framework does.
    ``follows_threads``: this package marks the work of threads that replays start, since no integration
    does. ``is_open``: a run or span that holds all others exists. ``asked``: the endpoints were checked;
    ``notes`` name those that do not answer. ``endpoints``: those that replays were found to use, each
    with such a note; empty for one that answers. ``condition``: the condition on every answer, for
    replays that have none of their own.
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
    _numbers: Iterable[int] = field(default_factory=lambda: count(1))
    _open: set[TracedReplay] = field(default_factory=set[TracedReplay])

    @property
    def marks(self) -> dict[str, str | int]:
        """The marks that all runs of this explanation carry."""
        marks: dict[str, str | int] = {"rag_rule_explanation": self.id}
        if self.explained_run:
            marks["rag_rule_explained_run"] = self.explained_run
        return marks

    @property
    def open(self) -> tuple[TracedReplay, ...]:
        """The replays that have not ended."""
        return tuple(self._open)

    def replay(self, kept: Iterable[str], kind: ReplayPurpose) -> TracedReplay:
        """Begins a replay on the sources with these ids."""
        marks = {
            **self.marks,
            "rag_rule_kept": ",".join(kept),
            "rag_rule_kind": kind,
            "rag_rule_number": next(iter(self._numbers)),
        }
        begun = TracedReplay(self, marks, is_baseline=kind == "baseline")
        self._open.add(begun)
        return begun

    def take_note(self, note: str) -> None:
        """Adds a note for the reader, once."""
        if note not in self.notes:
            self.notes.append(note)

    def forget(self, replay: TracedReplay) -> None:
        """Drops a replay that has ended."""
        self._open.discard(replay)

    async def close(self) -> None:
        """Ends the replays that were never judged, even if the caller is cancelled."""
        import anyio  # imported late, as ``threads`` in ``end``

        with anyio.CancelScope(shield=True):
            for each in self.open:
                await each.end(Judgement(Verdict.UNKNOWN, "not judged"))


_current: ContextVar[TracedReplay | None] = ContextVar("rag_rule_traced_replay", default=None)


def current_replay() -> TracedReplay | None:
    """Returns the traced replay that this context belongs to; None if there is none."""
    return _current.get()


@contextmanager
def being_traced(replay: TracedReplay | None) -> Generator[None, None, None]:
    """Makes this the current replay inside; None makes it belong to no replay."""
    token = _current.set(replay)
    try:
        yield
    finally:
        _current.reset(token)
