"""This module makes and marks spans of OpenTelemetry, and the fields of OpenInference, in processes that
use it.

It imports only modules that the process has imported itself, so tracing costs nothing where it is not
used.
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
from .marks import Outcome, TraceMarks

_NAME = "rag_rule_explainer"
_TAGS, _METADATA = "tag.tags", "metadata"
"""The context keys of the tags and metadata that OpenInference puts on every span."""
_MARKS = "rag_rule_marks"
"""The context key of a replay's marks, for the spans that the application makes itself."""
_SUPPRESSING = ("suppress_instrumentation", "suppress_http_instrumentation")
"""The context keys that stop instrumentations, beside the one that OpenTelemetry makes."""


def in_use() -> bool:
    """Returns True iff the process has loaded OpenTelemetry, and so may export spans."""
    return "opentelemetry.trace" in sys.modules


class TracingSpan:
    """A TracingSpan ends later, in any thread. ``span``: OpenTelemetry's span."""

    def __init__(self, span: Any) -> None:
        self.span = span

    @property
    def id(self) -> str:
        """The id of the span as exporters write it; empty if the span is not recorded."""
        context = self.span.get_span_context()
        return f"{context.span_id:016x}" if context.is_valid else ""

    @property
    def is_recorded(self) -> bool:
        """True if the span is recorded for an exporter."""
        return bool(self.span.is_recording())

    def mark(self, marks: TraceMarks) -> None:
        """Adds the marks to the attributes."""
        self.span.set_attributes(dict(marks))

    def ended(self, outcome: Outcome) -> None:
        """Ends the span with the outcome of a replay."""
        mark(self.span, outcome)
        if outcome.error is not None:
            self.fail(outcome.error)
        self.span.end()

    def fail(self, error: BaseException) -> None:
        """Marks the span as failed."""
        from opentelemetry.trace import Status, StatusCode

        self.span.record_exception(error)
        self.span.set_status(Status(StatusCode.ERROR, type(error).__name__))


def mark(span: Any, outcome: Outcome) -> None:
    """Adds the outcome of a replay to a span: to its attributes, and to OpenInference's metadata."""
    attributes: Mapping[str, object] = getattr(span, "attributes", None) or {}
    metadata = _joined(attributes.get(_METADATA), outcome.marks)
    span.set_attributes({**outcome.marks, _METADATA: metadata})


def is_on() -> bool:
    """Returns True iff the process exports spans."""
    from opentelemetry import trace

    return hasattr(trace.get_tracer(_NAME), "span_processor")


def why_nobody(tracers: Iterable[Any] = ()) -> str:
    """Returns a note that the endpoint of these tracers' spans, or of the process's spans, does not
    answer; empty if they answer or cannot be checked. Blocks."""
    from opentelemetry import trace

    for tracer in (*tracers, trace.get_tracer(_NAME)):
        for endpoint in asked_at(tracer):
            dead = endpoints.why_not(endpoint)
            if dead:
                return dead
    return ""


def asked_at(tracer: Any) -> list[str]:
    """Returns the endpoints that a tracer's spans are exported to."""
    exporters = [
        getattr(each, "span_exporter", None)
        for each in getattr(getattr(tracer, "span_processor", None), "_span_processors", ())
    ]
    found = [getattr(each, "_endpoint", None) for each in exporters]
    return [each for each in found if isinstance(each, str)]


def mark_of(tracer: Any) -> None:
    """Adds a marker, once, to the provider of a tracer that begins a span in a run that is marked."""
    from opentelemetry import context

    if context.get_value(_MARKS) is not None and hasattr(tracer, "span_processor"):
        mark_own((tracer,))


def unrecorded() -> Any:
    """Returns a span that no exporter receives."""
    from opentelemetry import trace

    return trace.NonRecordingSpan(trace.SpanContext(1, 1, is_remote=False))


