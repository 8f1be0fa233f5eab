"""This module writes notes as feedback of LangSmith, on runs."""

from collections.abc import Iterator
from typing import Any

from .placed import ANNOTATION_NAME, PlacedNotes


def langsmith_payload(notes: PlacedNotes) -> dict[str, Any]:
    """Returns the bodies of the requests ``POST /feedback``. LangSmith has no feedback on documents, so
    the run that returned a document has one for each."""
    return {
        "feedback": [
            {
                "id": str(notes.identity(placed)),
                "run_id": placed.step,
                "trace_id": notes.trace,
                "key": ANNOTATION_NAME,
                "value": placed.note.label,
                "comment": notes.comment(placed),
                "feedback_source": {"type": "api", "metadata": notes.metadata(placed)},
                **({} if notes.project is None else {"session_id": notes.project}),
            }
            for placed in notes.each
        ]
    }


def langsmith_client() -> Any:
    """Returns LangSmith's client, which reads its address and its key from the environment."""
    from langsmith import Client

    # One that sends in the background would say of nothing whether it arrived.
    return Client(auto_batch_tracing=False)


def send_to_langsmith(payload: dict[str, Any], client: Any) -> Iterator[int]:
    """Sends the feedback one by one, and yields 1 for each."""
    for each in payload["feedback"]:
        client.create_feedback(
            each["run_id"],
            each["key"],
            value=each["value"],
            comment=each["comment"],
            source_info=each["feedback_source"]["metadata"],
            feedback_id=each["id"],
            # Without the trace's id it is sent at once, also by a client that sends in the background.
            session_id=each.get("session_id"),
            stop_after_attempt=3,
        )
        yield 1
