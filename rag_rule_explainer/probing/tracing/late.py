"""This module begins the spans of an explanation late, if only the application knows where spans are
exported.

An application may export its spans by a provider of its own instead of OpenTelemetry's provider for the
whole process. The application's provider becomes known only when the application begins its first span.
The spans of the explanation and of the replay are then begun with it, around the application's span.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from . import spans
from .marks import (
    BASELINE_TAG,
    BASELINE_TAG_NAME,
    EXPLANATION,
    REPLAY,
    Outcome,
    TracedExplanation,
    TracedReplay,
    TraceMarks,
    current_replay,
)


class LateSpans:
    """This class holds the late spans of one explanation: the spans of the explanation and of its replays
    that begin only when the application begins its first span with its own provider. Thread-safe."""

    def __init__(self, explanation: TracedExplanation) -> None:
        self._explanation = explanation
        self._guard = threading.Lock()
        self._root: spans.TracingSpan | None = None
        self._first: spans.TracingSpan | None = None
        self._replays: dict[TracedReplay, spans.TracingSpan] = {}

    def around(self, tracer: Any, replay: TracedReplay | None) -> spans.TracingSpan:
        """Returns the parent for a span that ``tracer`` is about to begin. The parent is the span of
        ``replay``; if ``replay`` is None, it is the span of the explained run (the run of the application
        whose answer is explained). Begins the parent if it does not exist."""
        with self._guard:
            if self._root is None:
                self._root = spans.started(EXPLANATION, self._explanation.marks, tracer)
            if replay is not None:
                return self._around_replay(tracer, replay, self._root)
            if self._first is None:
                marks = first_marks(self._explanation)
                self._first = spans.started(
                    BASELINE_TAG_NAME, marks, tracer, tag=BASELINE_TAG, inside=self._root
                )
            return self._first

    def _around_replay(
        self, tracer: Any, replay: TracedReplay, root: spans.TracingSpan
    ) -> spans.TracingSpan:
        if replay.ended:
            return root  # the replay was abandoned and has ended, so it gets no span of its own
        if replay not in self._replays:
            name = BASELINE_TAG_NAME if replay.is_baseline else REPLAY
            span = spans.started(name, replay.marks, tracer, tag=replay.tag, inside=root)
            self._replays[replay] = span
            replay.at_end(partial(self._end_replay, replay))
            if replay.is_baseline:
                self._explanation.explained_run = span.id
        return self._replays[replay]

    def _end_replay(self, replay: TracedReplay, outcome: Outcome) -> None:
        with self._guard:
            span = self._replays.pop(replay, None)
        if span is not None:
            span.ended(outcome)

    def end_first(self) -> None:
        """Ends the span of the explained run, if there is one. The explained run gets the id of this
        span, unless it has an id from the framework."""
        with self._guard:
            if self._first is not None:
                self._first.span.end()
                self._explanation.explained_run = self._explanation.explained_run or self._first.id

    def end(self, error: BaseException | None = None) -> None:
        """Ends the span of the explanation, if it was begun. ``error``: the error of the explanation;
        None if it did not fail."""
        with self._guard:
            if self._root is not None:
                if error is not None:
                    self._root.fail(error)
                self._root.mark(self._explanation.marks)
                self._root.span.end()


_explained: ContextVar[LateSpans | None] = ContextVar("rag_rule_late_spans", default=None)
"""The ``LateSpans`` of the explanation that this context belongs to; None outside an explanation."""
_first_run: ContextVar[bool] = ContextVar("rag_rule_traced_first_run", default=False)


def span_around(tracer: Any) -> spans.TracingSpan | None:
    """Returns the parent for a span that ``tracer`` is about to begin. Returns None if that span has a
    parent already, or belongs neither to a replay nor to the explained run."""
    late, replay = _explained.get(), current_replay()
    if late is None or (replay is None and not _first_run.get()) or not spans.is_root():
        return None
    return late.around(tracer, replay)


@contextmanager
def possible(explanation: TracedExplanation) -> Generator[None, None, None]:
    """During the block, lets ``span_around`` begin the spans of this explanation and of its replays as
    soon as the application begins a span. At the end of the block, ends the span of the explanation."""
    late = LateSpans(explanation)
    token = _explained.set(late)
    error: BaseException | None = None
    try:
        yield
    except BaseException as raised:
        error = raised
        raise
    finally:
        with suppress(ValueError):  # the garbage collector may end a stream in another context
            _explained.reset(token)
        late.end(error)


@contextmanager
def first_run() -> Generator[None, None, None]:
    """Treats the block as the explained run (the run of the application whose answer is explained).
    Spans without a parent that begin in the block become children of this run's span. At the end of the
    block, ends the span of this run."""
    token, late = _first_run.set(True), _explained.get()
    try:
        yield
    finally:
        with suppress(ValueError):  # the garbage collector may end a stream in another context
            _first_run.reset(token)
        if late is not None:
            late.end_first()


def is_first_run() -> bool:
    """Returns True iff this context belongs to the run that is explained."""
    return _first_run.get()


def first_marks(explanation: TracedExplanation) -> TraceMarks:
    """Returns the marks, the metadata for traces, of the run that is explained."""
    return {**explanation.marks, "rag_rule_kind": "baseline"}
