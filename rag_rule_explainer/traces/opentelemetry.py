"""This module reads the *envelope* of a span of OpenTelemetry: the fields that all spans have, such as
ids. The other fields depend on the tracer that wrote the span, so a module for each tracer reads them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from .attributes import SpanAttributes, listed_attributes
from .spans import TracedSpan
from .times import sortable_time

_ROWS = "attributes."
"""The prefix of the columns that hold attributes in a table of spans."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An ``Envelope`` holds the fields that all spans of OpenTelemetry have, such as the ids of the span
    and of its trace."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: str
    place: str
    attributes: SpanAttributes

    def fields(self) -> dict[str, Any]:
        """Returns, by name, those fields of a new ``TracedSpan`` that every span of OpenTelemetry has.
        The caller must add the fields that depend on the tracer."""
        names = ("trace", "id", "parent", "name", "start", "place")
        return {name: getattr(self, name) for name in names}


Convention = Callable[[Envelope], TracedSpan | None]
"""A function that reads a span of one convention; it returns None if the span follows another one."""


def envelope_of(record: Mapping[str, Any], place: str) -> Envelope | None:
    """Returns the envelope of a span: the fields that all spans of OpenTelemetry have. ``record``: a span
    in OTLP JSON, as the SDK or Phoenix exports it, or as a row of a table of spans. ``place``: where it
    was read, for messages. Returns None if the record is no span."""
    context = record.get("context")
    if isinstance(context, Mapping):
        inside = cast("Mapping[str, Any]", context)
    elif "context.span_id" in record:
        inside = {"span_id": record["context.span_id"], "trace_id": record.get("context.trace_id")}
    else:
        inside = record
    trace, own = _named(inside, "traceId", "trace_id"), _named(inside, "spanId", "span_id")
    attributes = _attributes(record)
    if own is None or attributes is None:
        return None
    parent = _named(record, "parentSpanId", "parent_span_id", "parent_id")
    starts = ("startTimeUnixNano", "start_time_unix_nano", "start_time")
    start = next((record[key] for key in starts if record.get(key) is not None), "")
    kind = record.get("span_kind")
    if isinstance(kind, str) and "openinference.span.kind" not in attributes:
        attributes["openinference.span.kind"] = kind
    name = record.get("name")
    return Envelope(
        trace or "",
        own,
        parent,
        name if isinstance(name, str) else "",
        f"{start:020d}" if isinstance(start, int) else sortable_time(str(start)).rjust(20, "0")[:64],
        place,
        SpanAttributes(attributes),
    )


def _attributes(record: Mapping[str, Any]) -> dict[str, Any] | None:
    given = record.get("attributes")
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    if isinstance(given, list):
        return listed_attributes(given)
    rows = {key.removeprefix(_ROWS): value for key, value in record.items() if key.startswith(_ROWS)}
    known = {"startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano"} & set(record)
    return rows if rows or known else None


def _named(fields: Mapping[str, Any], *keys: str) -> str | None:
    value = next((fields[key] for key in keys if fields.get(key)), None)
    return value.removeprefix("0x") if isinstance(value, str) else None
