"""This module corrects the beginnings and ends of sentences, so that each sentence contains its own
citations, list number and brackets.

A segmenter, which splits a text into sentences, takes any text after a full stop for the next sentence:
"(Source 1)" in "So it is. (Source 1) That too.", the text after the number of a list item, or a closing
bracket.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..late_patterns import compiled_late
from ..predicates.mark_places import Place
from .leading_marks import ENDING, marks_before
from .list_numbers import is_number_alone

_CLOSING = compiled_late(r"[)\]}”»’\"'*_]+(?=\s|\Z)")
_STOPS = compiled_late(r"[.,;:!?。]+(?=\s|\Z)")


def pieces_with_marks(
    text: str, pieces: Iterable[Place], marks: Sequence[Place], breaks: Sequence[Place] = ()
) -> Iterator[Place]:
    """Yields the start and the end of each piece, in order, extended by the citations that belong to the
    piece: those after it, unless they belong to the next piece.

    ``marks``: the positions of all citations, in order. ``breaks``: the positions of the lines that
    belong to no piece, in order.
    """
    before = marks_before(text, marks)
    whole = _uncut(text, _without(text, pieces, breaks), marks, before)
    yield from _moved(text, list(_numbers_joined(text, whole)), marks, before)


def _without(text: str, pieces: Iterable[Place], breaks: Sequence[Place]) -> Iterator[Place]:
    """Yields the pieces of the text, such as sentences, without the lines in ``breaks``."""
    starts = [start for start, _ in breaks]
    for start, end in pieces:
        begin = start
        for place in range(max(0, bisect_left(starts, start) - 1), len(breaks)):
            first, last = breaks[place]
            if first >= end:
                break
            if last > begin:
                if text[begin:first].strip():
                    yield begin, first
                begin = max(begin, last)
        if begin < end:
            yield begin, end


def _uncut(
    text: str, pieces: Iterable[Place], marks: Sequence[Place], before: Mapping[int, int]
) -> Iterator[Place]:
    """Yields the pieces, moved so that none ends inside a citation. Otherwise, a segmenter that takes
    the "1)" of "(Source 1)" for the number of a list item would cut the citation.

    ``marks``: the positions of all citations, in order. ``before``: the result of ``marks_before``: the
    start of each citation that stands before its sentence, by its end.
    """
    begin: int | None = None
    end = 0
    starts = [start for start, _ in marks]
    for start, end in pieces:
        begin = start if begin is None else begin
        place = bisect_left(starts, end) - 1
        mark = marks[place] if place >= 0 else (end, end)
        if mark[1] <= end:
            yield begin, end
            begin = None
        elif is_between(text, mark[0]):
            cut = mark[0] if mark[1] in before else mark[1]
            if cut > begin:
                yield begin, cut
            begin = cut
    if begin is not None and begin < len(text):
        yield begin, max(end, begin)


def _numbers_joined(text: str, pieces: Iterable[Place]) -> Iterator[Place]:
    """Yields the pieces. A piece that consists only of the number of a list item is joined to the next
    piece."""
    number: Place | None = None
    for start, end in pieces:
        begin = start
        if number is not None and not text[number[1] : start].strip():
            begin = number[0]
        elif number is not None:
            yield number
        # The number of an item may also be the last line of the piece before the item, if the segmenter
        # has not split the text there.
        line = text.rfind("\n", begin, begin + len(text[begin:end].rstrip())) + 1
        cut = max(begin, line)
        number = (cut, end) if is_number_alone(text[cut:end]) else None
        if number is None or cut > begin:
            yield begin, end if number is None else cut
    if number is not None:
        yield number


def _moved(
    text: str, pieces: Sequence[Place], marks: Sequence[Place], before: Mapping[int, int]
) -> Iterator[Place]:
    """Yields the pieces. Each citation between two pieces is moved to the piece to which it belongs.
    ``marks``: the positions of all citations. ``before``: the start of each citation that stands before
    its sentence, by its end."""
    ends = dict(marks)
    last: Place | None = None
    begin: int | None = None
    for start, end in pieces:
        begin = start if begin is None else begin
        if last is not None:
            cut = _head(text, begin, end, ends, before)
            last = (last[0], cut) if cut > begin else last
            begin = cut
            if begin >= end:
                begin = None
                continue
            yield last
        tail = _tail(text, end, before)
        last = (begin, end) if tail is None else (begin, tail) if tail > begin else None
        begin = tail
    if last is not None:
        yield last
    if begin is not None and pieces and begin < pieces[-1][1]:
        yield begin, pieces[-1][1]


def _head(text: str, begin: int, end: int, ends: Mapping[int, int], before: Mapping[int, int]) -> int:
    """Returns the position at which the content of the piece from ``begin`` to ``end`` begins: after
    closing brackets and citations that belong to the previous piece.

    ``ends``: the end of each citation, by its start. ``before``: the start of each citation that stands
    before its sentence, by its end.
    """
    is_line = begin == 0 or text[begin - 1] == "\n"
    found = None if is_line else _CLOSING.match(text, begin, end)
    place = begin if found is None else found.end()
    while place < end:
        start = place + len(text[place:end]) - len(text[place:end].lstrip())
        mark = ends.get(start)
        if mark is None or mark in before or mark > end:
            return place
        place = mark
        stops = _STOPS.match(text, place, end)
        place = place if stops is None else stops.end()
    return place


def _tail(text: str, end: int, before: Mapping[int, int]) -> int | None:
    """Returns the start of the citation that ends at ``end``, if this citation belongs to the sentence
    after it, and stands after a complete sentence or at the start of the text or a line. Otherwise
    returns None. ``before``: the start of each citation that stands before its sentence, by its end."""
    start = before.get(len(text[:end].rstrip()))
    return start if start is not None and is_between(text, start) else None


def is_between(text: str, start: int) -> bool:
    """Returns True iff this position is at the start of the text, or follows the end of a sentence or of
    a line."""
    said = text[:start].rstrip()
    return not said or said[-1] in ENDING or "\n" in text[len(said) : start]
