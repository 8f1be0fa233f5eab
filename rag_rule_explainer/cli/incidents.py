"""A logged incident: the answer somebody got, and what else the log has of it. All of it is untrusted."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ..errors import InvalidInput
from ..sources import Source, SourceSet
from .sources import TEXT_ALIASES, Identity, complaint, read_text

_EXPECTED = (
    'give a JSON object like {"question": "...", "answer": "...", "documents": [{"id": "D1", '
    '"text": "..."}]}, of which only the answer is needed, or a text file that is the answer'
)


class LoggedDocument(BaseModel):
    """A document as logs have it; other fields are ignored."""

    model_config = ConfigDict(strict=True)

    text: str = Field(validation_alias=TEXT_ALIASES)
    id: Identity | None = None
    title: str | None = None
    metadata: dict[str, JsonValue] = {}

    def source(self, place: int) -> Source:
        """As a source, named after its place where it has no id."""
        metadata: dict[str, Any] = {**self.metadata, **({"title": self.title} if self.title else {})}
        identity = f"D{place}" if self.id is None else self.id
        return Source(identity, self.text, metadata)


class Incident(BaseModel):
    """What is known of an answer that was given some time ago."""

    model_config = ConfigDict(strict=True)

    answer: str
    question: str | None = None
    documents: list[LoggedDocument] | None = None
    pinned: list[str] = []

    def sources(self) -> SourceSet | None:
        """The documents that were logged, if any."""
        if self.documents is None:
            return None
        return SourceSet.of(
            [document.source(place) for place, document in enumerate(self.documents, start=1)]
        )


def load_incident(path: Path) -> Incident:
    """The incident in a file. Raises InvalidInput where it cannot be read or is none."""
    text = read_text(path, _EXPECTED)
    if not text.strip():
        raise InvalidInput(f"{path} is empty; {_EXPECTED}")
    if path.suffix.lower() != ".json" and not text.lstrip().startswith("{"):
        return Incident(answer=text.strip())
    try:
        return Incident.model_validate_json(text)
    except ValidationError as error:
        raise InvalidInput(f"{path}: {complaint(error)}; {_EXPECTED}") from error
