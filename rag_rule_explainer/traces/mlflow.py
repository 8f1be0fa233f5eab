"""This module reads traces of MLflow."""

from collections.abc import Mapping
from typing import Any, cast

from .besides_texts import with_offers
from .bounds import as_data
from .documents import artifact_in, traced_documents
from .messages import traced_reply
from .model_requests import request_in
from .opentelemetry import Envelope
from .spans import TracedKind, TracedRequest, TracedSpan

_KINDS: dict[str, TracedKind] = {
    "RETRIEVER": "retrieval",
    "RERANKER": "rerank",
    "TOOL": "tool",
    "LLM": "model",
    "CHAT_MODEL": "model",
}


def mlflow_span(envelope: Envelope) -> TracedSpan | None:
    """Returns a span of MLflow; None for any other span."""
    attributes = envelope.attributes
    if not attributes.any_under(("mlflow.spanType", "mlflow.traceRequestId", "mlflow.spanInputs")):
        return None
    fields = envelope.fields()
    trace, kind = (
        as_data(attributes.get("mlflow.traceRequestId")),
        as_data(attributes.get("mlflow.spanType")),
    )
    kind = _KINDS.get(kind, "other") if isinstance(kind, str) else "other"
    given, made = (as_data(attributes.get(f"mlflow.span{what}")) for what in ("Inputs", "Outputs"))
    model = as_data(attributes.get("mlflow.llm.model"))
    return TracedSpan(
        **{**fields, "trace": trace if isinstance(trace, str) else fields["trace"]},
        kind=kind,
        tracer="MLflow",
        input=given,
        output=made,
        documents=_documents(kind, made),
        given=traced_documents(given) if kind == "rerank" else None,
        request=_request(envelope, given) if kind == "model" else None,
        reply=traced_reply(made) if kind == "model" else None,
        model=model if isinstance(model, str) else None,
    )


def _request(envelope: Envelope, given: Any) -> TracedRequest | None:
    attributes = envelope.attributes
    offered = {"tools": as_data(attributes.get("mlflow.chat.tools"))}
    return with_offers(request_in(given), offered, attributes.get("invocation_params"))


def _documents(kind: TracedKind, made: Any) -> Any:
    if kind == "tool":
        return artifact_in(made) or traced_documents(made)
    return traced_documents(made) if kind in {"retrieval", "rerank"} else None


def mlflow_conversation(record: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """Returns the ids of a trace and of its conversation (None if there is none) from MLflow's record
    about the trace. Returns None for any other record."""
    info = record.get("info")
    if not isinstance(info, Mapping):
        return None
    fields = cast("Mapping[str, Any]", info)
    trace = fields.get("trace_id") or fields.get("request_id")
    if not isinstance(trace, str):
        return None
    for key in ("trace_metadata", "request_metadata", "tags"):
        held = fields.get(key)
        session = (
            cast("Mapping[str, Any]", held).get("mlflow.trace.session")
            if isinstance(held, Mapping)
            else None
        )
        if isinstance(session, str):
            return trace, session
    return trace, None
