"""This module reads the file of ``rag-rules cite``: questions, and perhaps logged answers whose
citations are checked. The file is untrusted."""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ..errors import InvalidInput
from ..printable import shortened
from .sources import Identity, SourceLine, complaint, read_text

_EXPECTED = (
    "give a text file with a question on each line, or a .jsonl file with lines like "
    '{"question": "..."}, which may have an "answer", "documents", an "id", a "model" and a "prompt"'
)
_DOCUMENTS = AliasChoices("documents", "sources", "docs", "contexts")


class CitedLine(BaseModel):
    """This model reads one line of a file of questions or logged answers. Unknown fields are ignored,
    because logs have many."""

    model_config = ConfigDict(strict=True)

    question: str
    answer: str | None = None
    documents: list[SourceLine] | None = Field(default=None, validation_alias=_DOCUMENTS)
    id: Identity | None = None
    model: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class AskedCitations:
    """An ``AskedCitations`` is one line of the file, with its number and its id. ``where``: the file and
    the line in words."""

    id: str
    number: int
    line: CitedLine
    where: str

    def write(self, folder: Path) -> tuple[Path | None, Path | None]:
        """Writes the logged data of the line into files in ``folder``, and returns two of these files.

        The first has the documents, the second the answer and the documents. Each is None if the line
        does not log these data. Raises InvalidInput for two documents with the same id, and for an empty
        list.
        """
        own = logged = None
        if self.line.documents is not None:
            self._check_documents()
            entries = [each.model_dump(mode="json") for each in self.line.documents]
            own = self._documents(folder)
            own.write_text("".join(f"{json.dumps(each)}\n" for each in entries), encoding="ascii")
        if self.line.answer is not None:
            logged = folder / f"answer-{self.number}.json"
            written = {"question": self.line.question, "answer": self.line.answer}
            logged.write_text(json.dumps(written), encoding="ascii")
        return own, logged

    def worded(self, error: Exception, folder: Path) -> str:
        """Returns the message of an error. If it names a file that ``write`` wrote into ``folder``, this
        name is replaced by the user's file and line, because the user knows only that file."""
        return str(error).replace(f"{self._documents(folder)}, line", f"{self.where}, document")

    def _documents(self, folder: Path) -> Path:
        return folder / f"documents-{self.number}.jsonl"

    def _check_documents(self) -> None:
        ids = [each.id for each in self.line.documents or () if each.id is not None]
        twice = next((each for each in ids if ids.count(each) > 1), None)
        if twice is not None:
            raise InvalidInput(
                f"{self.where}: two documents have the id {shortened(twice, 100)!r}; give each its own, "
                "or leave it out"
            )
        if not self.line.documents:
            raise InvalidInput(
                f"{self.where}: documents is empty, so nothing can be cited; leave it out to let the "
                "application search"
            )


def load_cited_lines(path: Path) -> list[AskedCitations]:
    """Returns the lines of a file. Raises InvalidInput if it cannot be read or is empty, for a malformed
    line, and for an id that occurs twice."""
    content = read_text(path, _EXPECTED).replace("\r\n", "\n").replace("\r", "\n")
    written = [(number, line.strip()) for number, line in enumerate(content.split("\n"), start=1)]
    written = [(number, line) for number, line in written if line]
    if not written:
        raise InvalidInput(f"{path} holds no questions; {_EXPECTED}")
    is_json = path.suffix.lower() in {".jsonl", ".ndjson", ".json"}
    found = list[AskedCitations]()
    for number, line in written:
        read = _read(line, f"{path}, line {number}", is_json=is_json)
        identity = f"line {number}" if read.id is None else read.id
        if any(each.id == identity for each in found):
            raise InvalidInput(
                f"{path}, line {number}: the id {shortened(identity, 100)!r} stands there twice; give "
                "each line its own, or leave it out"
            )
        found.append(AskedCitations(identity, number, read, f"{path}, line {number}"))
    return found


def _read(line: str, where: str, *, is_json: bool) -> CitedLine:
    if not is_json and not line.startswith("{"):
        return CitedLine(question=line)
    try:
        read = CitedLine.model_validate_json(line)
    except ValidationError as error:
        raise InvalidInput(f"{where}: {complaint(error)}; {_EXPECTED}") from error
    if not read.question.strip():
        raise InvalidInput(f"{where}: the question is empty; {_EXPECTED}")
    if read.answer is not None and not read.answer.strip():
        raise InvalidInput(f"{where}: the answer is empty; {_EXPECTED}")
    return read
