"""This module writes notes on an answer and its documents as feedback of MLflow: assessments of traces
and of spans."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .placed import ANNOTATION_NAME, PlacedNote, PlacedNotes

_ID, _SOURCE = "rag_rules_id", "rag-rules"
_REDIRECTS = "MLFLOW_ALLOW_HTTP_REDIRECTS"


def mlflow_payload(notes: PlacedNotes) -> dict[str, Any]:
    """Returns the assessments as ``POST /api/3.0/mlflow/traces/{trace_id}/assessments`` takes them, each
    under the key "assessment". MLflow has no feedback on documents. So the note on a document becomes
    feedback on the span that returned the document. The assessment of an undecided note has an error in
    place of a value."""
    assessments = [{"assessment": _assessment(notes, placed)} for placed in notes.each]
    return {"trace_id": notes.trace, "assessments": assessments}


def _assessment(notes: PlacedNotes, placed: PlacedNote) -> dict[str, Any]:
    note = placed.note
    feedback = {"value": notes.label(placed)}
    if note.is_undecided:
        feedback = {
            "error": {"error_code": "UNDECIDED", "error_message": f"{notes.label(placed)}: {note.text}"}
        }
    return {
        "assessment_name": ANNOTATION_NAME,
        "trace_id": notes.trace,
        **({} if placed.document is None else {"span_id": placed.step}),
        "source": {"source_type": "CODE", "source_id": _SOURCE},
        "feedback": feedback,
        "rationale": placed.note.text,
        "metadata": {**notes.metadata(placed), _ID: str(notes.identity(placed))},
    }


def mlflow_client() -> Any:
    """Returns the module ``mlflow``, which reads the address of its server from the environment."""
    return import_module("mlflow")


def send_to_mlflow(payload: dict[str, Any], client: Any) -> Iterator[int]:
    """Sends each assessment in a request of its own, and yields 1 after each request, because it has sent
    one note. If the trace already has an assessment with the same note, the new one replaces it; MLflow
    itself would keep both."""
    with _without_redirects():
        yield from _sent(payload, client)


@contextmanager
def _without_redirects() -> Generator[None]:
    """Keeps MLflow from following redirects in the block, because they would send the rules to a server
    that the user has not named. A setting in the user's environment takes precedence."""
    said = os.environ.get(_REDIRECTS)
    os.environ.setdefault(_REDIRECTS, "false")
    try:
        yield
    finally:
        if said is None:
            os.environ.pop(_REDIRECTS, None)


def _sent(payload: dict[str, Any], client: Any) -> Iterator[int]:
    trace = payload["trace_id"]
    kept: list[Any] = client.get_trace(trace).info.assessments
    known = dict[str | None, str]()
    for each in kept:
        metadata: dict[str, str] = each.metadata or {}
        known[metadata.get(_ID)] = each.assessment_id
    for each in payload["assessments"]:
        said = each["assessment"]
        made = _feedback(said, client)
        found = known.get(said["metadata"][_ID])
        if found is None:
            client.log_assessment(trace_id=trace, assessment=made)
        else:
            client.update_assessment(trace_id=trace, assessment_id=found, assessment=made)
        yield 1


def _feedback(said: dict[str, Any], client: Any) -> Any:
    entities, given = client.entities, said["feedback"]
    error = given.get("error")
    return entities.Feedback(
        name=said["assessment_name"],
        value=given.get("value"),
        error=None if error is None else entities.AssessmentError(**error),
        source=entities.AssessmentSource(**said["source"]),
        rationale=said["rationale"],
        metadata=said["metadata"],
        span_id=said.get("span_id"),
    )
