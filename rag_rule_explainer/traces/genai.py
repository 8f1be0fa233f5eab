"""This module reads spans that follow OpenTelemetry's conventions for generative AI."""

from dataclasses import replace
from typing import Any

from .attributes import SpanAttributes
from .besides_texts import with_offers
from .bounds import as_data
from .documents import traced_documents
from .messages import content_text, messages_in
from .model_requests import request_in
from .opentelemetry import Envelope
from .spans import TracedKind, TracedRequest, TracedSpan

_KINDS: dict[str, TracedKind] = {
    "retrieval": "retrieval",
    "rerank": "rerank",
    "execute_tool": "tool",
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
}


def genai_span(envelope: Envelope) -> TracedSpan | None:
    """Returns a span of the GenAI conventions; None for any other span."""
    attributes = envelope.attributes
    operation = attributes.text("gen_ai.operation.name")
    if operation is None:
        return None
    kind = _KINDS.get(operation, "other")
    sent, said = attributes.get("gen_ai.input.messages"), attributes.get("gen_ai.output.messages")
    documents: Any = attributes.get(f"gen_ai.{operation}.documents")
    result = attributes.get("gen_ai.tool.call.result")
    query = attributes.get("gen_ai.retrieval.query.text")
    request = request_in(sent) if kind == "model" and sent is not None else None
    offered = {"tools": as_data(attributes.get("gen_ai.tool.definitions"))}
    request = with_offers(request, offered, {"response_format": _form(attributes)})
    replies = messages_in(said)
    return TracedSpan(
        **envelope.fields(),
        kind=kind,
        tracer="OpenTelemetry",
        input=as_data(sent if sent is not None else query),
        output=as_data(said if said is not None else result),
        documents=traced_documents(result if kind == "tool" else documents),
        request=request and _with_system(request, attributes.get("gen_ai.system_instructions")),
        reply=replies[-1][1] if replies and kind == "model" else None,
        model=attributes.text("gen_ai.response.model") or attributes.text("gen_ai.request.model"),
        session=attributes.text("gen_ai.conversation.id"),
    )


def _form(attributes: SpanAttributes) -> Any:
    form = attributes.get("gen_ai.output.type")
    return None if form in {None, "text"} else form


def _with_system(request: TracedRequest, instructions: Any) -> TracedRequest:
    text = content_text(as_data(instructions))
    return replace(request, messages=(("system", text), *request.messages)) if text else request
