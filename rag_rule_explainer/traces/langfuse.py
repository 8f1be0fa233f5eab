"""This module reads observations of Langfuse, from its API, its exports, and its spans."""

from collections.abc import Mapping
from typing import Any, cast

from .besides_texts import with_offers
from .bounds import as_structure
from .documents import artifact_in, traced_documents
from .messages import traced_reply
from .model_requests import request_in
from .opentelemetry import Envelope
from .spans import TracedKind, TracedSpan
from .times import sortable_time

_KINDS: dict[str, TracedKind] = {"RETRIEVER": "retrieval", "TOOL": "tool", "GENERATION": "model"}
_TYPES = frozenset({*_KINDS, "SPAN", "EVENT", "AGENT", "CHAIN", "EVALUATOR", "EMBEDDING", "GUARDRAIL"})
_OBSERVATION = "langfuse.observation"


def langfuse_observation(record: Mapping[str, Any], place: str) -> TracedSpan | None:
    """Returns an observation in the form of the API as a span; None for any other record."""
    kind, own = record.get("type"), record.get("id")
    trace = record.get("traceId", record.get("trace_id"))
    if not (isinstance(kind, str) and isinstance(own, str) and isinstance(trace, str)):
        return None
    if kind.upper() not in _TYPES:
        return None
    fields = {_snake(key): value for key, value in record.items()}
    name, parent = fields.get("name"), fields.get("parent_observation_id")
    models = (fields.get(key) for key in ("provided_model_name", "model", "model_name"))
    session = fields.get("session_id")
    return _span(
        {
            "trace": trace,
            "id": own,
            "parent": parent if isinstance(parent, str) else None,
            "name": name if isinstance(name, str) else "",
            "start": sortable_time(str(fields.get("start_time") or "")),
            "place": place,
            "model": next((each for each in models if isinstance(each, str)), None),
            "session": session if isinstance(session, str) else None,
        },
        kind,
        as_structure(fields.get("input")),
        as_structure(fields.get("output")),
        fields.get("model_parameters"),
    )


def langfuse_span(envelope: Envelope) -> TracedSpan | None:
    """Returns a span that Langfuse's SDK sends; None for any other span."""
    attributes = envelope.attributes
    kind = attributes.text(f"{_OBSERVATION}.type")
    if kind is None:
        return None
    return _span(
        {
            **envelope.fields(),
            "model": attributes.text(f"{_OBSERVATION}.model.name"),
            "session": attributes.text("session.id"),
        },
        kind,
        as_structure(attributes.get(f"{_OBSERVATION}.input")),
        as_structure(attributes.get(f"{_OBSERVATION}.output")),
        attributes.get(f"{_OBSERVATION}.model.parameters"),
    )


def _span(fields: dict[str, Any], written: str, given: Any, made: Any, parameters: Any) -> TracedSpan:
    kind = _KINDS.get(written.upper(), "other")
    documents = traced_documents(made) if kind == "retrieval" else None
    if kind == "tool":
        documents = artifact_in(made) or traced_documents(made)
    return TracedSpan(
        **fields,
        kind=kind,
        tracer="Langfuse",
        input=given,
        output=made,
        documents=documents,
        request=with_offers(request_in(given), parameters) if kind == "model" else None,
        reply=traced_reply(made) if kind == "model" else None,
    )


def langfuse_conversation(record: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """Returns the ids of the trace and of its conversation (None if there is none) that an export of a
    trace names beside its observations. Returns None for any other record."""
    held = record.get("trace")
    fields = cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else record
    session, trace = fields.get("sessionId", fields.get("session_id")), fields.get("id")
    known = {"projectId", "project_id", "sessionId", "session_id", "userId"} & set(fields)
    if not (isinstance(trace, str) and known):
        return None
    return trace, session if isinstance(session, str) else None


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)
