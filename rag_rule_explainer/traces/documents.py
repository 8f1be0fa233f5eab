"""This module reads documents in all forms in which tracers write them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..sources.given import ID_KEYS
from .bounds import as_data
from .messages import message_in
from .spans import TracedDocument

_LISTS = ("documents", "nodes", "source_nodes", "source_documents", "context", "output", "result")
"""The keys under which the output of a search has its documents."""
_ARTIFACTS = ("artifact", "raw_output")
"""The keys under which the result of a tool holds the documents that the tool found, in addition to its
text."""
_WRAPPERS = ("output", "data", "kwargs", "tool_output", "update", "messages", "result")
_DEEPEST = 6


def traced_documents(given: Any) -> tuple[TracedDocument, ...] | None:
    """Returns the documents in the output of a search: a list of documents, or a dict with such a list.
    Returns None for any other output, and if an item of the list is no document."""
    given = as_data(given)
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        found = (
            traced_documents(fields[key]) for key in _LISTS if isinstance(fields.get(key), (list, str))
        )
        return next((each for each in found if each is not None), None)
    if not isinstance(given, list):
        return None
    read = [document_in(each) for each in cast("list[Any]", given)]
    return tuple(each for each in read if each is not None) if all(read) else None


def document_in(given: Any) -> TracedDocument | None:
    """Returns the document that a value holds; None if the value is no document.

    The value may be LangChain's document, plain or serialised, LlamaIndex's node, with or without its
    score, OpenInference's ``document``, a pair of a document and a score, or an id with a score.
    """
    if isinstance(given, list) and len(cast("list[Any]", given)) == 2:
        document, score = cast("list[Any]", given)
        found = document_in(document) if isinstance(score, (int, float)) else None
        return None if found is None else _scored(found, score)
    if not isinstance(given, Mapping):
        return None
    fields = cast("Mapping[str, Any]", given)
    for key in ("document", "node", "kwargs"):
        inside = fields.get(key)
        if isinstance(inside, Mapping):
            found = document_in(cast("Mapping[str, Any]", inside))
            return None if found is None else _scored(found, fields.get("score"))
    return _plain(_without_prefix(fields))


def _without_prefix(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the fields of a document by names without the prefix "document.", which OpenInference puts
    before them in tables."""
    return {key.removeprefix("document."): value for key, value in fields.items()}


def _plain(fields: Mapping[str, Any]) -> TracedDocument | None:
    texts = (fields.get(key) for key in ("page_content", "text", "content"))
    text = next((each for each in texts if isinstance(each, str)), None)
    if text is None:
        text = _text_of_resource(fields)
    names = (fields.get(key) for key in ID_KEYS)
    identity = next((each for each in names if isinstance(each, (str, int)) and each != ""), None)
    is_reference = text is None and set(fields) <= {*ID_KEYS, "score", "metadata"} and "score" in fields
    # A message of a chat has a role or a type and a content, but is no document.
    is_message = message_in(fields) is not None or {"tool_calls", "tool_call_id"} & set(fields)
    is_document = text is not None and not ("role" in fields or is_message)
    if not (is_document or is_reference):
        return None
    held = as_data(fields.get("metadata"))
    metadata = dict(cast("Mapping[str, Any]", held)) if isinstance(held, Mapping) else {}
    found = TracedDocument(text, None if identity is None else str(identity), metadata)
    return _scored(found, fields.get("score"))


def _text_of_resource(fields: Mapping[str, Any]) -> str | None:
    """Returns the text of a node of LlamaIndex that holds its text in a ``text_resource``; None for any
    other object."""
    resource = fields.get("text_resource")
    text = cast("Mapping[str, Any]", resource).get("text") if isinstance(resource, Mapping) else None
    return text if isinstance(text, str) else None


def _scored(document: TracedDocument, score: Any) -> TracedDocument:
    if isinstance(score, bool) or not isinstance(score, (int, float)) or "score" in document.metadata:
        return document
    try:
        number = float(score)
    except OverflowError:  # an integer of hundreds of digits is no score
        return document
    return TracedDocument(document.text, document.id, {**document.metadata, "score": number})


def artifact_in(given: Any, depth: int = 0) -> tuple[TracedDocument, ...] | None:
    """Returns the documents that a tool returned beside its text; None if there are none. ``depth``: how
    deeply ``given`` is nested in the value that is read."""
    given = as_data(given)
    if depth > _DEEPEST:
        return None
    if isinstance(given, list) and len(cast("list[Any]", given)) == 1:
        return artifact_in(cast("list[Any]", given)[0], depth + 1)
    if not isinstance(given, Mapping):
        return None
    fields = cast("Mapping[str, Any]", given)
    for key in _ARTIFACTS:
        found = traced_documents(fields.get(key))
        if found:
            return found
    inside = (artifact_in(fields[key], depth + 1) for key in _WRAPPERS if fields.get(key) is not None)
    return next((each for each in inside if each), None)


def tool_text(given: Any, depth: int = 0) -> str | None:
    """Returns the text of the result of a tool; None if it cannot be read. ``depth``: how deeply
    ``given`` is nested in the value that is read."""
    given = as_data(given)
    if isinstance(given, str):
        return given
    if depth > _DEEPEST or not isinstance(given, Mapping):
        return None
    fields = cast("Mapping[str, Any]", given)
    for key in ("content", "text", "blocks", *_WRAPPERS):
        value = fields.get(key)
        if isinstance(value, list):
            parts = [tool_text(each, depth + 1) for each in cast("Sequence[Any]", value)]
            found: str | None = "\n".join(each for each in parts if each)
        else:
            found = None if value is None else tool_text(value, depth + 1)
        if found:
            return found
    return None
