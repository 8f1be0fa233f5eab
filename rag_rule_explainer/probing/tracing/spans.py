"""This module makes spans of OpenTelemetry, and adds metadata about replays to spans. It is used only in
processes that have loaded OpenTelemetry, so all other processes need not load it."""

import json
import sys
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import Any, cast
from weakref import WeakSet

from . import endpoints
from .attaching import Attached, contexts
from .marks import Outcome, TraceMarks
from .receivers import Receivers

_NAME = "rag_rule_explainer"
_TAGS, _METADATA = "tag.tags", "metadata"
"""The keys of tags and metadata in OpenTelemetry's context. OpenInference reads them there and adds them
to every span."""
_MARKS = "rag_rule_marks"
"""The key of a replay's marks in OpenTelemetry's context. Marks are metadata that say to which replay a
span belongs. They are read from the context whenever the application starts a span of its own."""
_SUPPRESSING = ("suppress_instrumentation", "suppress_http_instrumentation")
"""The keys in OpenTelemetry's context that keep instrumentations from making spans. ``silenced`` sets one
more such key, whose name OpenTelemetry makes when it is imported."""


def in_use() -> bool:
    """Returns True iff the process has loaded OpenTelemetry. Only then can it export spans."""
    return "opentelemetry.trace" in sys.modules


class TracingSpan:
    """A TracingSpan wraps a span of OpenTelemetry, which other code ends later, in any thread."""

    def __init__(self, span: Any) -> None:
        self.span = span

    @property
    def id(self) -> str:
        """Returns the span's id in hexadecimal digits, as exporters write it; empty if the span has no
        valid id."""
        context = self.span.get_span_context()
        return f"{context.span_id:016x}" if context.is_valid else ""

    @property
    def is_recorded(self) -> bool:
        """Returns True if the span is recorded, so that an exporter can receive it."""
        return bool(self.span.is_recording())

    def mark(self, marks: TraceMarks) -> None:
        """Adds marks (metadata about a replay) to the attributes of the span."""
        self.span.set_attributes(dict(marks))

    def ended(self, outcome: Outcome) -> None:
        """Adds the outcome of a replay to the span, and ends the span."""
        mark(self.span, outcome)
        if outcome.error is not None:
            self.fail(outcome.error)
        self.span.end()

    def fail(self, error: BaseException) -> None:
        """Records an error on the span, and sets the status of the span to failed."""
        from opentelemetry.trace import Status, StatusCode

        self.span.record_exception(error)
        self.span.set_status(Status(StatusCode.ERROR, type(error).__name__))


def mark(span: Any, outcome: Outcome) -> None:
    """Adds the outcome of a replay to a span: to its attributes, and to OpenInference's metadata."""
    attributes: Mapping[str, object] = getattr(span, "attributes", None) or {}
    metadata = _joined(attributes.get(_METADATA), outcome.marks)
    span.set_attributes({**outcome.marks, _METADATA: metadata})


def is_on() -> bool:
    """Returns True iff the process has set a provider that can export spans."""
    from opentelemetry import trace

    return hasattr(trace.get_tracer(_NAME), "span_processor")


def why_all_dead(tracers: Iterable[Any] = ()) -> str:
    """Checks the endpoints to which spans of ``tracers`` and of the process are exported. If none
    answers, returns a note for the user about the first of them; otherwise an empty text. Blocks."""
    from opentelemetry import trace

    found = [Receivers.of(each, why_dead) for each in (*tracers, trace.get_tracer(_NAME))]
    if any(each.has_live_exporter for each in found):
        return ""
    return next((each.why for each in found if each.why), "")


def why_dead(endpoint: str) -> str:
    """Returns a note for the user if the endpoint does not answer; an empty text if it answers, or if
    ``endpoint`` is empty."""
    return endpoints.why_not(endpoint) if endpoint else ""


def mark_of(tracer: Any) -> None:
    """Makes sure that spans of this tracer get the marks (metadata) of the replay to which this context
    belongs."""
    from opentelemetry import context

    if context.get_value(_MARKS) is not None and hasattr(tracer, "span_processor"):
        mark_own((tracer,))


def unrecorded() -> Any:
    """Returns a span that is never recorded, so no exporter receives it."""
    from opentelemetry import trace

    return trace.NonRecordingSpan(trace.SpanContext(1, 1, is_remote=False))


def mark_own(tracers: Iterable[Any] = ()) -> None:
    """Makes sure that every span of these tracers and of the process gets the marks of its replay. To do
    so, a marker is added to the span processors of the tracers. The marker stays there as long as the
    process runs, but does nothing outside replays."""
    for processor in _processors(tracers):
        with _GUARD:
            if processor in _MARKED or not hasattr(processor, "add_span_processor"):
                continue
            _MARKED.add(processor)
        processor.add_span_processor(_marker())


_GUARD = threading.Lock()
_MARKED: "WeakSet[Any]" = WeakSet()


