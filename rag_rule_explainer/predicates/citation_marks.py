r"""This module finds the citations in the text of an answer.

It recognises all of these forms, even if one answer mixes them:

    [1]  [2, 3]  [1-3]  [1/2]  [^1]  【1】  by position, or by ids that are numbers
    [D2]  [D2; D4]  (D2)  [source D2]  [@D2]  \\cite{D2}   by id
    Source 2  sources 1 to 3  (Quelle 2)    by position; also document, doc, passage, in many languages
    <sup>1</sup>  so it is¹                 by position
    [D99]                               an unknown source, with an id of the same pattern as known ids

A citation may also name a place in the source, as in [1, p. 3]. Numbers in round brackets and numbers of
more than three digits are not citations, because (1889) is a year. Nothing in code or in a formula is a
citation.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..late_patterns import compiled_late
from .attribution import is_attribution
from .code_places import code_places
from .mark_contents import Citation, MarkContents
from .naming_words import WORDED
from .no_marks import why_no_mark
from .plain_signs import plain_signs
from .superscripts import superscripts

_GROUP = compiled_late(
    r"~?\\(?:\w{0,8}cite\w{0,10})\*?(?:\[[^\[\]\n]{0,100}\]){0,2}\{(?P<tex>[^{}\n]{1,200})\}"
    r"|\[(?P<square>[^\[\]\n]{1,200})\]|【(?P<corner>[^【】\n]{1,200})】|\((?P<round>[^()\[\]\n]{1,200})\)"
)
_ADDRESS = compiled_late(r"(?<=\])\([^()\s]{0,300}[./#:][^()\s]{0,300}")
"""Matches the address of a Markdown link whose text may be a citation, as in "[1](guide.pdf)"."""
_LABELLED = compiled_late(
    r"^[ \t#*_>(-]{0,8}(?P<label>[^\n:：–—\[\]\d]{2,60}?)[*_ \t]{0,4}(?:[:：]|[–—-](?=[ \t]))[*_ \t]{0,4}"
    r"(?P<rest>[^\n\[\]【】]{1,300}?)[ \t.)*_]{0,6}$",
    re.MULTILINE,
)
_IN_PROSE = compiled_late(r"(?<![\w@.])@([\w][\w.:/-]{0,100}\w|\w)")
_RANGE_SIGN = compiled_late(
    r"\s?(?:[-–~～]|…|\.\.\.?)\s?|\s(?:to|through|until|bis|à|hasta|al|até|tot|до|по|إلى)\s|\s?[至到から]{1,2}\s?",
    re.IGNORECASE,
)


class CitationMark(NamedTuple):
    """A ``CitationMark`` is a part of an answer that cites sources, such as "[2, 3]". ``start`` and
    ``end``: its position in the text. ``citations``: the citations that it contains."""

    start: int
    end: int
    citations: tuple[Citation, ...]


def citations(text: str, kept: Iterable[str], known: Iterable[str]) -> Iterator[Citation]:
    """Yields every citation in the text, such as "[1]", "[D2]" or "Source 2". ``kept``: the ids of the
    sources that were shown, in order. ``known``: the ids of all sources."""
    for mark in citation_marks(text, kept, known):
        yield from mark.citations


def citation_marks(text: str, kept: Iterable[str], known: Iterable[str]) -> Iterator[CitationMark]:
    """Yields every part of the text that cites sources, such as "[1, 2]", in order; no two of them
    overlap. ``kept``: the ids of the sources that were shown, in order. ``known``: the ids of all
    sources."""
    places, plain = tuple(kept), plain_signs(text)
    reading = MarkContents(places, frozenset((*places, *known)))
    code = code_places(plain)
    begins = [start for start, _ in code]
    found, last = list[CitationMark](), -1
    for mark in sorted(_marks(plain, reading)):
        before = bisect_right(begins, mark.start) - 1
        if mark.start < last or (before >= 0 and mark.start < code[before][1]):
            continue
        found.append(mark)
        last = mark.end
    yield from _ranges(plain, found, reading)


def _marks(text: str, reading: MarkContents) -> Iterator[CitationMark]:
    groups = list(_groups(text, reading))
    yield from groups
    taken = [(mark.start, mark.end) for mark in groups]
    taken = sorted([*taken, *(each.span() for each in _ADDRESS.finditer(text))])
    starts = [start for start, _ in taken]
    for start, end, cited in _others(text, reading):
        before = bisect_right(starts, start) - 1
        if before < 0 or taken[before][1] <= start:
            yield CitationMark(start, end, cited)


def _groups(text: str, reading: MarkContents) -> Iterator[CitationMark]:
    for group in _GROUP.finditer(text):
        is_round = group["round"] is not None
        content = next(filter(None, group.groups())).strip().rstrip("\\").strip()
        found = tuple(reading.in_brackets(content, square=not is_round))
        if not found:
            continue
        # Markdown can also write brackets with backslashes, as "\\[1\\]".
        is_escaped = text.startswith("\\", group.start() - 1) and text[group.end() - 2] == "\\"
        start = group.start() - is_escaped
        why = why_no_mark(text, start, group.end()) if group["square"] else ""
        yield CitationMark(start, group.end(), _doubted(found, why, is_said=True))


def _doubted(cited: tuple[Citation, ...], why: str, *, is_said: bool) -> tuple[Citation, ...]:
    return tuple(each._replace(doubt=why, is_said=is_said) for each in cited) if why else cited


def _others(text: str, reading: MarkContents) -> Iterator[tuple[int, int, tuple[Citation, ...]]]:
    """Yields the start, the end and the citations of each mark without brackets, such as "Source 2" or a
    superscript number. ``reading``: knows the ids of the sources."""
    for line in _LABELLED.finditer(text):
        if is_attribution(line["label"]):
            cited = reading.alone(
                line["rest"], is_headed=is_attribution(line["label"], names_sources=True)
            )
            if cited:
                yield *line.span("rest"), cited
    for found in WORDED.finditer(text):
        # A number on the next line may be the number of a list item, as in "These documents:\n1. So it
        # is."
        line = text.find("\n", *found.span())
        worded = found if line < 0 else WORDED.match(text, found.start(), line)
        if worded is not None:
            yield *worded.span(), tuple(reading.worded(worded[0]))
    for named in _IN_PROSE.finditer(text) if "@" in text else ():
        if named[1] in reading.ids:
            yield *named.span(), (Citation(named[0], named[1]),)
    for start, end, numbers, why in superscripts(text):
        cited = (each for first, last in numbers for each in reading.by_numbers("[{}]", first, last))
        yield start, end, _doubted(tuple(cited), why, is_said=False)


def _ranges(text: str, marks: Sequence[CitationMark], reading: MarkContents) -> Iterator[CitationMark]:
    """Yields the citation marks of a text. If two of them are the ends of a range, as in "[1]–[3]",
    yields one mark for the whole range."""
    before: CitationMark | None = None
    for mark in marks:
        first = None if before is None else _only_number(before)
        last, between = _only_number(mark), ""
        if before is not None and mark.start - before.end <= len(" through "):
            between = text[before.end : mark.start]
        if before is not None and first and last and first < last and _RANGE_SIGN.fullmatch(between):
            cited = tuple(reading.by_numbers("[{}]", str(first), str(last)))
            before = CitationMark(before.start, mark.end, cited)
            continue
        if before is not None:
            yield before
        before = mark
    if before is not None:
        yield before


def _only_number(mark: CitationMark) -> int | None:
    """Returns the number in a mark that contains only one number in brackets; None for any other mark."""
    written = mark.citations[0].written.strip("[]") if len(mark.citations) == 1 else ""
    is_sure = written.isdecimal() and not mark.citations[0].doubt
    return int(written) if is_sure else None
