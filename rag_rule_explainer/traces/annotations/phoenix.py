"""This module writes notes as annotations of Phoenix: on documents of retrievers, and on spans."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from .placed import ANNOTATION_NAME, PlacedNote, PlacedNotes

_SPANS, _DOCUMENTS = "span_annotations", "document_annotations"
_WITH_DOCUMENTS = frozenset({"retrieval", "rerank"})


def phoenix_payload(notes: PlacedNotes) -> dict[str, Any]:
    """Returns the bodies of the requests ``POST /v1/span_annotations`` and
    ``POST /v1/document_annotations``, by the last part of their paths.

    Phoenix allows annotations only on documents of retrievers and rerankers. Phoenix keeps only one
    annotation of each name on a document, and accepts no identifiers for such annotations. So the name
    depends on the condition. If another step, such as a tool, returned the document, the note is put on
    the span of that step.
    """
    spans, documents = list[dict[str, Any]](), list[dict[str, Any]]()
    for placed in notes.each:
        place = placed.document
        if place is not None and place.kind in _WITH_DOCUMENTS:
            said = _annotation(notes, placed, placed.note.label)
            documents.append(
                {**said, "name": notes.name_of_condition, "document_position": place.position}
            )
        else:
            said = _annotation(notes, placed, notes.label(placed))
            spans.append({**said, "identifier": str(notes.identity(placed))})
    return {_SPANS: {"data": spans}, _DOCUMENTS: {"data": documents}}


def _annotation(notes: PlacedNotes, placed: PlacedNote, label: str) -> dict[str, Any]:
    return {
        "name": ANNOTATION_NAME,
        "annotator_kind": "CODE",
        "span_id": placed.step,
        "result": {"label": label, "explanation": placed.note.text},
        "metadata": notes.metadata(placed),
    }


def phoenix_client() -> Any:
    """Returns Phoenix's client, which reads its address from the environment."""
    return import_module("phoenix.client").Client()


def send_to_phoenix(payload: dict[str, Any], client: Any) -> Iterator[int]:
    """Sends the annotations, and yields, for each request, the number of annotations that Phoenix
    stored."""
    spans, documents = payload[_SPANS]["data"], payload[_DOCUMENTS]["data"]
    if documents:
        client.spans.log_document_annotations(document_annotations=documents, sync=True)
        yield len(documents)
    client.spans.log_span_annotations(span_annotations=spans, sync=True)
    yield len(spans)
