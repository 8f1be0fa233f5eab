"""This module reads traces of MLflow."""

from collections.abc import Mapping
from typing import Any, cast

from .bounds import parsed
from .documents import artifact_in, documents_in
from .messages import reply_in, request_in
from .opentelemetry import Envelope
from .spans import Span, SpanKind

_KINDS: dict[str, SpanKind] = {
    "RETRIEVER": "retrieval",
    "RERANKER": "rerank",
    "TOOL": "tool",
    "LLM": "model",
    "CHAT_MODEL": "model",
}


def mlflow_span(envelope: Envelope) -> Span | None:
    """Returns a span of MLflow; None for any other span."""
    attributes = envelope.attributes
    if not attributes.any_under(("mlflow.spanType", "mlflow.traceRequestId", "mlflow.spanInputs")):
        return None
    fields = envelope.fields()
    trace, kind = (
        parsed(attributes.get("mlflow.traceRequestId")),
        parsed(attributes.get("mlflow.spanType")),
    )
    kind = _KINDS.get(kind, "other") if isinstance(kind, str) else "other"
    given, made = (parsed(attributes.get(f"mlflow.span{what}")) for what in ("Inputs", "Outputs"))
    model = parsed(attributes.get("mlflow.llm.model"))
    return Span(
        **{**fields, "trace": trace if isinstance(trace, str) else fields["trace"]},
        kind=kind,
        tracer="MLflow",
        input=given,
        output=made,
        documents=_documents(kind, made),
        request=request_in(given) if kind == "model" else None,
        reply=reply_in(made) if kind == "model" else None,
        model=model if isinstance(model, str) else None,
    )


def _documents(kind: SpanKind, made: Any) -> Any:
    if kind == "tool":
        return artifact_in(made) or documents_in(made)
    return documents_in(made) if kind in {"retrieval", "rerank"} else None


def mlflow_conversation(record: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """Returns the trace and the conversation that the information on a trace names; None for any other
    record."""
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
