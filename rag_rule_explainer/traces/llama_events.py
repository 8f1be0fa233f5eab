"""This module reads events of LlamaIndex, as an event handler writes them with ``model_dump``.

Events name neither their trace nor their parent, so both are inferred from the order of the events.
"""

from collections.abc import Mapping
from typing import Any

from .documents import traced_documents
from .events_of_question import EventsOfQuestion, check_nesting
from .messages import traced_reply
from .model_requests import request_in
from .questions import traced_question
from .spans import TracedKind, TracedSpan
from .times import sortable_time

_ENDS: dict[str, tuple[TracedKind, str]] = {
    "QueryEndEvent": ("other", "query"),
    "SynthesizeEndEvent": ("other", "query"),
    "RetrievalEndEvent": ("retrieval", "str_or_query_bundle"),
    "ReRankEndEvent": ("rerank", "query"),
    "LLMChatEndEvent": ("model", "messages"),
    "LLMCompletionEndEvent": ("model", "prompt"),
    "workflow.output": ("other", ""),
}
_FIELDS = (
    ("RetrievalEndEvent", {"str_or_query_bundle", "nodes"}),
    ("RetrievalStartEvent", {"str_or_query_bundle"}),
    ("LLMChatEndEvent", {"messages", "response"}),
    ("LLMCompletionEndEvent", {"prompt", "response"}),
    ("ReRankStartEvent", {"nodes", "top_n", "model_name", "query"}),
    ("ReRankEndEvent", {"nodes"}),
    ("QueryStartEvent", {"query"}),
    ("GetResponseStartEvent", {"query_str", "text_chunks"}),
)
"""The fields by which an event is recognised if the record does not name its class."""
_OPENING = frozenset({"QueryStartEvent", "RetrievalStartEvent", "SynthesizeStartEvent"})
_CLOSING = frozenset({"QueryEndEvent", "RetrievalEndEvent", "SynthesizeEndEvent"})
_ALWAYS = {"timestamp", "id_", "span_id", "tags"}


class LlamaEvents:
    """A ``LlamaEvents`` reads the events of one file, in their order. A question ends with the outermost
    event that ends a query, a synthesis or a workflow."""

    def __init__(self) -> None:
        self._questions, self._open = 1, dict[str, tuple[str, str]]()
        self._reranked, self._question = dict[str, Any](), EventsOfQuestion()

    def span(self, record: Mapping[str, Any], place: str) -> TracedSpan | None:
        """Returns the step that ends with this event; None if none does."""
        if not is_llama_event(record):
            return None
        name, own = _class_of(record), str(record.get("span_id") or record["id_"])
        trace = f"question {self._questions}"
        if self._begins(name, own, record, place):
            return None
        inside = [each for each in self._open if each != own]
        is_inner = any(self._open[each][0] == "RetrievalStartEvent" for each in inside)
        if name in _CLOSING:
            self._end(own, place)
        parent = inside[-1] if inside else None
        made = _ended(record, name)
        if made is None:
            return None
        self._note(made, own, is_inner=is_inner)
        if parent is None and made["kind"] == "other":
            self._question.check(place)
            self._questions += 1
            self._reranked, self._question = {}, EventsOfQuestion()
        # Several calls of a model or a reranker may end within one span, so the span's id would not be
        # unique. The id of such a step is the id of its event.
        identity = own if name in _CLOSING or name == "workflow.output" else str(record["id_"])
        start = sortable_time(str(record.get("timestamp") or ""))
        place_of = {"trace": trace, "id": identity, "parent": parent, "place": place}
        return TracedSpan(**place_of, **made, name=name, tracer="LlamaIndex", start=start)

    def _end(self, own: str, place: str) -> None:
        is_first = next(iter(self._open), None) == own
        _, asked = self._open.pop(own, ("", ""))
        if is_first:
            # Steps that began within the outermost step should have ended before it. A step that is
            # still open has failed, and its documents may be among those of another question.
            check_nesting(place, (asked for _, asked in self._open.values()), asked)

    def _begins(self, name: str, own: str, record: Mapping[str, Any], place: str) -> bool:
        """Returns True iff a step begins with this event. ``own``: the id that the step gets."""
        if name in _OPENING:
            now, opened = _asked(record), self._open.values()
            if name != "RetrievalStartEvent":
                check_nesting(place, (asked for _, asked in opened), now)
            self._open[own] = name, now
        elif name == "ReRankStartEvent":
            self._reranked[own] = record.get("nodes")
        elif name == "GetResponseStartEvent":
            self._question.synthesize(record)
        return name in _OPENING or name in {"ReRankStartEvent", "GetResponseStartEvent"}

    def _note(self, made: dict[str, Any], own: str, *, is_inner: bool) -> None:
        if made["kind"] == "rerank":
            made["given"] = traced_documents(self._reranked.pop(own, None))
            self._question.use(each.text for each in (*(made["documents"] or ()), *(made["given"] or ())))
        elif made["kind"] == "retrieval" and not is_inner:
            self._question.search(traced_question(made["input"]) or "", made["documents"])


def is_llama_event(record: Mapping[str, Any]) -> bool:
    """Returns True iff the record is an event of LlamaIndex."""
    return isinstance(record.get("id_"), str) and {"timestamp", "span_id"} <= set(record)


def _asked(record: Mapping[str, Any]) -> str:
    return traced_question(record.get("query") or record.get("str_or_query_bundle")) or ""


def _class_of(record: Mapping[str, Any]) -> str:
    written = record.get("class_name")
    if isinstance(written, str):
        return written
    own = set(record) - _ALWAYS
    if {"query", "response"} == own:
        return "SynthesizeEndEvent" if "synthesize" in str(record.get("span_id")) else "QueryEndEvent"
    return next((name for name, fields in _FIELDS if own == fields), "")


def _ended(record: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Returns the fields of the span that ends with this event; None if none does."""
    if name not in _ENDS:
        return None
    kind, key = _ENDS[name]
    given = record.get(key)
    if kind in {"retrieval", "rerank"}:
        return {"kind": kind, "input": given, "documents": traced_documents(record.get("nodes"))}
    if kind == "model":
        made = record.get("response")
        return {"kind": kind, "input": given, "request": request_in(given), "reply": traced_reply(made)}
    return {"kind": kind, "input": given, "output": record.get("response", record.get("output"))}
