"""What traces say of an explanation and of its replays, whoever writes them.

All runs of one question are to be found under one name, and each replay says which explanation it
belongs to, which run is explained, what was retained, and, at its end, the verdict on its answer. That is
known only once the answer was judged, so the run of a replay ends after that.
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
"""The name of the span of a baseline that no framework has a name for."""
REPLAY_TAG = "rag-rule-replay"
BASELINE_TAG = "rag-rule-baseline"

ReplayPurpose: TypeAlias = Literal["baseline", "replay", "retry", "repeat check", "comparison"]
"""Why the application ran."""
Marks: TypeAlias = Mapping[str, str | int]

_LONGEST = 500
_NONE: Marks = {}
_LOG = getLogger(__name__)


class Outcome(NamedTuple):
    """What came of a replay, as its trace is told. ``error``: where it has no answer."""

    marks: Marks
    answer: str | None = None
    error: BaseException | None = None


EndTelling: TypeAlias = Callable[[Outcome], Awaitable[None] | None]
"""Ends what a tracer has begun for a replay."""


class TracedReplay:
    """This class is one replay as traces know it; its tracers' runs are ended when it was judged.

    ``marks``: what is known of it from the start; ``answered``: its answer, until it has ended. A replay
    that was given up may still run, and whatever it begins then is ended at once.
    """

    def __init__(self, explanation: "TracedExplanation", marks: Marks, *, is_baseline: bool) -> None:
        self.explanation = explanation
        self.marks: Marks = marks
        self.is_baseline = is_baseline
        self.answered: tuple[Arrangement, Answer] | None = None
        self._endings: list[EndTelling] = []
        self._outcome: Outcome | None = None
        self._guard = threading.Lock()

    @property
    def tag(self) -> str:
        """By which traces are filtered."""
        return BASELINE_TAG if self.is_baseline else REPLAY_TAG

    @property
    def ended(self) -> bool:
        """Returns whether its outcome has been told."""
        return self._outcome is not None

    def at_end(self, ending: EndTelling) -> None:
        """Has this called with the outcome; in another thread, unless it is a coroutine function."""
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
        """Tells everybody the outcome, the first time; a tracer that fails is logged, and that is all."""
        from .. import threads  # an explanation that is only read back needs no event loop

        with self._guard:
            if self._outcome is not None:
                return
            told: dict[str, str | int] = {"rag_rule_verdict": judgement.verdict.value}
            condition = condition or self.explanation.condition
            if condition:
                told["rag_rule_condition"] = shortened(condition, _LONGEST)
            if judgement.reason:
                told["rag_rule_reason"] = shortened(judgement.reason, _LONGEST)
            text = None if self.answered is None else self.answered[1].text
            self._outcome = outcome = Outcome(told, text, error)
            endings, self._endings = self._endings, []
            # Answers are kept for long, and this with them.
            self.answered, self.marks = None, _NONE
        self.explanation.forget(self)
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
    """This class is one explanation as traces know it.

    ``explained_run``: the id of the run that is explained, as its tracer knows it. ``replays``: False
    keeps replays from all tracers. ``opens_spans``: OpenTelemetry is told of it from here, as nobody else
    does. ``follows_threads``: what its replays begin threads for is marked from here, as no integration
    does that. ``is_open``: there is a run or a span by now that holds all others. ``asked``: it is known
    whether anybody would receive what is traced; ``notes`` say who would not. ``condition``: what is
    asked of every answer, for replays that have none.
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
    _numbers: Iterable[int] = field(default_factory=lambda: count(1))
    _open: set[TracedReplay] = field(default_factory=set[TracedReplay])

    @property
    def marks(self) -> dict[str, str | int]:
        """Returns what everything that belongs to it is marked with."""
        marks: dict[str, str | int] = {"rag_rule_explanation": self.id}
        if self.explained_run:
            marks["rag_rule_explained_run"] = self.explained_run
        return marks

    @property
    def open(self) -> tuple[TracedReplay, ...]:
        """Returns the replays that have not ended."""
        return tuple(self._open)

    def replay(self, kept: Iterable[str], kind: ReplayPurpose) -> TracedReplay:
        """Begins a replay on the sources of these ids."""
        marks = {
            **self.marks,
            "rag_rule_kept": ",".join(kept),
            "rag_rule_kind": kind,
            "rag_rule_number": next(iter(self._numbers)),
        }
        begun = TracedReplay(self, marks, is_baseline=kind == "baseline")
        self._open.add(begun)
        return begun

    def forget(self, replay: TracedReplay) -> None:
        """Notes that it has ended."""
        self._open.discard(replay)

    async def close(self) -> None:
        """Ends what was never judged, whatever cancels the caller."""
        import anyio  # as above

        with anyio.CancelScope(shield=True):
            for each in self.open:
                await each.end(Judgement(Verdict.UNKNOWN, "not judged"))


_current: ContextVar[TracedReplay | None] = ContextVar("rag_rule_traced_replay", default=None)


def current_replay() -> TracedReplay | None:
    """Returns the replay that is made in this context, where traces are to know it."""
    return _current.get()


@contextmanager
def being_traced(replay: TracedReplay) -> Generator[None, None, None]:
    """Inside, this is the replay that is made."""
    token = _current.set(replay)
    try:
        yield
    finally:
        _current.reset(token)
