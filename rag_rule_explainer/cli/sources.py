"""This module reads sources from a JSONL file or a folder of text files. The files are untrusted."""

import os.path
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from json import dumps
from pathlib import Path
from typing import Annotated, TypeAlias, cast

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
)
from pydantic_core import from_json

from ..errors import InvalidInput
from ..explanation.wording import phrase
from ..printable import shortened
from ..sources import Source, SourceSet
from ..sources.given import Given, names
from ..testing.ranking import best_matches
from .terminal import say

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SUFFIXES = (".txt", ".md")
_DOCUMENTS = (".csv", ".doc", ".docx", ".epub", ".htm", ".html", ".odt", ".pdf", ".pptx", ".rtf", ".xlsx")


TEXT_ALIASES = AliasChoices("text", "page_content", "content")
"""The keys under which a source may have its text. If a source has several of them, the first is used."""
Identity: TypeAlias = Annotated[
    str, BeforeValidator(lambda given: str(given) if type(given) is int else given)
]
"""An id. A whole number is converted to a str, because ids are often numbers in logs and tables."""


class SourceLine(BaseModel):
    """This model reads a source from one line of JSONL. The line may also be a document in LangChain's
    form.

    Unknown fields are ignored.
    """

    model_config = ConfigDict(strict=True)

    text: str = Field(validation_alias=TEXT_ALIASES)
    id: Identity | None = None
    title: str | None = None
    metadata: dict[str, JsonValue] = {}

    def source(self, name: str) -> Source:
        """Returns the line as a source with the id ``name``. A title becomes metadata."""
        titled = {} if self.title is None else {"title": self.title}
        return Source(name, self.text, {**self.metadata, **titled})


def load_sources(path: Path, question: str, top_k: int | None) -> SourceSet:
    """Returns the sources in a file or a folder; "-" is standard input.

    ``top_k``: return only this number of sources, those that match the question best, the best first;
    None for all. Raises InvalidInput if the path does not exist or has no source, and for an id that is
    empty or occurs twice.
    """
    written = str(path)
    if written == "-":
        sources = _in_lines(_from_stdin(), "standard input")
    elif written.startswith(("http:/", "https:/")):
        raise InvalidInput(f"{written} is no file; download it first: {_EXPECTED}")
    elif os.path.isdir(path):  # noqa: PTH112 -- Path.is_dir may raise, and this does not
        sources = _from_folder(path)
    else:
        _check_kind(path)
        sources = _in_lines(read_text(path), written)
    if not sources and written == "-":
        raise InvalidInput(f"nothing came through the pipe to --sources -; {_EXPECTED}")
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


def _check_kind(path: Path) -> None:
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv", ".xlsx"):
        raise InvalidInput(f"{path} is a {kind} file; write each row as JSON: {_EXPECTED}")
    if kind in _SUFFIXES and path.is_file() and not read_text(path).lstrip().startswith(("{", "[")):
        raise InvalidInput(f"{path} is one text; give the folder that it is in, or {_EXPECTED[5:]}")


def _from_folder(folder: Path) -> list[Source]:
    """Returns the text files in a folder and its subfolders as sources. Empty files are left out.

    Prints which files were not read. Raises InvalidInput for a link to a text that does not exist.
    """
    there = sorted(folder.rglob("*"))
    files = [file for file in there if file.is_file()]
    broken = [file for file in there if file.suffix.lower() in _SUFFIXES and not file.exists()]
    if broken:
        raise InvalidInput(
            f"{broken[0]} is a link to a file that does not exist; remove or mend the link"
        )
    texts = [file for file in files if file.suffix.lower() in _SUFFIXES]
    unread = _counted([file for file in files if file.suffix.lower() in _DOCUMENTS])
    if not texts and unread:
        raise InvalidInput(
            f"{folder} holds {unread} and no texts; take their text out first: {_EXPECTED}"
        )
    if unread:
        say(f"{unread} in {folder}: not read, as only .txt and .md are")
    found = [Source(file.relative_to(folder).as_posix(), read_text(file)) for file in texts]
    empty = [each.id for each in found if not each.text.strip()]
    if empty:
        say(f"{phrase(empty)} in {folder}: left out, as there is nothing in it")
    return [each for each in found if each.text.strip()]


def _counted(files: Collection[Path]) -> str:
    """Returns the number of files of each suffix in words, such as "2 .pdf files"; an empty text if there
    are no files."""
    kinds = Counter(file.suffix.lower() for file in files)
    counts = [f"{count} {kind}" for kind, count in kinds.most_common()]
    return f"{phrase(counts)} file{'s' * (len(files) != 1)}" if counts else ""


