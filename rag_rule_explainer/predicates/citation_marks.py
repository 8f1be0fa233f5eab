"""This module finds the citations in the text of an answer.

It recognises citations in all of these forms, also if an answer mixes them:

    [1]  [2, 3]  [1-3]  [1/2]  [^1]  【1】  by position among the sources shown, or by ids (numbers)
    [D2]  [D2; D4]  (D2)  [source D2]   by id
    Source 2  sources 1 and 3           by position; also document, doc, passage
    [D99]                               an unknown source, with an id of the same pattern as known ids

Numbers in round brackets, and numbers of more than three digits, do not count as citations, because
(1889) is a year. Neither does anything in a block of code.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .joining_words import INNER_JOINT

_GROUP = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,200})\]|【(?P<corner>[^【】\n]{1,200})】|\((?P<round>[^()\[\]\n]{1,200})\)"
)
_CODE = re.compile(r"^[ \t]{0,3}```(?:.*?^[ \t]{0,3}```[ \t]*$|.*)", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"(?<=\])\([^()\s]{0,300}[./#:][^()\s]{0,300}")
"""The address of a link whose text may be a citation."""
_NAMING = re.compile(
    r"(?:see|cf\.?|sources?|documents?|docs?\.?|passages?|(?:doc_?|source_?)?id)[ :#=]{1,3}",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"[\^#]?(\d{1,3})(?: ?[-–] ?(\d{1,3}))?")
_WORDED = re.compile(
    r"(?<![\w-])(?:(?:source|document|doc|passage)\.?[\s:#]{0,3}\d{1,3}"
    r"|(?:sources|documents|docs|passages)[\s:#]{0,3}\d{1,3}"
    r"(?:(?: ?[,;&] ?| ?[-–] ?| and |, and )\d{1,3}){0,50})(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_LONGEST_RANGE = 30
_RANGE = re.compile(r"(\d+)(?: ?[-–] ?(\d+))?")


class Citation(NamedTuple):
    """A ``Citation`` is one citation in an answer. ``written``: how the answer writes it, such as "[2]".
    ``id``: the id of the cited source; None if there is no such source."""

    written: str
    id: str | None


class CitationMark(NamedTuple):
    """A ``CitationMark`` is one place in an answer that cites, such as "[2, 3]". ``start`` and ``end``:
    its place in the text. ``citations``: the citations at this place."""

    start: int
    end: int
    citations: tuple[Citation, ...]


def citations(text: str, kept: Iterable[str], known: Iterable[str]) -> Iterator[Citation]:
    """Yields every citation in the text, in the forms that the docstring of this module lists.
    ``kept``: the ids of the sources that were shown, in order. ``known``: the ids of all sources."""
    for mark in citation_marks(text, kept, known):
        yield from mark.citations


def citation_marks(text: str, kept: Iterable[str], known: Iterable[str]) -> Iterator[CitationMark]:
    """Yields every place in the text that cites, in order; no two of them overlap. The parameters are
    those of ``citations``."""
    places = tuple(kept)
    reading = _Reading(places, frozenset((*places, *known)))
    code = [found.span() for found in _CODE.finditer(text)] if "```" in text else []
    begins = [start for start, _ in code]
    for mark in sorted(_marks(text, reading)):
        before = bisect_right(begins, mark.start) - 1
        if before < 0 or mark.start >= code[before][1]:
            yield mark


def _marks(text: str, reading: "_Reading") -> Iterator[CitationMark]:
    ends, starts = list[int](), list[int]()
    for group in _GROUP.finditer(text):
        content = (group["square"] or group["corner"] or group["round"]).strip().rstrip("\\")
        found = tuple(reading.group(content, square=group["round"] is None))
        if not found and _WORDED.fullmatch(content):
            found = tuple(reading.worded(content))
        if found:
            # Markdown writes brackets as "\\[1\\]" too.
            is_escaped = text.startswith("\\", group.start() - 1) and text[group.end() - 2] == "\\"
            starts.append(group.start() - is_escaped)
            ends.append(group.end())
            yield CitationMark(starts[-1], group.end(), found)
    addresses = [each.span() for each in _ADDRESS.finditer(text)]
    linked = [start for start, _ in addresses]
    for worded in _WORDED.finditer(text):
        before = bisect_right(starts, worded.start()) - 1
        address = bisect_right(linked, worded.start()) - 1
        if address >= 0 and worded.start() < addresses[address][1]:
            continue
        if before < 0 or ends[before] <= worded.start():
            yield CitationMark(worded.start(), worded.end(), tuple(reading.worded(worded[0])))


class _Reading(NamedTuple):
    """A ``_Reading`` finds the citations in pieces of an answer.

    ``kept``: the ids of the sources that were shown, in order, which give the numbers their meaning.
    ``ids``: the ids of all sources.
    """

    kept: tuple[str, ...]
    ids: frozenset[str]

    def group(self, content: str, *, square: bool) -> Iterator[Citation]:
        """Yields the citations in the text between two brackets. ``square``: False for round brackets, in
        which only ids that are no numbers count."""
        if content in self.ids and (square or not content.isdecimal()):
            yield self._by_id(content, square=square)
            return
        for part in INNER_JOINT.split(content):
            token = _NAMING.sub("", part.partition("†")[0].strip(), count=1)
            if token in self.ids and (square or not token.isdecimal()):
                yield self._by_id(token, square=square)
            elif square:
                yield from self._unknown(token)

    def _unknown(self, token: str) -> Iterator[Citation]:
        numbers = _NUMBERS.fullmatch(token)
        if numbers is not None:
            yield from self._by_numbers("[{}]", numbers)
        elif re.search(r"\d", token) and _shape(token) in map(_shape, self.ids):
            yield Citation(f"[{token}]", None)

    def worded(self, written: str) -> Iterator[Citation]:
        """Yields the citations in a phrase such as "sources 1 and 3"."""
        if written in self.ids:
            yield Citation(written, written)
            return
        for numbers in _RANGE.finditer(written):
            yield from self._by_numbers("source {}", numbers)

    def _by_id(self, identity: str, *, square: bool) -> Citation:
        return Citation(f"[{identity}]" if square else f"({identity})", identity)

    def _by_numbers(self, form: str, numbers: re.Match[str]) -> Iterator[Citation]:
        are_ids = bool(self.ids) and all(each.isdecimal() for each in self.ids)
        for number in spelt_out(int(numbers[1]), int(numbers[2] or numbers[1])):
            place = number - 1 if 1 <= number <= len(self.kept) else None
            by_place = None if place is None else self.kept[place]
            is_id = are_ids or str(number) in self.ids
            yield Citation(form.format(number), str(number) if is_id else by_place)


def spelt_out(first: int, last: int) -> Iterable[int]:
    """Returns the numbers from ``first`` to ``last``. If the range runs backwards or is too long to be a
    real citation, returns only these two numbers."""
    return range(first, last + 1) if first <= last < first + _LONGEST_RANGE else {first, last}


def _shape(identity: str) -> str:
    """Returns the pattern of an id, which shows whether an unknown text looks like an id. In the pattern,
    "#" stands for a number, so D2 and D17 have the same pattern. An id that is a number has one "#" for
    each digit instead."""
    return "#" * len(identity) if identity.isdecimal() else re.sub(r"\d+", "#", identity)
