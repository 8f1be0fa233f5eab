"""Spans of OpenTelemetry, and what OpenInference reads beside them, in processes that use it.

Nothing is imported here that the process has not imported itself: who does not trace pays nothing.
"""

import json
import sys
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, cast
from weakref import WeakSet

from . import endpoints
from .marks import Marks, Outcome

_NAME = "rag_rule_explainer"
_TAGS, _METADATA = "tag.tags", "metadata"
"""Under which OpenInference looks, in the context, for what it puts on every span."""
_MARKS = "rag_rule_marks"
"""Under which a replay's marks are in the context, for the spans that the application makes itself."""
_SUPPRESSING = ("suppress_instrumentation", "suppress_http_instrumentation")
"""What instrumentations look for in the context, beside the key that OpenTelemetry makes."""


def in_use() -> bool:
    """Returns True iff the process has OpenTelemetry, and so may have somebody who exports spans."""
    return "opentelemetry.trace" in sys.modules


class TracingSpan:
    """This class is a span that ends later, in whatever thread. ``span``: OpenTelemetry's."""

    def __init__(self, span: Any) -> None:
        self.span = span

    @property
    def id(self) -> str:
        """Returns its id as exporters write it; empty where nobody records it."""
        context = self.span.get_span_context()
        return f"{context.span_id:016x}" if context.is_valid else ""

    @property
    def is_recorded(self) -> bool:
        """Returns False where nobody exports spans, or not this one."""
        return bool(self.span.is_recording())

    def mark(self, marks: Marks) -> None:
        """Adds attributes."""
        self.span.set_attributes(dict(marks))

    def ended(self, outcome: Outcome) -> None:
        """Ends it with what came of a replay."""
        mark(self.span, outcome)
        if outcome.error is not None:
            self.fail(outcome.error)
        self.span.end()

    def fail(self, error: BaseException) -> None:
        """Marks it as failed."""
        from opentelemetry.trace import Status, StatusCode

        self.span.record_exception(error)
        self.span.set_status(Status(StatusCode.ERROR, type(error).__name__))


def mark(span: Any, outcome: Outcome) -> None:
    """Adds to a span what came of a replay: as attributes, and to what OpenInference calls metadata."""
    attributes: Mapping[str, object] = getattr(span, "attributes", None) or {}
    metadata = _joined(attributes.get(_METADATA), outcome.marks)
    span.set_attributes({**outcome.marks, _METADATA: metadata})


def is_on() -> bool:
    """Returns True iff the process exports spans, wherever to."""
    from opentelemetry import trace

    return hasattr(trace.get_tracer(_NAME), "span_processor")


def why_nobody(tracers: Iterable[Any] = ()) -> str:
    """Says that where spans of these tracers, or of any other, are exported to, nobody answers; empty
    where somebody does, or where that cannot be known. Blocks."""
    for processor in _processors(tracers):
        for each in getattr(processor, "_span_processors", ()):
            endpoint: Any = getattr(getattr(each, "span_exporter", None), "_endpoint", None)
            dead = endpoints.why_not(endpoint) if isinstance(endpoint, str) else ""
            if dead:
                return dead
    return ""


def mark_own(tracers: Iterable[Any] = ()) -> None:
    """Has spans marked that are begun in a replay, whoever makes them: those that are exported as these
    tracers' are, or as any other. What does so stays, and does nothing outside of replays.
    """
    for processor in _processors(tracers):
        with _GUARD:
            if processor in _MARKED or not hasattr(processor, "add_span_processor"):
                continue
            _MARKED.add(processor)
        processor.add_span_processor(_marker())


_GUARD = threading.Lock()
_MARKED: "WeakSet[Any]" = WeakSet()


def _processors(tracers: Iterable[Any]) -> Generator[Any, None, None]:
    """Yields the one of each tracer, which all of one provider share, and that of the process."""
    from opentelemetry import trace

    for tracer in (*tracers, trace.get_tracer(_NAME)):
        processor: Any = getattr(tracer, "span_processor", None)
        if processor is not None:
            yield processor


@cache
def _marker() -> Any:
    """Returns what puts on a span, as it begins, what the context says of the replay that it belongs
    to."""
    from opentelemetry import context
    from opentelemetry.sdk.trace import SpanProcessor

    class Marker(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            here = parent_context
            marks: Any = context.get_value(_MARKS, here)
            if marks is None:
                # The span was given a context of its own, such as one without a parent.
                here, marks = None, context.get_value(_MARKS)
            if marks is None:
                return
            told = {**marks, **{key: context.get_value(key, here) for key in (_TAGS, _METADATA)}}
            known: Any = span.attributes or {}
            span.set_attributes({key: each for key, each in told.items() if key not in known})

    return Marker()


@contextmanager
def opened(name: str, marks: Marks, tags: tuple[str, ...] = ()) -> Generator[TracingSpan, None, None]:
    """Inside, a span of its own is the current one. It is ended by whoever calls this."""
    from opentelemetry import trace

    attributes = {
        **marks,
        "openinference.span.kind": "CHAIN",
        _METADATA: json.dumps(dict(marks)),
        **({_TAGS: list(tags)} if tags else {}),
    }
    span = trace.get_tracer(_NAME).start_span(name, attributes=attributes)
    with current(span):
        yield TracingSpan(span)


@contextmanager
def current(span: Any) -> Generator[None, None, None]:
    """Inside, what is begun belongs to this span."""
    from opentelemetry import trace

    with _attached(trace.set_span_in_context(span)):
        yield


def current_span() -> Any:
    """Returns the span that what is begun belongs to."""
    from opentelemetry import trace

    return trace.get_current_span()


@contextmanager
def kept_context() -> Generator[None, None, None]:
    """Afterwards the current span is what it was before, whatever was made current meanwhile."""
    from opentelemetry import context

    with _attached(context.get_current()):
        yield


@contextmanager
def marking(marks: Marks, tag: str) -> Generator[None, None, None]:
    """Inside, these marks are put on every span, by OpenInference beside what the user has put there."""
    from opentelemetry import context

    found = context.get_value(_TAGS)
    tags = cast("list[str]", found) if isinstance(found, list) else []
    known = context.set_value(_TAGS, [*(each for each in tags if each != tag), tag])
    known = context.set_value(_MARKS, dict(marks), known)
    known = context.set_value(_METADATA, _joined(context.get_value(_METADATA), marks), known)
    with _attached(known):
        yield


@contextmanager
def silenced() -> Generator[None, None, None]:
    """Inside, no instrumentation makes spans, and those that the application makes are not sampled."""
    from opentelemetry import context, trace

    quiet = context.get_current()
    for key in _SUPPRESSING:
        quiet = context.set_value(key, True, quiet)
    made = getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    if made is not None:
        quiet = context.set_value(made, True, quiet)
    # A parent that is not sampled: samplers go by it, unless they are told not to.
    unsampled = trace.SpanContext(1, 1, is_remote=False)
    with _attached(trace.set_span_in_context(trace.NonRecordingSpan(unsampled), quiet)):
        yield


@contextmanager
def _attached(inside: Any) -> Generator[None, None, None]:
    from opentelemetry import context

    token = context.attach(inside)
    try:
        yield
    finally:
        context.detach(token)


def _joined(known: object, marks: Marks) -> str:
    """Returns the metadata that are there already, as JSON, with the marks."""
    found: Any = {}
    if isinstance(known, str):
        with suppress(ValueError):
            found = json.loads(known)
    before = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return json.dumps({**before, **marks})
