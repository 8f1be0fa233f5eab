"""This module reads runs of LangSmith, and of LangChain's own tracers, which have the same form."""

from collections.abc import Mapping
from typing import Any, cast

from .besides_texts import with_offers
from .documents import artifact_in, traced_documents
from .messages import traced_reply
from .model_requests import request_in
from .spans import TracedKind, TracedRequest, TracedSpan
from .times import sortable_time

_KINDS: dict[str, TracedKind] = {"retriever": "retrieval", "tool": "tool", "llm": "model"}
_SESSIONS = ("session_id", "thread_id", "conversation_id")


def langsmith_span(record: Mapping[str, Any], place: str) -> TracedSpan | None:
    """Returns a run as a span; None for any other record."""
    run_type, own = record.get("run_type"), record.get("id")
    if not isinstance(run_type, str) or not isinstance(own, str):
        return None
    parent, kind = record.get("parent_run_id"), _KINDS.get(run_type, "other")
    given, made = _alone(record.get("inputs"), "input"), _alone(record.get("outputs"), "output")
    metadata = _metadata(record)
    sessions = (metadata.get(key) for key in _SESSIONS)
    model = metadata.get("ls_model_name")
    name, project = record.get("name"), record.get("session_id")
    return TracedSpan(
        trace=_trace(record, own),
        id=own,
        parent=parent if isinstance(parent, str) else None,
        kind=kind,
        name=name if isinstance(name, str) else "",
        place=place,
        tracer="LangSmith",
        start=sortable_time(str(record.get("start_time") or record.get("dotted_order") or "")),
        input=given,
        output=made,
        documents=_documents(kind, made),
        request=_request(record) if kind == "model" else None,
        reply=traced_reply(record.get("outputs")) if kind == "model" else None,
        model=model if isinstance(model, str) else None,
        session=next((each for each in sessions if isinstance(each, str)), None),
        # LangSmith's word for a project is session, so ``session_id`` is not the id of a conversation.
        project=project if isinstance(project, str) else None,
    )


def _request(record: Mapping[str, Any]) -> TracedRequest | None:
    request, extra = request_in(record.get("inputs")), record.get("extra")
    if not isinstance(extra, Mapping):
        return request
    fields = cast("Mapping[str, Any]", extra)
    return with_offers(request, fields.get("invocation_params"), fields.get("options"))


def _documents(kind: TracedKind, made: Any) -> Any:
    if kind == "tool":
        return artifact_in(made) or traced_documents(made)
    return traced_documents(made) if kind == "retrieval" else None


def _alone(given: Any, key: str) -> Any:
    """Returns the value of a dict whose only key is ``key``; anything else unchanged. LangChain puts
    inputs and outputs that are no dicts into such dicts."""
    if isinstance(given, Mapping) and set(cast("Mapping[str, Any]", given)) == {key}:
        return cast("Mapping[str, Any]", given)[key]
    return cast("Any", given)


def _metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    extra = record.get("extra")
    held = cast("Mapping[str, Any]", extra).get("metadata") if isinstance(extra, Mapping) else None
    return cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else {}


def _trace(record: Mapping[str, Any], own: str) -> str:
    trace, order = record.get("trace_id"), record.get("dotted_order")
    if isinstance(trace, str):
        return trace
    # The first part of the dotted order is the time of the root run, followed by its id of 36 characters.
    first = order.split(".")[0] if isinstance(order, str) else ""
    return first[-36:] if len(first) > 36 else own
