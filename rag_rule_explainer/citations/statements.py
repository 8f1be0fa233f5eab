"""This module divides an answer into its statements, each with its own citations."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeAlias, cast

from ..allowed import brief
from ..errors import InvalidInput, MissingExtra
from ..predicates.footnotes import footnotes
from ..predicates.mark_places import Place, places_of_marks, widened
from ..predicates.source_lists import source_lists
from ..predicates.without_marks import without_marks
from .leftovers import why_only_sources, why_unclear
from .list_numbers import list_marks
from .parts import between_two, of_parts
from .pieces import pieces_with_marks
from .reading import CitableSources, CitingText, ReadCitation
from .said import words_said

SplitText: TypeAlias = Callable[[str], Iterable[str]]
"""A function that divides a text into pieces, such as sentences, in their order."""
_LINE = re.compile(
    r"(?:(?<=[\])】>|])|\b(?:[Ss]ources?|[Dd]ocuments?|[Dd]ocs?)[ \t#]{1,2}\d{1,3})[.,;:*_ \t]*\r?\n"
    r"(?=[ \t]*[^\s\w]|[ \t]*[^\Wa-z])|\n(?=[ \t]*\|)"
    r"|</(?:li|p|tr|div|h[1-6]|blockquote)>\s*|<br ?/?>\s*",
)
"""Matches the end of a line that contains a statement, as in a list: the line ends after a citation,
before a row of a table, or after a tag such as ``</li>``."""
_TAG = re.compile(r"</?[a-z]\w{0,9}(?: [^<>]{0,100})?/?>", re.IGNORECASE)

_COLON = re.compile(r"\A((?:[-*•+]|\(?\w{1,3}[.)])(?:[ \t]*[*_]{2,4}(?=[:：]))?)[ \t]*[:：][*_ \t]*")
"""Matches the colon after the citation at the beginning of a list item, as in "- Source 1: so it is"."""
_POINT = re.compile(r"(?<=[(（])[^()（）\n]{1,60}[ \t#]\d{1,3}(?=[)）])")
"""Matches the words and the number inside brackets, as in "(Source 1)". The segmenter, which splits the
text into sentences, gets letters in their place. Otherwise it would take the "1)" for the number of a
list item."""


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A ``CitedStatement`` is one statement of an answer.

    ``text``: its text without citations. ``start`` and ``end``: its position in the answer.
    ``citations``: the citations that belong to it. ``listed``: the number of characters at the start of
    ``text`` that are only a list number or bullet. ``doubt``: the reason why it is uncertain what the
    statement says; empty if it is certain.
    """

    text: str
    start: int
    end: int
    citations: tuple[ReadCitation, ...]
    listed: int = 0
    doubt: str = ""


def sentences(text: str, language: str = "en") -> Sequence[str]:
    """Returns the sentences of a text. Raises MissingExtra if the library for it is not installed."""
    try:
        segmenter: Any = import_module("sentencex")
    except ImportError as error:
        raise MissingExtra.naming("citations", "dividing an answer into sentences") from error
    begins = [0, *(found.end() for found in _LINE.finditer(text)), len(text)]
    masked, place, found = _POINT.sub(_masked, text), 0, list[str]()
    for start, end in pairwise(begins):
        for each in cast("Iterable[Any]", segmenter.segment(language, masked[start:end])):
            begin = masked.find(str(each), place)
            place = max(begin, place) + len(str(each))
            found.append(str(each) if begin < 0 else text[begin:place])
    return found


def _masked(found: re.Match[str]) -> str:
    """Returns one letter for each character of the matched text. A segmenter does not divide a text
    between letters, and no position changes."""
    return "w" * len(found[0])


