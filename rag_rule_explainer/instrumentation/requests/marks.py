"""This module finds short texts that identify a source: its id, title, names, figures and phrases. Such a
text is called a *mark*.

The check for omitted sources in requests (``SourceLeak``) searches for eight words in a row; marks are
shorter. A mark may be in a request by chance or for a good reason, so a found mark is only a suspicion.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...sources import Source
from .source_recognition import words_of

PHRASE = 5
"""The number of words in a row that identify a source. So many words are hardly ever in a prompt by
chance."""
AROUND = 2
"""The number of words before and after a mark (a text that identifies a source) that are compared, to
find out whether the mark comes from a text of the application."""
_LONGEST = 8
"""The largest number of words of a mark (a text that identifies a source). Longer texts are recognised by
phrases of ``PHRASE`` words."""
_NAME = re.compile(r"[^\W\d_][\w'’-]*(?:[ \t]+[^\W\d_][\w'’-]*)+")
_FIGURE = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d{3})+(?![\w])|(?<![\w.,])\d{3,}(?![\w])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_GROUPING = re.compile(r"(?<=\d)[.,](?=\d{3})")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A ``Mark`` is a short text that identifies one or more sources.

    ``words``: the text's words in lower case, by which it is compared. ``owners``: the ids of these
    sources. ``kept_by``: describes the object of the application that has held the text since the
    baseline; empty if the text was only found in a source.
    """

    text: str
    words: Words
    owners: frozenset[str]
    kept_by: str = ""


@dataclass(frozen=True, slots=True)
class FoundMark:
    """A ``FoundMark`` is a mark (a text that identifies a source) that was found in a line. ``before``,
    ``after``: the words next to it in the line."""

    mark: Mark
    before: Words
    after: Words


class SourceMarks:
    """This class collects the short texts that identify sources (their *marks*), and finds them in a line
    of a request."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._owners: dict[Words, set[str]] = {}
        self._texts: dict[Words, str] = {}
        self._kept_by: dict[Words, str] = {}
        self._longest: dict[str, int] = {}
        for source in sources:
            for text in marking_parts(source):
                self.add(text, {source.id})
            for text in texts_of(source):
                self._add_phrases(words_of(text), source.id)

    def add(self, text: str, owners: Iterable[str], kept_by: str = "") -> None:
        """Adds a mark, which is a text that identifies sources. ``owners``: the ids of these sources.
        ``kept_by``: describes the object of the application that has held the text since the baseline;
        empty if there is none."""
        words = words_of(text)
        if not words:
            return
        self._add(words, owners)
        self._texts.setdefault(words, text.strip())
        if kept_by:
            self._kept_by.setdefault(words, kept_by)

    def found_in(self, line: str) -> list[FoundMark]:
        """Returns all marks (texts that identify a source) in a line, including marks that overlap."""
        words, found = words_of(line), list[FoundMark]()
        for start, word in enumerate(words):
            for size in range(min(self._longest.get(word, 0), len(words) - start), 0, -1):
                part = words[start : start + size]
                owners = self._owners.get(part)
                if owners is None:
                    continue
                text = self._texts.get(part) or " ".join(part)
                mark = Mark(text, part, frozenset(owners), self._kept_by.get(part, ""))
                end = start + size
                around = words[max(0, start - AROUND) : start], words[end : end + AROUND]
                found.append(FoundMark(mark, *around))
        return found

    def _add(self, words: Words, owners: Iterable[str]) -> None:
        self._owners.setdefault(words, set()).update(owners)
        self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def _add_phrases(self, words: Words, owner: str) -> None:
        for start in range(len(words) - PHRASE + 1):
            self._add(words[start : start + PHRASE], [owner])


def texts_of(source: Source) -> Iterator[str]:
    """Yields all texts of a source: its text, its id, and the texts and numbers in its metadata."""
    yield source.text
    yield source.id
    yield from _flat(source.metadata, 2)


def marking_parts(source: Source) -> Iterator[str]:
    """Yields the short texts of a source that are hardly ever in a prompt by chance, such as names and
    figures."""
    for value in (source.id, *_flat(source.metadata, 2)):
        name = re.split(r"[/\\]", value.rstrip("/\\"))[-1]
        yield from (each for each in {value, name} if may_be_a_mark(each))
    lines = source.text.strip().split("\n")
    heading = lines[0].strip(" #*=-_\t")
    if len(lines) > 1 and may_be_a_mark(heading):
        yield heading
    for found in _NAME.finditer(source.text):
        yield from _names_in(found.group().split())
    for found in _FIGURE.finditer(source.text):
        figure = found.group()
        if not _YEAR.fullmatch(figure):
            yield figure
            yield _GROUPING.sub("", figure)


def may_be_a_mark(text: str) -> bool:
    """Returns True iff a short text looks like a name, an id or a figure, and not like an ordinary
    word."""
    stripped = text.strip()
    words = words_of(stripped)
    if not 0 < len(words) <= _LONGEST or len(stripped) < 2:
        return False
    if stripped.isdigit():
        return len(stripped) > 2 and not _YEAR.fullmatch(stripped)
    if not any(letter.isalpha() for letter in stripped):
        return False
    if len(stripped) == 2:
        return len(words) > 1 or any(letter.isdigit() for letter in stripped)
    return (
        len(words) > 1 or not stripped.isascii() or stripped != stripped.lower() or not stripped.isalpha()
    )


def _names_in(words: Sequence[str]) -> Iterator[str]:
    """Yields the sequences of capitalised words, as in "Marie Curie"."""
    run: list[str] = []
    for word in (*words, ""):
        if word[:1].isupper():
            run.append(word)
            continue
        if 1 < len(run) <= _LONGEST:
            yield " ".join(run)
        run = []


def _flat(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
    elif depth and isinstance(value, Mapping):
        for inner in cast("Mapping[Any, Any]", value).values():
            yield from _flat(inner, depth - 1)
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for inner in cast("Iterable[Any]", value):
            yield from _flat(inner, depth - 1)
