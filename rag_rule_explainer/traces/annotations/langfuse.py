"""This module writes notes on an answer and its documents to Langfuse. Each note becomes a score: a note
on the answer becomes a score of the trace, and a note on a document becomes a score of an observation,
which is Langfuse's word for a step in a trace."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any
from uuid import uuid5

from ...errors import NotSent
from .placed import ANNOTATION_NAME, PlacedNote, PlacedNotes

_BATCH = 50
"""The maximum number of scores in one request, because Langfuse accepts at most a megabyte."""


def langfuse_payload(notes: PlacedNotes) -> dict[str, Any]:
    """Returns the body of ``POST /api/public/scores``, under the key "scores". Langfuse has no scores on
    documents. So the note on a document becomes a score on the observation that returned the document."""
    return {"scores": [_score(notes, placed) for placed in notes.each]}


def _score(notes: PlacedNotes, placed: PlacedNote) -> dict[str, Any]:
    # Langfuse replaces an earlier score only if the new one has the same id and the same time. So the
    # time of the explanation is sent.
    made_at = notes.about.get("made_at")
    timed = {} if made_at is None else {"timestamp": made_at}
    on_step = {} if placed.document is None else {"observationId": placed.step}
    return {
        "id": str(uuid5(notes.identity(placed), made_at or "")),
        "traceId": notes.trace,
        **on_step,
        "name": ANNOTATION_NAME,
        "value": notes.label(placed),
        "dataType": "CATEGORICAL",
        "comment": placed.note.text,
        "metadata": notes.metadata(placed),
        **timed,
    }


def langfuse_client() -> Any:
    """Returns Langfuse's client, which reads its address and its keys from the environment."""
    return import_module("langfuse").get_client()


def send_to_langfuse(payload: dict[str, Any], client: Any) -> Iterator[int]:
    """Sends the scores, and yields, for each request, the number of scores that Langfuse stored."""
    scores = payload["scores"]
    for start in range(0, len(scores), _BATCH):
        batch = scores[start : start + _BATCH]
        # The client's create_score() is not used, because it sends in the background and does not report
        # whether a score arrived.
        reply = client.api.scores.create(request=batch)
        yield len(batch) - getattr(reply, "rejected", 0)
        if errors := getattr(reply, "errors", ()):
            raise NotSent(f"langfuse rejected {len(errors)} scores: {errors[0].message[:300]}")
