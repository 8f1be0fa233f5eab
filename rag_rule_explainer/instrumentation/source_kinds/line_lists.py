"""This module finds lists in which each item begins a line: points such as "- milk" or "2. milk",
numbered blocks such as "Result 1: milk" or "[1] milk", and the rows of a Markdown table."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...predicates.mark_places import Place
from .list_data import ListData

_POINT = re.compile(
    r"(?P<indent>[ \t]*)(?P<mark>[-*+•]|(?P<number>\d{1,4})[.)]|\((?P<inside>\d{1,4})\))[ \t]+(?=\S)"
)
"""Matches the mark before a point of a list, such as "- ", "2. " or "(3) "."""
_LABEL = re.compile(
    r"(?P<before>(?:[#*=-]+ ?)?(?:(?P<word>[^\W\d_]+(?: [^\W\d_]+)?) )?[\[#]?)(?P<number>\d{1,4})"
    r"(?P<after>[\])]?[*]*[.:)]?[*]*(?: ?[=-]+)?:?)(?=\s)"
)
"""Matches the label before a block, such as "Result 1:", "[1]", "## Document 1" or "--- Mail 1 ---"."""
_NUMBERED = frozenset(
    {
        *("answer", "article", "comment", "document", "doc", "email", "entry", "event", "file"),
        *("fragment", "hit", "item", "listing", "mail", "match", "message", "note", "paper"),
        *("passage", "post", "record", "result", "review", "row", "snippet", "source"),
    }
)
"""Words before a number that gives only the place in the list. Other words, such as "Room", may stand
before the name of a thing."""
_BETWEEN_COLUMNS = re.compile(r":?-+:?")
"""Matches a cell of the line below the column names of a Markdown table, such as ":---"."""


class WrittenList(NamedTuple):
    """A ``WrittenList`` is a list in a text: the texts and places of its items, the text that replaces a
    blanked item, the place of all items together, and the places of numbers that count the items.

    ``numbers``: the place of the number of each item, if the items are numbered. ``is_doubtful``: True if
    it is unknown whether numbers before the items give their places in the list. ``data``: the list as
    data, if the text is JSON or a table.
    """

    texts: Sequence[str]
    spans: Sequence[Place]
    blank: Callable[[int], str]
    room: Place
    counts: Sequence[Place] = ()
    numbers: Sequence[Place] = ()
    is_doubtful: bool = False
    data: ListData | None = None


def list_of_lines(text: str, core: Place) -> WrittenList | None:
    """Returns the list between two places of a text; None if there is no list in which each item begins a
    line."""
    return _table(text, core) or _points(text, core) or _blocks(text, core)


def _lines_at(text: str, span: Place) -> Iterator[Place]:
    start = span[0]
    while start < span[1]:
        found = text.find("\n", start, span[1])
        end = span[1] if found < 0 else found + 1
        yield start, end
        start = end


def _points(text: str, core: Place) -> WrittenList | None:
    lines = list(_lines_at(text, core))
    marks = [_POINT.match(text, *each) for each in lines]
    first = marks[0] if marks else None
    if first is None:
        return None
    spans, indent = list[Place](), first["indent"]
    for (start, end), mark in zip(lines, marks, strict=True):
        line = text[start:end]
        if mark is not None and mark["indent"] == indent:
            spans.append((start, end))
        elif not line.strip() or (line.startswith(indent) and line[len(indent)].isspace()):
            spans[-1] = (spans[-1][0], end)
        else:
            return None
    if len(spans) < 2:
        return None
    read = [mark for each in spans if (mark := _POINT.match(text, *each)) is not None]
    texts = [text[mark.end() : end].strip() for mark, (_, end) in zip(read, spans, strict=True)]

    def blank(place: int) -> str:
        return f"{indent}{read[place]['mark']}\n"

    places = [max(mark.span("number"), mark.span("inside")) for mark in read]
    numbers, is_doubtful = _running(text, places)
    return WrittenList(texts, spans, blank, (spans[0][0], spans[-1][1]), (), numbers, is_doubtful)


def _running(text: str, places: Sequence[Place]) -> tuple[Sequence[Place], bool]:
    """Returns the places of the items' numbers if these run 0, 1, 2 ... or 1, 2, 3 ..., otherwise none.
    Also returns True iff it is unknown whether they give the items' places: 4, 5, 6 may be the second
    page of a list, or the names of three things."""
    if any(each[0] < 0 for each in places):
        return (), False
    values = [int(text[slice(*each)]) for each in places]
    steps = {later - one for one, later in pairwise(values)}
    if steps == {1} and values[0] in {0, 1}:
        return places, False
    return (), steps in ({1}, {-1})


def _blocks(text: str, core: Place) -> WrittenList | None:
    """Returns the items of a list in which a label with a number begins each item. Returns None if the
    numbers do not run from 0 or 1, if a label may be the name of a thing, and if it is unknown where the
    last item ends."""
    lines = list(_lines_at(text, core))
    first = _LABEL.match(text, *lines[0]) if lines else None
    if first is None or not _gives_a_place(first):
        return None
    spans, read = list[Place](), list[re.Match[str]]()
    for start, end in lines:
        mark = _LABEL.match(text, start, end)
        if mark is not None and all(mark[name] == first[name] for name in ("before", "after")):
            spans.append((start, end))
            read.append(mark)
        elif spans:
            spans[-1] = (spans[-1][0], end)
    numbers, _ = _running(text, [each.span("number") for each in read])
    if len(spans) < 2 or not numbers or not _ends_for_sure([text[slice(*each)] for each in spans]):
        return None
    # "#2" may be the place of an item, or its name, as that of an issue. Then it belongs to the item.
    is_name = not first["word"] and "[" not in first["before"]
    starts = [mark.start() if is_name else mark.end() for mark in read]
    texts = [text[start:end].strip() for start, (_, end) in zip(starts, spans, strict=True)]
    if not all(text[mark.end() : end].strip() for mark, (_, end) in zip(read, spans, strict=True)):
        return None

    def blank(place: int) -> str:
        start, end = spans[place]
        kept = len(text[start:end].rstrip())
        return text[slice(*read[place].span())] + text[start + kept : end]

    numbers = () if is_name else numbers
    return WrittenList(texts, spans, blank, (spans[0][0], spans[-1][1]), (), numbers)


def _gives_a_place(label: re.Match[str]) -> bool:
    word = (label["word"] or "").lower().split()
    if word:
        return word[-1] in _NUMBERED
    # The numbers in "1: import os" may be those of lines of a file, which say little alone.
    return bool(label["before"].strip("*= -"))


def _ends_for_sure(items: Sequence[str]) -> bool:
    """Returns True iff the last item ends with the text: no item has a blank line in it, and the last has
    not more lines than others. Otherwise its end may be a line about the whole list."""
    sizes = [len(each.strip().splitlines()) for each in items]
    has_gaps = any(not line.strip() for each in items for line in each.strip().splitlines())
    apart = all(each.endswith(("\n\n", "\r\n\r\n")) for each in items[:-1])
    if has_gaps or sizes[-1] > max(sizes[:-1]):
        return False
    return apart or len(set(sizes)) == 1


def _table(text: str, core: Place) -> WrittenList | None:
    lines = [each for each in _lines_at(text, core) if text[slice(*each)].strip()]
    written = [text[slice(*each)].strip() for each in lines]
    cells = written[1].strip("|").split("|") if len(lines) > 2 else []
    if not cells or not all(_BETWEEN_COLUMNS.fullmatch(each.strip()) for each in cells):
        return None
    if not all("|" in each for each in written) or lines[-1][1] - lines[0][0] != sum(
        end - start for start, end in lines
    ):
        return None
    spans = lines[2:]

    def blank(place: int) -> str:
        return "|" + "  |" * len(cells) + "\n" * text.endswith("\n", *spans[place])

    names = [each.strip() or f"column {n}" for n, each in enumerate(_cells(written[0]), start=1)]
    rows = [dict(zip(names, map(str.strip, _cells(each)), strict=False)) for each in written[2:]]
    room = (spans[0][0], spans[-1][1])
    return WrittenList(written[2:], spans, blank, room, data=ListData(rows))


def _cells(row: str) -> Sequence[str]:
    return row.removeprefix("|").removesuffix("|").split("|")
