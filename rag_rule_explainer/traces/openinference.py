"""This module reads spans that OpenInference's instrumentations write, as Phoenix keeps them."""

from typing import Any

from .attributes import SpanAttributes
from .besides_texts import besides_texts, with_offers
from .bounds import as_data, as_structure
from .documents import artifact_in, traced_documents
from .messages import TracedMessage, has_calls, message_in
from .model_requests import request_in
from .opentelemetry import Envelope
from .spans import TracedDocument, TracedKind, TracedRequest, TracedSpan

_KINDS: dict[str, TracedKind] = {
    "RETRIEVER": "retrieval",
    "RERANKER": "rerank",
    "TOOL": "tool",
    "LLM": "model",
}


def openinference_span(envelope: Envelope) -> TracedSpan | None:
    """Returns a span of OpenInference; None for any other span."""
    attributes = envelope.attributes
    written = attributes.text("openinference.span.kind")
    if written is None and not attributes.any_under(("retrieval.documents", "reranker", "input.value")):
        return None
    kind = _KINDS.get((written or "").upper(), "other")
    if attributes.listed("reranker.output_documents"):
        kind = "rerank"
    output = attributes.get("output.value")
    documents = _documents(envelope, kind)
    return TracedSpan(
        **envelope.fields(),
        kind=kind,
        tracer="OpenInference",
        input=_given(attributes),
        output=as_data(output) if _is_json(attributes) else output,
        documents=documents,
        given=traced_documents(attributes.listed("reranker.input_documents")),
        request=_request(envelope) if kind == "model" else None,
        reply=_reply(envelope) if kind == "model" else None,
        model=attributes.text("llm.model_name"),
        session=attributes.text("session.id"),
    )


def _documents(envelope: Envelope, kind: TracedKind) -> tuple[TracedDocument, ...] | None:
    attributes = envelope.attributes
    output = attributes.get("output.value")
    if kind == "tool":
        return artifact_in(output) or traced_documents(output)
    if kind == "rerank":
        return traced_documents(attributes.listed("reranker.output_documents")) or traced_documents(
            output
        )
    if kind != "retrieval":
        return None
    written = traced_documents(attributes.listed("retrieval.documents"))
    # The attributes of a span lack the ids of LangChain's documents, so its output is read too.
    whole = traced_documents(output)
    if written is None or whole is None or len(whole) != len(written):
        return written or whole
    same = all(each.text in {None, other.text} for each, other in zip(whole, written, strict=True))
    return tuple(
        TracedDocument(other.text, other.id or each.id, {**each.metadata, **other.metadata})
        if same
        else other
        for each, other in zip(whole, written, strict=True)
    )


def _given(attributes: SpanAttributes) -> Any:
    given = attributes.get("input.value")
    is_json = attributes.text("input.mime_type") == "application/json"
    return as_data(given) if is_json else as_structure(given)


def _request(envelope: Envelope) -> TracedRequest | None:
    attributes = envelope.attributes
    offered = (attributes.listed("llm.tools"), attributes.get("llm.invocation_parameters"))
    return with_offers(_request_alone(attributes), {"tools": offered[0]}, offered[1])


def _request_alone(attributes: SpanAttributes) -> TracedRequest | None:
    listed = attributes.listed("llm.input_messages")
    messages = [message_in(each) for each in listed or ()]
    if messages and all(messages):
        said: tuple[TracedMessage, ...] = tuple(each for each in messages if each is not None)
        return TracedRequest(said, unread=besides_texts(listed))
    prompts = attributes.listed("llm.prompts")
    if prompts:
        return request_in({"prompts": prompts})
    # The span lists neither messages nor prompts, so the request is read from the span's input. If this
    # input has tool calls or results of tools, the span is no request: a request with calls lists its
    # messages, and was returned above. LlamaIndex writes such a span for the step that only prepares a
    # request, and marks this span as a call of a model, too. So None is returned.
    given = request_in(attributes.get("input.value"))
    return given if given is not None and not has_calls(attributes.get("input.value")) else None


def _reply(envelope: Envelope) -> str | None:
    listed = envelope.attributes.listed("llm.output_messages") or ()
    replies = [message_in(each) for each in listed]
    said = [each[1] for each in replies if each is not None]
    if said:
        return said[-1]
    output = envelope.attributes.get("output.value")
    return output if isinstance(output, str) and not _is_json(envelope.attributes) else None


def _is_json(attributes: SpanAttributes) -> bool:
    """Returns True iff the span says that its output is JSON. The output alone does not show this,
    because an answer in words may look like JSON."""
    return attributes.text("output.mime_type") == "application/json"
