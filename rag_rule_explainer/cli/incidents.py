"""This module reads a logged incident from a file: an answer, and perhaps its question and documents.

The file is untrusted.
"""

from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ..errors import InvalidInput
from ..sources import Source
from ..traces import Incident
from .sources import TEXT_ALIASES, Identity, complaint, read_text

_EXPECTED = (
    'give a JSON object like {"question": "...", "answer": "...", "documents": [{"id": "D1", '
    '"text": "..."}]}, of which only the answer is needed, or a text file that is the answer'
)


_ALIASES = AliasChoices("documents", "docs", "sources", "contexts", "source_documents")
"""The field names that logs may use for the documents."""


class LoggedDocument(BaseModel):
    """This model reads one logged document. Unknown fields are ignored."""

    model_config = ConfigDict(strict=True)

    text: str = Field(validation_alias=TEXT_ALIASES)
    id: Identity | None = None
    title: str | None = None
    metadata: dict[str, JsonValue] = {}

    def source(self, place: int) -> Source:
        """Returns the document as a source. If it has no id, its id is "D" followed by ``place``, its
        position."""
        metadata: dict[str, Any] = {**self.metadata, **({"title": self.title} if self.title else {})}
        identity = f"D{place}" if self.id is None else self.id
        return Source(identity, self.text, metadata)


class LoggedIncident(BaseModel):
    """This model reads a logged answer. The log may also have its question and documents."""

    model_config = ConfigDict(strict=True)

    answer: str
    question: str | None = None
    documents: list[LoggedDocument] | None = Field(default=None, validation_alias=_ALIASES)
    pinned: list[str] = []

    def incident(self) -> Incident:
        """Returns this logged answer as an ``Incident``."""
        documents = None
        if self.documents is not None:
            documents = tuple(each.source(place) for place, each in enumerate(self.documents, start=1))
        return Incident(self.answer, self.question, documents, tuple(self.pinned))


def load_incident(path: Path) -> Incident:
    """Returns the incident in a file: a JSON object, or a text that is the answer.

    Raises InvalidInput if the file cannot be read, is empty, or is not valid.
    """
    text = read_text(path, _EXPECTED)
    if not text.strip():
        raise InvalidInput(f"{path} is empty; {_EXPECTED}")
    if path.suffix.lower() != ".json" and not text.lstrip().startswith("{"):
        return Incident(answer=text.strip())
    try:
        return LoggedIncident.model_validate_json(text).incident()
    except ValidationError as error:
        raise InvalidInput(f"{path}: {complaint(error)}; {_EXPECTED}") from error
