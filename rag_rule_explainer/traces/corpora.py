"""This module finds the texts of documents of which a trace holds only the ids."""

import os.path
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from ..errors import InvalidInput
from ..printable import type_said
from ..sources.given import given_parts
from .documents import document_in
from .records import records_in
from .spans import TracedDocument

_SHORTEST = 12
"""The minimum number of characters of a text that is recognised within another one."""
_MOST_PLACES = 1000
"""The maximum number of places at which one document is found in a longer text; further places are
ignored."""
_LONGEST_FILE = 32 << 20
_EXPECTED = (
    'give lines like {"id": "D1", "text": "..."} in a .jsonl, or a folder of texts whose names are '
    "the ids"
)
CorpusLike: TypeAlias = "str | Path | Mapping[str, str] | Iterable[Any] | Callable[[str], str | None]"
"""The types that callers may give as a corpus: a file or folder, a dict from ids to texts, documents, or
a function from an id to a text."""


class Corpus(Protocol):
    """A ``Corpus`` finds documents by their ids or by their texts. ``name``: the name of the corpus in
    error messages."""

    name: str

    def texts(self, ids: Sequence[str]) -> dict[str, TracedDocument]:
        """Returns the documents of the corpus that have one of these ids."""
        ...

    def within(self, text: str) -> tuple[TracedDocument, ...]:
        """Returns the documents whose whole texts occur in ``text``, in the order in which they occur
        there."""
        ...


class ListedCorpus:
    """A ``ListedCorpus`` is a corpus whose documents can be listed. ``make``: returns an iterator over
    all of them."""

    def __init__(self, name: str, make: Callable[[], Iterator[TracedDocument]]) -> None:
        self.name = name
        self._make = make

    def texts(self, ids: Sequence[str]) -> dict[str, TracedDocument]:
        """Returns the documents with these ids. Raises InvalidInput if two documents with different texts
        have the same id."""
        wanted, found = set(ids), dict[str, TracedDocument]()
        for each in self._make():
            if each.id in wanted and each.text is not None:
                known = found.setdefault(each.id, each)
                if known.text != each.text:
                    raise InvalidInput(f"{self.name}: the id {each.id!r} stands for two different texts")
        return found

    def within(self, text: str) -> tuple[TracedDocument, ...]:
        """Returns the documents whose texts occur in ``text``. A document is left out if its text occurs
        only within a longer text that was found."""
        found = list[tuple[int, int, TracedDocument]]()
        for each in self._make():
            own = (each.text or "").strip()
            if len(own) >= _SHORTEST:
                found.extend((at, at + len(own), each) for at in islice(_places(text, own), _MOST_PLACES))
        found.sort(key=lambda place: (place[0], -place[1]))
        kept = dict[int, TracedDocument]()
        end = -1
        for begin, until, each in found:
            if begin >= end:
                kept.setdefault(id(each), each)
                end = until
        return tuple(kept.values())


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


class AskedCorpus:
    """An ``AskedCorpus`` is a corpus that the caller gave as a function, which returns the text with an
    id, or None if there is no such text."""

    def __init__(self, name: str, function: Callable[[str], Any]) -> None:
        self.name = name
        self._function = function

    def texts(self, ids: Sequence[str]) -> dict[str, TracedDocument]:
        """Returns the documents with these ids. Raises InvalidInput if the function fails, or returns
        anything but a text, a document or None."""
        found = dict[str, TracedDocument]()
        for each in ids:
            try:
                given = self._function(each)
            except Exception as error:  # a function of the user's own may raise anything
                raise InvalidInput(f"{self.name} failed for the id {each!r}: {error!r}") from error
            if given is not None:
                found[each] = _document(given, each, self.name)
        return found

    def within(self, text: str) -> tuple[TracedDocument, ...]:
        """Raises InvalidInput, because a user's function finds texts only by their ids."""
        del text
        raise InvalidInput(
            f"{self.name} is a function from ids to texts, and the trace holds no ids; give a file, a "
            "folder or a list of documents"
        )


def corpus_of(given: "CorpusLike | None") -> Corpus | None:
    """Returns the corpus that a caller gave; None for None.

    Raises InvalidInput if there is no such file, and for a value of another type.
    """
    if given is None:
        return None
    if isinstance(given, (str, Path)):
        return _of_path(Path(given))
    if isinstance(given, Mapping):
        texts = cast("Mapping[str, Any]", given)
        named = [_document(text, str(key), "corpus") for key, text in texts.items()]
        return ListedCorpus("corpus", lambda: iter(named))
    if callable(given):
        return AskedCorpus(getattr(given, "__name__", "corpus"), given)
    if isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        listed = [_document(each, None, "corpus") for each in given]
        return ListedCorpus("corpus", lambda: iter(listed))
    raise InvalidInput(
        f"corpus is {type_said(given)}; give a path, a dict from ids to texts, documents, or a "
        "function from an id to a text"
    )


def _document(given: Any, identity: str | None, name: str) -> TracedDocument:
    text, own, metadata = (getattr(given, key, None) for key in ("text", "id", "metadata"))
    if not isinstance(text, str):
        parts = given_parts(given)
        if parts is None or not isinstance(parts.text, str):
            raise InvalidInput(f"{name} has {type_said(given)} for a document; give texts or documents")
        text, own, metadata = parts.text, parts.id, parts.metadata
    held = dict(cast("Mapping[str, Any]", metadata)) if isinstance(metadata, Mapping) else None
    return TracedDocument(text, identity or (None if own is None else str(own)), held or {})


def _of_path(path: Path) -> Corpus:
    if os.path.isdir(path):  # noqa: PTH112 -- Path.is_dir may raise an error, os.path does not
        return ListedCorpus(str(path), lambda: _in_folder(path))
    if not os.path.exists(path):  # noqa: PTH110 -- Path.exists may raise an error, os.path does not
        raise InvalidInput(f"there is no corpus {path}; {_EXPECTED}")
    if not os.path.isfile(path):  # noqa: PTH113 -- Path.is_file may raise an error, os.path does not
        raise InvalidInput(f"the corpus {path} is a stream, and may be read twice; {_EXPECTED}")
    return ListedCorpus(str(path), lambda: _in_file(path))


def _in_file(path: Path) -> Iterator[TracedDocument]:
    for place, record in _records_in(path):
        found = document_in(record)
        if found is None or found.text is None:
            raise InvalidInput(f'{place} is no document; write {{"id": "D1", "text": "..."}}')
        yield found


def _records_in(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        yield from records_in(path)
    except InvalidInput as error:
        what = str(error.args[0]).partition("; give the export")[0]
        raise InvalidInput(f"the corpus {what}; {_EXPECTED}") from error


def _in_folder(folder: Path) -> Iterator[TracedDocument]:
    """Yields each text file in the folder as a document. Its id is its path in the folder; its file name,
    with and without the suffix, are further ids."""
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in {".txt", ".md"} or not file.is_file():
            continue
        if file.stat().st_size > _LONGEST_FILE:
            raise InvalidInput(
                f"{file} is larger than {_LONGEST_FILE >> 20} MB; take it out of the corpus"
            )
        try:
            text = file.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{file} cannot be read as UTF-8 text: {error}") from error
        whole = file.relative_to(folder).as_posix()
        for identity in dict.fromkeys((whole, whole.removesuffix(file.suffix), file.name, file.stem)):
            yield TracedDocument(text, identity)