def statements_in(
    reading: CitingText, shown: CitableSources, split: SplitText
) -> tuple[CitedStatement, ...]:
    """Returns the statements of an answer, in order. Footnotes and lists of references are no statements.

    A citation belongs to the statement that contains it. A citation that spans several statements belongs
    to all of these. A citation whose position is unknown belongs to all statements. ``split``: a function
    that divides the text into pieces. Raises InvalidInput if it returns a piece that the text does not
    contain.
    """
    marks = _marks(reading, shown)
    places = list(_places(reading, shown, split, marks))
    spans = [(start, end) for start, end, _ in places]
    citations = [
        _within(each, spans, len(reading.text))
        for each in between_two(reading.text, spans, marks, reading.citations)
    ]
    listed = list_marks([text for _, _, text in places])
    found = list[CitedStatement]()
    for (start, end, text), own in zip(places, listed, strict=True):
        cited = tuple(_of(citations, (start, end), first=not found))
        inside = [each for each in marks if start <= each[0] and each[1] <= end]
        cited = tuple(of_parts(reading.text, (start, end), inside, cited))
        statement = CitedStatement(text, start, end, cited, own)
        doubt = next((each.why for each in cited if each.is_said), "")
        doubt = doubt or why_unclear(reading.text, (start, end), inside, said_by(statement))
        found.append(replace(statement, doubt=doubt))
    only = why_only_sources(reading.text, spans, [each.citations for each in found])
    return (*found[:-1], replace(found[-1], doubt=found[-1].doubt or only)) if only else tuple(found)


def _places(
    reading: CitingText, shown: CitableSources, split: SplitText, marks: Sequence[Place]
) -> Iterator[tuple[int, int, str]]:
    text = reading.text
    lists = [(each.start, each.end) for each in source_lists(text, marks) if each.is_line]
    notes = [(note.start, note.end) for note in footnotes(text)]
    breaks = sorted({*lists, *notes})
    found: tuple[int, int, str] | None = None
    for start, end in pieces_with_marks(text, _pieces(text, split), marks, breaks):
        piece = text[start:end]
        bare = without_marks(piece, shown.ids, shown.known, reading.pattern).lstrip(" \t\n:：,;").rstrip()
        bare = _COLON.sub(r"\1 ", bare)
        if any(character.isalnum() for character in _TAG.sub("", bare)):
            if found is not None:
                yield found
            found = (start, end, bare)
        elif found is not None and piece.strip():
            found = (found[0], end, found[2])
    if found is not None:
        yield found


def _pieces(text: str, split: SplitText) -> Iterator[Place]:
    """Yields the start and the end of each piece in the text. Raises InvalidInput if a piece does not
    occur in the text after the previous piece."""
    after = 0
    for piece in split(text):
        if not isinstance(piece, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(f"split returned {brief(piece)}; return pieces of the text")
        start = text.find(piece, after)
        if start < 0:
            raise InvalidInput(f"split returned {brief(piece)}, which does not stand there in the text")
        after = start + len(piece)
        yield start, after


def _marks(reading: CitingText, shown: CitableSources) -> list[Place]:
    return widened(reading.text, places_of_marks(reading.text, shown.known, reading.pattern))


def _within(citation: ReadCitation, spans: Sequence[Place], length: int) -> ReadCitation:
    """Returns the citation unchanged if it belongs to a statement or has no position. Otherwise, it may
    belong to any statement, so its ``scope`` becomes the whole text. ``spans``: the positions of all
    statements. ``length``: the number of characters of the text."""
    if citation.start is None or any(
        _belongs(citation, span, first=not place) for place, span in enumerate(spans)
    ):
        return citation
    return replace(citation, scope=(0, length))


def _of(citations: Sequence[ReadCitation], place: Place, *, first: bool) -> Iterator[ReadCitation]:
    for each in citations:
        if each.start is None or each.end is None or _belongs(each, place, first=first):
            yield each


def _belongs(citation: ReadCitation, place: Place, *, first: bool) -> bool:
    """Returns True iff a citation belongs to the statement at this position. ``first``: True for the
    first statement, to which citations before it belong too."""
    start, end = citation.scope or (citation.start or 0, citation.end or 0)
    if start == end:
        return place[0] < start <= place[1] or (first and start <= place[0])
    return start < place[1] and end > place[0]


def said_by(statement: CitedStatement) -> str:
    """Returns the content of the statement without its list number or bullet. In a replay, the second
    item of a list may become the first. ``words_said`` says which other words are removed."""
    return words_said(statement.text[statement.listed :])