def _processors(tracers: Iterable[Any]) -> Generator[Any, None, None]:
    """Yields the span processor of each of these tracers, and the span processor of the provider that is
    set for the whole process. All tracers of one provider share a span processor."""
    from opentelemetry import trace

    for tracer in (*tracers, trace.get_tracer(_NAME)):
        processor: Any = getattr(tracer, "span_processor", None)
        if processor is not None:
            yield processor


@cache
def _marker() -> Any:
    """Returns the marker: a span processor that copies a replay's marks (metadata) from the context to
    each span that begins."""
    from opentelemetry import context
    from opentelemetry.sdk.trace import SpanProcessor

    class Marker(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            here = parent_context
            marks: Any = context.get_value(_MARKS, here)
            if marks is None:
                # The span was given a context of its own, which has no marks (metadata). The marks of the
                # current context are used instead.
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
    """Begins a span and makes it the current one during the block. The caller must end the span."""
    from opentelemetry import trace

    tracer = trace.get_tracer(_NAME)
    span = Receivers.of(tracer, why_dead).limit(
        tracer.start_span(name, attributes=_attributes(marks, tags))
    )
    with current(span):
        yield TracingSpan(span)


def started(
    name: str, marks: TraceMarks, tracer: Any, *, tag: str = "", inside: TracingSpan | None = None
) -> TracingSpan:
    """Begins a span with this tracer and returns it. The caller must end the span. ``inside``: its
    parent; None for no parent. The current span is not used as the parent."""
    from opentelemetry import trace
    from opentelemetry.context import Context

    around = Context() if inside is None else trace.set_span_in_context(inside.span, Context())
    attributes = _attributes(marks, (tag,) if tag else ())
    # The current context may have the marks (metadata) of a replay, which the marker would add to this
    # span too. An empty context prevents that.
    with Attached(Context()):
        span = tracer.start_span(name, context=around, attributes=attributes)
        return TracingSpan(Receivers.of(tracer, why_dead).limit(span))


def _attributes(marks: TraceMarks, tags: tuple[str, ...]) -> dict[str, Any]:
    return {
        **marks,
        "openinference.span.kind": "CHAIN",
        _METADATA: json.dumps(dict(marks)),
        **({_TAGS: list(tags)} if tags else {}),
    }


def is_root() -> bool:
    """Returns True iff a span that begins now would have no parent, as there is no current span."""
    from opentelemetry import trace

    return not trace.get_current_span().get_span_context().is_valid


@contextmanager
def current(span: Any) -> Generator[None, None, None]:
    """Makes ``span`` the parent of spans that begin in the block."""
    from opentelemetry import trace

    with Attached(trace.set_span_in_context(span)):
        yield


def current_span() -> Any:
    """Returns the current span: the one that becomes the parent of a new span."""
    from opentelemetry import trace

    return trace.get_current_span()


def lasting() -> Any:
    """Returns a substitute for the current span. The substitute can still be the parent of new spans
    after the current span has ended."""
    from opentelemetry import trace

    return trace.NonRecordingSpan(trace.get_current_span().get_span_context())


@contextmanager
def kept_context() -> Generator[None, None, None]:
    """At the end of the block, makes the span current again that was current at the start of the
    block."""
    from opentelemetry import context

    with Attached(context.get_current()):
        yield


def marking(marks: TraceMarks, tag: str) -> AbstractContextManager[None]:
    """Adds marks (metadata) and a tag to every span that begins in the block. Tags and metadata that the
    user has set by OpenInference stay too."""
    context = contexts()
    around: Mapping[str, object] = context.get_current()
    found = around.get(_TAGS)
    tags = cast("list[str]", found) if isinstance(found, list) else []
    added = {
        _TAGS: [*(each for each in tags if each != tag), tag],
        _MARKS: dict(marks),
        _METADATA: _joined(around.get(_METADATA), marks),
    }
    # One copy of the context gets all three values, because ``set_value()`` would make a copy for each
    # value.
    return Attached(context.Context({**around, **added}))


@contextmanager
def silenced() -> Generator[None, None, None]:
    """Hides the block from tracing: instrumentations make no spans, other spans are not sampled."""
    from opentelemetry import context, trace

    quiet = context.get_current()
    for key in _SUPPRESSING:
        quiet = context.set_value(key, True, quiet)
    made = getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    if made is not None:
        quiet = context.set_value(made, True, quiet)
    # Most samplers do not sample a span whose parent is not sampled. So an unsampled span becomes the
    # parent of all spans in the block.
    with Attached(trace.set_span_in_context(unrecorded(), quiet)):
        yield


def _joined(known: object, marks: TraceMarks) -> str:
    """Returns the metadata in ``known``, a text in JSON, with the marks added, as JSON. If ``known`` is
    anything else, returns only the marks."""
    found: Any = {}
    if isinstance(known, str):
        with suppress(ValueError):
            found = json.loads(known)
    before = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return json.dumps({**before, **marks})