def _from_stdin() -> str:
    if sys.stdin is None or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] -- Python sets it to None if stdin is closed
        raise InvalidInput(f"--sources - reads what is piped in, and nothing is; {_EXPECTED}")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"standard input is not UTF-8 text: {error.reason} at byte {error.start}"
        ) from error


def _in_lines(content: str, where: str) -> list[Source]:
    """Returns the sources in a text that has one source on each line, or a JSON list of sources.

    A source without an id gets one from its metadata, or else "D" and its position, such as "D3".
    ``where``: the name of the file, for error messages.
    """
    begun = content.lstrip()
    # The whole JSON list may stand on one line, so the form (a list, or lines) is recognised by the first
    # character.
    parts = _listed(begun, where) if begun.startswith("[") else _by_line(begun and content, where)
    lines = [_line(part, at) for at, part in parts]
    _check_ids({at: line.id for (at, _), line in zip(parts, lines, strict=True)})
    named = names([Given(line.text, line.id, line.metadata) for line in lines])
    return [line.source(name) for name, line in zip(named, lines, strict=True)]


def _by_line(content: str, where: str) -> list[tuple[str, str]]:
    # ``splitlines`` is not used, because it also splits at U+2028 and similar characters, which JSON
    # texts may contain.
    numbered = enumerate(content.split("\n"), start=1)
    lines = [(f"{where}, line {number}", line) for number, line in numbered if line.strip()]
    if len(lines) > 1 and lines[0][1].strip() == "{":
        raise InvalidInput(
            f"{where} has an object that goes over several lines; write each source on one line, or all "
            f"of them as a JSON list: {_EXPECTED}"
        )
    return lines


def _listed(content: str, where: str) -> list[tuple[str, str]]:
    try:
        items = from_json(content)
    except ValueError as error:
        raise InvalidInput(f"{where}: Invalid JSON: {error}; {_EXPECTED}") from error
    return [(f"{where}, item {number}", dumps(item)) for number, item in enumerate(items, start=1)]


def _check_ids(ids: Mapping[str, str | None]) -> None:
    """Raises InvalidInput for an id that occurs twice.

    ``ids``: for each line, such as "a.jsonl, line 3", the id on it; None if the line has no id.
    """
    seen = dict[str, str]()
    for at, name in ids.items():
        if name is not None and name in seen:
            raise InvalidInput(
                f"{at}: the id {name!r} is that of {seen[name]} as well; give each its own"
            )
        if name is not None:
            seen[name] = at.rpartition(", ")[2]


def _line(line: str, where: str) -> SourceLine:
    try:
        read = SourceLine.model_validate_json(line)
    except ValidationError as error:
        raise InvalidInput(f"{where}: {complaint(error)}; {_EXPECTED}") from error
    if read.id is not None and not read.id.strip():
        raise InvalidInput(f"{where}: the id is empty; give one, or leave it out")
    return read


def complaint(error: ValidationError) -> str:
    """Returns the error message for the first error in a record. It names the field with the error."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "missing" and first["loc"][-1:] == ("text",) and isinstance(first["input"], dict):
        keys = ", ".join(map(repr, list(cast("dict[str, object]", first["input"]))[:10])) or "nothing"
        inside = place.rpartition(".")[0]
        return (
            f"{inside + ': ' if inside else ''}there is no text: it has {shortened(keys, 200)}; call the "
            "text one of text, page_content, content"
        )
    message = first["msg"].replace(" at line 1 column ", " at column ")
    return shortened(f"{place + ': ' if place else ''}{message}", 300)


def read_text(file: Path, expected: str = _EXPECTED) -> str:
    """Returns the text of a file.

    ``expected``: a sentence for error messages that says which file to give. Raises InvalidInput if the
    file cannot be read as text.
    """
    try:
        content = file.read_bytes()
        # PowerShell and Notepad may write UTF-16. Such a file begins with a byte order mark, by which it
        # is recognised.
        return content.decode("utf-16" if content[:2] in _UTF_16 else "utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no {file}; {expected}") from error
    except UnicodeDecodeError as error:
        kind = file.suffix.lower()
        if kind in _DOCUMENTS and kind != ".csv":  # a .csv is text, but in another encoding
            raise InvalidInput(f"{file} is a {kind} file, not text; take its text out first") from error
        raise InvalidInput(
            f"{file} is not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}; {expected}") from error