def mark_own(tracers: Iterable[Any] = ()) -> None:
    """Adds, once each, a marker to the span processors of these tracers and of the process.

    It marks every span that begins in a replay, stays for the life of the process, and does nothing
    outside replays.
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
    """Yields the span processor of each tracer, which all tracers of one provider share, and that of the
    process."""
    from opentelemetry import trace

    for tracer in (*tracers, trace.get_tracer(_NAME)):
        processor: Any = getattr(tracer, "span_processor", None)
        if processor is not None:
            yield processor


@cache
def _marker() -> Any:
    """Returns the span processor that copies the context's marks of a replay to each span that begins."""
    from opentelemetry import context
    from opentelemetry.sdk.trace import SpanProcessor

    class Marker(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            here = parent_context
            marks: Any = context.get_value(_MARKS, here)
            if marks is None:
                # The span has an explicit context, such as one without a parent.
                here, marks = None, context.get_value(_MARKS)
            if marks is None:
                return
            added = {**marks, **{key: context.get_value(key, here) for key in (_TAGS, _METADATA)}}
            known: Any = span.attributes or {}
            span.set_attributes({key: each for key, each in added.items() if key not in known})

    return Marker()


@contextmanager
def opened(
    name: str, marks: TraceMarks, tags: tuple[str, ...] = ()
) -> Generator[TracingSpan, None, None]:
    """Makes a new span the current one inside. The caller must end it."""
    from opentelemetry import trace

    span = trace.get_tracer(_NAME).start_span(name, attributes=_attributes(marks, tags))
    with current(span):
        yield TracingSpan(span)


def started(
    name: str, marks: TraceMarks, tracer: Any, *, tag: str = "", inside: TracingSpan | None = None
) -> TracingSpan:
    """Returns a new span of this tracer, whatever span is the current one. The caller must end it."""
    from opentelemetry import trace
    from opentelemetry.context import Context

    around = Context() if inside is None else trace.set_span_in_context(inside.span, Context())
    attributes = _attributes(marks, (tag,) if tag else ())
    # The context has the marks of a replay, which are not those of the explanation.
    with _attached(Context()):
        return TracingSpan(tracer.start_span(name, context=around, attributes=attributes))


def _attributes(marks: TraceMarks, tags: tuple[str, ...]) -> dict[str, Any]:
    return {
        **marks,
        "openinference.span.kind": "CHAIN",
        _METADATA: json.dumps(dict(marks)),
        **({_TAGS: list(tags)} if tags else {}),
    }


def is_root() -> bool:
    """Returns True iff a span that begins now has no parent."""
    from opentelemetry import trace

    return not trace.get_current_span().get_span_context().is_valid


@contextmanager
def current(span: Any) -> Generator[None, None, None]:
    """Makes this span the parent of those that begin inside."""
    from opentelemetry import trace

    with _attached(trace.set_span_in_context(span)):
        yield


def current_span() -> Any:
    """Returns the span that would be the parent of a new one."""
    from opentelemetry import trace

    return trace.get_current_span()


@contextmanager
def kept_context() -> Generator[None, None, None]:
    """Restores the current span at the end, whichever was made current inside."""
    from opentelemetry import context

    with _attached(context.get_current()):
        yield


@contextmanager
def marking(marks: TraceMarks, tag: str) -> Generator[None, None, None]:
    """Puts marks and a tag on every span inside; OpenInference keeps those of the user beside them."""
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
    """Keeps instrumentations from making spans inside, and the application's own spans from being
    sampled."""
    from opentelemetry import context, trace

    quiet = context.get_current()
    for key in _SUPPRESSING:
        quiet = context.set_value(key, True, quiet)
    made = getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    if made is not None:
        quiet = context.set_value(made, True, quiet)
    # Most samplers do not sample the child of a parent that is not sampled.
    with _attached(trace.set_span_in_context(unrecorded(), quiet)):
        yield


@contextmanager
def _attached(inside: Any) -> Generator[None, None, None]:
    from opentelemetry import context

    token = context.attach(inside)
    try:
        yield
    finally:
        context.detach(token)


def _joined(known: object, marks: TraceMarks) -> str:
    """Returns the existing metadata, as JSON, with the marks added."""
    found: Any = {}
    if isinstance(known, str):
        with suppress(ValueError):
            found = json.loads(known)
    before = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return json.dumps({**before, **marks})
