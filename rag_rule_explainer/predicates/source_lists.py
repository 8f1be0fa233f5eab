"""This module finds lists of citations that support a whole answer, or several sentences of it.

Such a list is a line that contains only citations, perhaps after a word such as "Sources:". It may also
be the end of a line with several sentences: the citations after the last full stop.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..late_patterns import compiled_late
from .attribution import is_attribution
from .footnotes import HEADINGS, footnotes
from .mark_places import Place
from .plain_signs import plain_signs

_LINE = compiled_late(r"[^\n]*(?:\n|\Z)")
_SIGNS = " \t\u00a0-*•+#>_~|.,;:：()[]（）【】·—–\n\r"
_LABEL = compiled_late(
    rf"(?:{HEADINGS}|[^\W\d]+(?:[ '’][^\W\d]+){{0,3}}[ \t*_]{{0,3}}[:：])[ \t*_:：]*", re.IGNORECASE
)
_HEADING = compiled_late(rf"[\s#*_>]{{0,8}}(?:{HEADINGS})[\s:：*_]{{0,8}}\Z", re.IGNORECASE)
_LABELLED = compiled_late(rf"[(（\[]\s*(?:{HEADINGS})[*_ ]{{0,3}}[:：]", re.IGNORECASE)
_STOP = compiled_late(r"[.!?…。！？।॥۔؟][\"'”’»)\]]*\s*\Z")
_WORDS = compiled_late(r"[^\W\d_]+\b")
_ENDS = compiled_late(r"(?:[.!?…।۔؟][\"'”’»)\]]{0,3}\s+|[。！？][」』”）]?\s*)")
_ENDED = compiled_late(r"[\s.,;:!?…。！？।۔؟]*")
"""Matches the punctuation and white space that follow a citation at the end of a sentence."""
_CITED = compiled_late(r"\d+|\w[\w.-]*")
_LONGEST_LINE = 2000


class SourceList(NamedTuple):
    """A ``SourceList`` is a list of citations. ``start`` and ``end``: its position. ``scope``: the part
    of the text that the list supports. ``is_line``: True if the list fills whole lines."""

    start: int
    end: int
    scope: Place
    is_line: bool


def source_lists(text: str, marks: Sequence[Place]) -> tuple[SourceList, ...]:
    """Returns the lists of citations in the text, such as "Sources: [1], [2]", in order. ``marks``: the
    position of each citation in the text, with its brackets, in order."""
    text = plain_signs(text)
    notes = {(note.start, note.end) for note in footnotes(text)}
    lines = [found.span() for found in _LINE.finditer(text) if found[0]]
    by_line = _by_line(lines, marks)
    own, heading = list[Place](), None
    for line, inside in zip(lines, by_line, strict=True):
        start, end = line
        if line in notes:
            heading = None
        elif inside and _is_list(_rest(text, line, inside)):
            is_headed = heading is not None and not text[heading[1] : start].strip()
            own.append((heading[0] if heading is not None and is_headed else start, end))
            heading = None
        elif text[start:end].strip():
            is_heading = end - start <= _LONGEST_LINE and _is_heading(text[start:end])
            heading = line if is_heading and not inside else None
            own += _sentences(text, line, inside)
    listed = set[int](start for start, _ in own)
    behind = [
        found
        for line, inside in zip(lines, by_line, strict=True)
        if line not in notes and line[0] not in listed and inside
        for found in _behind(text, line, inside)
    ]
    return tuple(sorted((*_scoped(text, _adjoined(sorted(own))), *behind)))


def _is_heading(line: str) -> bool:
    is_label = line.rstrip(" \t\n\r*_").endswith((":", "："))
    return _HEADING.match(line) is not None or (is_label and is_attribution(line))


def _sentences(text: str, line: Place, marks: Sequence[Place]) -> Iterator[Place]:
    """Yields those sentences of a line that only say where the other sentences come from, such as "See
    [1]."
    """
    if not marks or line[1] - line[0] > _LONGEST_LINE:
        return
    ends = [found.end() for found in _ENDS.finditer(text, *line)]
    ends = [end for end in ends if not any(start < end < last for start, last in marks)]
    begins = [line[0], *ends, line[1]]
    for start, end in pairwise(begins):
        inside = [mark for mark in marks if start <= mark[0] and mark[1] <= end]
        if inside and is_attribution(_rest(text, (start, end), inside)):
            yield start, end


def _by_line(lines: Sequence[Place], marks: Sequence[Place]) -> list[Sequence[Place]]:
    starts = [start for start, _ in marks]
    return [marks[bisect_left(starts, start) : bisect_left(starts, end)] for start, end in lines]


def _rest(text: str, line: Place, marks: Sequence[Place]) -> str:
    """Returns the text of a line without the citations in it. If a citation begins with a word, as
    "Source 2" does, this word is kept. ``marks``: the places of the citations."""
    ends = [line[0], *(end for _, end in marks)]
    starts = [*(start for start, _ in marks), line[1]]
    words = (_WORDS.match(text, start, end) for start, end in marks)
    pieces = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    named = [found[0] if found is not None else "" for found in words]
    return " ".join(each for pair in zip(pieces, [*named, ""], strict=True) for each in pair)


def _is_list(rest: str) -> bool:
    bare = rest.strip(_SIGNS.replace(":", "").replace("：", ""))
    if len(bare) > _LONGEST_LINE:
        return False
    return not bare.strip(_SIGNS) or _LABEL.fullmatch(bare) is not None or is_attribution(bare)


def _adjoined(lines: Sequence[Place]) -> list[Place]:
    """Returns the lines, with consecutive lines merged into one."""
    found = list[Place]()
    for start, end in lines:
        if found and start == found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _scoped(text: str, lines: Sequence[Place]) -> Iterator[SourceList]:
    """Yields the lists that fill whole lines. Each list supports the text between the previous list and
    itself. But if the text begins with a list, each list supports the text between itself and the next
    one."""
    are_first = bool(lines) and not text[: lines[0][0]].strip() and bool(text[lines[-1][1] :].strip())
    ends = [0, *(end for _, end in lines)]
    starts = [*(start for start, _ in lines), len(text)]
    between = list(zip(ends, starts, strict=True))
    for (start, end), scope in zip(lines, between[1:] if are_first else between, strict=False):
        said = text[scope[0] : scope[1]]
        if said.strip():
            first = scope[0] + len(said) - len(said.lstrip())
            yield SourceList(start, end, (first, scope[0] + len(said.rstrip())), is_line=True)


def _behind(text: str, line: Place, marks: Sequence[Place]) -> Iterator[SourceList]:
    """Yields the citations at the end of a line that follow a full stop or a word for sources. These
    citations may support all sentences since the previous citation."""
    start, end = marks[-1]
    # The pattern also matches the empty text, so there always is a match.
    begin = _ENDED.match(text, marks[-2][1]).end() if len(marks) > 1 else line[0]  # type: ignore[union-attr]
    if text[end : line[1]].strip(_SIGNS) or start <= begin:
        return
    said = text[begin:start]
    label = _LABELLED.match(text, start)
    is_labelled = label is not None and len(_CITED.findall(text, label.end(), end)) > 1
    if _STOP.search(said) or is_labelled:
        yield SourceList(start, end, (begin, end), is_line=False)
