"""This module defines the places of an answer and its documents in a trace, so that notes can be put
there."""

import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .spans import TracedKind


class DocumentPlace(NamedTuple):
    """A ``DocumentPlace`` is the place of a document in a trace.

    ``step``: the id of the step that returned the document. ``position``: its position among the
    documents of this step, from 0. ``kind``: the kind of the step, such as "retrieval".
    """

    step: str
    position: int
    kind: TracedKind


@dataclass(frozen=True, slots=True)
class TracedPlaces:
    """A ``TracedPlaces`` holds the ids of a trace as its tool knows them.

    ``trace``: the id of the trace. ``step``: the id of the step of the question, which has the answer.
    ``documents``: the places of each document, by its id in rules; empty for documents that are in no
    step of the trace, such as those that were found in a corpus. ``project``: the id of the project that
    the trace is in; None if the trace does not name it.
    """

    trace: str
    step: str
    documents: Mapping[str, tuple[DocumentPlace, ...]] = field(
        default_factory=dict[str, tuple[DocumentPlace, ...]]
    )
    project: str | None = None


_OF_BYTES = re.compile(r"[A-Za-z0-9+/]{11}=|[A-Za-z0-9+/]{22}==")
"""Matches 8 or 16 bytes in base64."""


def usual_id(identity: str) -> str:
    """Returns the id of a trace or of a span as tracing tools write it, in hexadecimal digits. MLflow and
    Protocol Buffers write it in base64; such an id is converted, and any other id is returned
    unchanged."""
    return b64decode(identity).hex() if _OF_BYTES.fullmatch(identity) else identity
