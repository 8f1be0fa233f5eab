"""This module writes notes as spans of OpenTelemetry, below the spans that they are about.

A span has its notes twice: as annotations in OpenInference's attributes, and as events that the GenAI
conventions name, so that tools of both kinds show them.
"""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import groupby
from typing import Any

from ...errors import NotSent
from .placed import ANNOTATION_NAME, PlacedNote, PlacedNotes
from .redirects import session_without_redirects

_CREDENTIALS = tuple(
    f"OTEL_PYTHON_EXPORTER_OTLP_HTTP_{kind}CREDENTIAL_PROVIDER" for kind in ("TRACES_", "")
)
_EVENT = "gen_ai.evaluation.result"


def otlp_payload(notes: PlacedNotes) -> dict[str, Any]:
    """Returns the spans as OTLP JSON, the body of ``POST /v1/traces``: one new child span for each span
    of the trace that has the answer or returned documents."""
    by_step = groupby(sorted(notes.each, key=lambda each: each.step), key=lambda each: each.step)
    spans = [_span(notes, step, list(placed)) for step, placed in by_step]
    resource = {"attributes": _listed({"service.name": "rag-rules"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def _span(notes: PlacedNotes, step: str, several: list[PlacedNote]) -> dict[str, Any]:
    time = _nanoseconds(notes.about.get("made_at", ""))
    attributes: dict[str, Any] = {"openinference.span.kind": "EVALUATOR"}
    for place, placed in enumerate(several):
        for key, value in _annotation(notes, placed).items():
            attributes[f"annotations.{place}.annotation.{key}"] = value
    return {
        "traceId": notes.trace,
        "spanId": notes.identity(several[0]).hex[:16],
        "parentSpanId": step,
        "name": ANNOTATION_NAME,
        "kind": 1,
        "startTimeUnixNano": time,
        "endTimeUnixNano": time,
        "attributes": _listed(attributes),
        "events": [
            {"name": _EVENT, "timeUnixNano": time, "attributes": _listed(_evaluation(notes, placed))}
            for placed in several
        ],
    }


def _annotation(notes: PlacedNotes, placed: PlacedNote) -> dict[str, str]:
    return {
        "name": ANNOTATION_NAME,
        "label": notes.label(placed),
        "explanation": placed.note.text,
        "annotator_kind": "CODE",
        "identifier": str(notes.identity(placed)),
        "metadata": json.dumps(notes.metadata(placed)),
    }


def _evaluation(notes: PlacedNotes, placed: PlacedNote) -> dict[str, str | int]:
    document = placed.document
    own = {} if document is None else {"rag_rule.document_position": document.position}
    return {
        "gen_ai.evaluation.name": ANNOTATION_NAME,
        "gen_ai.evaluation.score.label": notes.label(placed),
        "gen_ai.evaluation.explanation": placed.note.text,
        **own,
        **{f"rag_rule.{key}": value for key, value in notes.metadata(placed).items()},
    }


def _listed(attributes: Mapping[str, str | int]) -> list[dict[str, Any]]:
    # OTLP JSON has integers as texts.
    return [
        {
            "key": key,
            "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)},
        }
        for key, value in attributes.items()
    ]


def _nanoseconds(made_at: str) -> str:
    made = (
        datetime.fromisoformat(made_at.replace("Z", "+00:00")) if made_at else datetime.now(timezone.utc)
    )
    return str(int(made.timestamp()) * 10**9)


def otlp_client() -> Any:
    """Returns OpenTelemetry's exporter over HTTP, which reads its endpoint from the environment."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    # The environment may name a provider of credentials. The exporter then uses the session of this
    # provider.
    own = any(os.environ.get(each) for each in _CREDENTIALS)
    return OTLPSpanExporter(session=None if own else session_without_redirects())


def send_by_otlp(payload: dict[str, Any], client: Any) -> Iterator[int]:
    """Sends the spans, and yields the number of notes in them. ``client``: any exporter of spans."""
    from opentelemetry.sdk.trace.export import SpanExportResult

    (whole,) = payload["resourceSpans"]
    spans = [_readable(each) for each in whole["scopeSpans"][0]["spans"]]
    if client.export(spans) is not SpanExportResult.SUCCESS:
        raise NotSent("the endpoint of OTLP did not take the spans; its exporter has logged why")
    yield sum(len(each.events) for each in spans)


def _readable(span: dict[str, Any]) -> Any:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import SpanContext, SpanKind, TraceFlags

    trace, sampled = int(span["traceId"], 16), TraceFlags(TraceFlags.SAMPLED)
    own, parent = (
        SpanContext(trace, int(span[key], 16), is_remote=key != "spanId", trace_flags=sampled)
        for key in ("spanId", "parentSpanId")
    )
    return ReadableSpan(
        span["name"],
        context=own,
        parent=parent,
        resource=Resource({"service.name": "rag-rules"}),
        attributes=_plain(span["attributes"]),
        events=[
            Event(each["name"], _plain(each["attributes"]), int(each["timeUnixNano"]))
            for each in span["events"]
        ],
        kind=SpanKind.INTERNAL,
        start_time=int(span["startTimeUnixNano"]),
        end_time=int(span["endTimeUnixNano"]),
    )


def _plain(listed: list[dict[str, Any]]) -> dict[str, str | int]:
    return {
        each["key"]: int(value["intValue"])
        if "intValue" in (value := each["value"])
        else value["stringValue"]
        for each in listed
    }
