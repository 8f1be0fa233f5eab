"""This module writes notes on an answer and its documents to LangSmith. Each note becomes feedback on one
run, which is LangSmith's word for a step in a trace."""

import logging
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from .placed import ANNOTATION_NAME, PlacedNotes
from .redirects import session_without_redirects

_MILLISECONDS = 10_000
"""The maximum number of milliseconds for which the client waits for a reply to one request. After that,
it sends the request again, several times."""


def langsmith_payload(notes: PlacedNotes) -> dict[str, Any]:
    """Returns the bodies of the requests ``POST /feedback``. LangSmith has no feedback on documents. So
    the note on a document becomes feedback on the run that returned the document."""
    return {
        "feedback": [
            {
                "id": str(notes.identity(placed)),
                "run_id": placed.step,
                "trace_id": notes.trace,
                "key": ANNOTATION_NAME,
                "value": notes.label(placed),
                "comment": placed.note.text,
                "feedback_source": {"type": "api", "metadata": notes.metadata(placed)},
                **({} if notes.project is None else {"session_id": notes.project}),
            }
            for placed in notes.each
        ]
    }


def langsmith_client() -> Any:
    """Returns LangSmith's client, which reads its address and its key from the environment."""
    from langsmith import Client

    # A client that sends in the background would not report whether the feedback arrived.
    return Client(auto_batch_tracing=False, session=session_without_redirects(), timeout_ms=_MILLISECONDS)


def send_to_langsmith(payload: dict[str, Any], client: Any) -> Iterator[int]:
    """Sends one request for each note, and yields 1 after each request: the number of notes in it."""
    with _quiet():
        yield from _sent(payload, client)


@contextmanager
def _quiet() -> Generator[None]:
    """Keeps the client, during the block, from printing errors that it also raises. If the user has set
    up logging, the errors are still logged."""
    log, nowhere = logging.getLogger("langsmith"), logging.NullHandler()
    log.addHandler(nowhere)
    try:
        yield
    finally:
        log.removeHandler(nowhere)


def _sent(payload: dict[str, Any], client: Any) -> Iterator[int]:
    # A client with a queue sends feedback in the background if the id of the trace is given. So the id is
    # given only to a client without a queue, which sends at once.
    is_direct = getattr(client, "tracing_queue", None) is None
    for each in payload["feedback"]:
        with warnings.catch_warnings():
            # The client warns if no project is named, but some exports of runs do not name their project.
            warnings.simplefilter("ignore")
            client.create_feedback(
                each["run_id"],
                each["key"],
                value=each["value"],
                comment=each["comment"],
                source_info=each["feedback_source"]["metadata"],
                feedback_id=each["id"],
                trace_id=each["trace_id"] if is_direct else None,
                session_id=each.get("session_id"),
                stop_after_attempt=3,
            )
        yield 1
