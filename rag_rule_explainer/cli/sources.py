"""Sources from a JSONL file or a folder of texts. All of it is untrusted input."""

import os.path
import sys
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ..errors import InvalidInput
from ..given import Given, names
from ..ranking import best_matches
from ..records import phrase
from ..sources import Source, SourceSet
from .terminal import say

_SUFFIXES = (".txt", ".md")
_DOCUMENTS = (".csv", ".doc", ".docx", ".epub", ".htm", ".html", ".odt", ".pdf", ".pptx", ".rtf", ".xlsx")


class SourceLine(BaseModel):
    """This model reads one line of JSONL, also as LangChain writes documents; it ignores other fields."""

    model_config = ConfigDict(strict=True)

    text: str = Field(validation_alias=AliasChoices("text", "page_content"))
    id: str | None = None
    title: str | None = None
    metadata: dict[str, JsonValue] = {}

    def source(self, name: str) -> Source:
        """Returns it as a source of that name."""
        titled = {} if self.title is None else {"title": self.title}
        return Source(name, self.text, {**self.metadata, **titled})


def load(path: Path, question: str, top_k: int | None) -> SourceSet:
    """The sources at ``path``; with ``top_k``, the ones that match the question best, best first.

    Raises InvalidInput where there is no such path, nothing usable in it, or an id is empty or twice
    there.
    """
    if str(path) == "-":
        sources = _in_lines(_from_stdin(), "standard input")
    elif os.path.isdir(path):  # noqa: PTH112 -- says no where Path.is_dir raises
        sources = _from_folder(path)
    else:
        sources = _in_lines(read(path), str(path))
    if not sources:
        raise InvalidInput(f"{path} holds no sources; {_EXPECTED}")
    everything = SourceSet.of(sources)
    if top_k is None:
        return everything
    places = best_matches(question, [source.passage for source in everything], top_k)
    if not places:
        raise InvalidInput(f"no source in {path} shares a word with the question; rephrase it")
    return SourceSet.of([everything.sources[place] for place in places])


_EXPECTED = (
    'give a .jsonl file with lines like {"id": "D1", "text": "..."}, or a folder of .txt or .md files'
)


def _from_folder(folder: Path) -> list[Source]:
    """Of all its texts, those in folders inside it as well."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    texts = [file for file in files if file.suffix.lower() in _SUFFIXES]
    unread = _counted([file for file in files if file.suffix.lower() in _DOCUMENTS])
    if not texts and unread:
        raise InvalidInput(
            f"{folder} holds {unread} and no texts; take their text out first: {_EXPECTED}"
        )
    if unread:
        say(f"{unread} in {folder}: not read, as only .txt and .md are")
    return [Source(file.relative_to(folder).as_posix(), read(file)) for file in texts]


def _counted(files: Collection[Path]) -> str:
    """Files by their kind, in words; empty for none."""
    kinds = Counter(file.suffix.lower() for file in files)
    counts = [f"{count} {kind}" for kind, count in kinds.most_common()]
    return f"{phrase(counts)} file{'s' * (len(files) != 1)}" if counts else ""


def _from_stdin() -> str:
    if sys.stdin is None or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] -- as Python sets it where it is closed
        raise InvalidInput(f"--sources - reads what is piped in, and nothing is; {_EXPECTED}")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"standard input is not UTF-8 text: {error.reason} at byte {error.start}"
        ) from error


def _in_lines(content: str, where: str) -> list[Source]:
    """One of each line, under its id, or the name that only its metadata has, or D and its place."""
    # Not splitlines(): U+2028 and the like end no line of JSON, and stand in texts as they are.
    numbered = enumerate(content.split("\n"), start=1)
    lines = [_line(line, f"{where}, line {number}") for number, line in numbered if line.strip()]
    named = names([Given(line.text, line.id, line.metadata) for line in lines])
    return [line.source(name) for name, line in zip(named, lines, strict=True)]


def _line(line: str, where: str) -> SourceLine:
    try:
        read = SourceLine.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        complaint = first["msg"].replace(" at line 1 column ", " at column ")
        raise InvalidInput(f"{where}: {place + ': ' if place else ''}{complaint}; {_EXPECTED}") from error
    if read.id is not None and not read.id.strip():
        raise InvalidInput(f"{where}: the id is empty; give one, or leave it out")
    return read


def read(file: Path, expected: str = _EXPECTED) -> str:
    """A text file. Raises InvalidInput, with what is ``expected``, where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no {file}; {expected}") from error
    except UnicodeDecodeError as error:
        kind = file.suffix.lower()
        if kind in _DOCUMENTS:
            raise InvalidInput(f"{file} is a {kind} file, not text; take its text out first") from error
        raise InvalidInput(
            f"{file} is not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}; {expected}") from error
