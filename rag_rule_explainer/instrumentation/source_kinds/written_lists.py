"""This module finds the items of a list in the text that a tool returned.

The list may be JSON, lines of JSON, Python's ``repr`` of a list, points such as "- milk" or "2. milk", or
a Markdown table. Before the list, there may be one line of text; after it, a line that counts the items,
such as "2 results". All of it may be in a block of code ("```").
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, cast

from ...predicates.mark_places import Place
from ..clients.of_listing import results_at
from ..clients.written import literal_in
from .bracketed import elements_at, span_at
from .cut_parts import CutParts
from .list_paths import counted_at, list_path
from .part_values import blanked, read_json, text_of_part

_FENCE = "```"
_HEADED = re.compile(r"(?P<heading>[ \t]*\S[^\n]*\n(?:[ \t\r]*\n)*)(?P<core>[^\n].*)", re.DOTALL)
"""Matches a heading line and the list below it."""
_CLOSED = re.compile(r"(?P<core>.*\S)[ \t]*(?:\r?\n[ \t]*)+(?P<closing>\S[^\n]*)\s*", re.DOTALL)
_WORDS_OF_COUNTS = frozenset(
    [
        "a",
        "all",
        "are",
        "at",
        "by",
        "count",
        "displayed",
        "documents",
        "emails",
        "entries",
        "events",
        "files",
        "found",
        "have",
        "hits",
        "in",
        "is",
        "items",
        "list",
        "listed",
        "mails",
        "matched",
        "matches",
        "matching",
        "messages",
        "most",
        "none",
        "of",
        "only",
        "out",
        "page",
        "pages",
        "records",
        "result",
        "results",
        "retrieved",
        "returned",
        "rows",
        "showing",
        "shown",
        "that",
        "the",
        "there",
        "these",
        "total",
        "were",
    ]
)
"""If the line after a list consists only of these words and numbers, as "3 results found" does, it only
says how many items the list has. Such a line is ignored, because it says nothing about a single item."""
_WORD = re.compile(r"[^\W\d_]+")
_POINT = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•]|\d{1,4}[.)]|\(\d{1,4}\))[ \t]+(?=\S)")
"""Matches the mark before a point of a list, such as "- ", "2. " or "(3) "."""
_BETWEEN_COLUMNS = re.compile(r":?-+:?")
"""Matches a cell of the line below the column names of a Markdown table, such as ":---"."""
_PRINTED = re.compile(r"(?P<name>[A-Za-z_][\w.]*)\(.*\)|<[^<>]*>|\{.*\}", re.DOTALL)
"""Matches an object as Python prints it, such as "Mail(body='hi')" or "<Mail 7>"."""
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_LONGEST_NUMBER = 600
"""Numbers with this many characters or more are not parsed, because Python limits the number of digits of
an integer."""
_UNREAD = object()


class WrittenList(NamedTuple):
    """A ``WrittenList`` is a list in a text: the texts and places of its items, the text that replaces a
    blanked item, the place of all items together, and the places of numbers that count the items."""

    texts: Sequence[str]
    spans: Sequence[Place]
    blank: Callable[[int], str]
    room: Place
    counts: Sequence[Place] = ()


def written_list(text: str) -> CutParts | None:
    """Returns the items of the list in a text, as the parts of this text. Returns None if the text has no
    list, or if an item cannot be cut out alone."""
    start, end = _inside_fence(text)
    return _listed(text, start, end) or _closed(text, start, end)


def _closed(text: str, start: int, end: int) -> CutParts | None:
    """Returns the items of a list between ``start`` and ``end``, if the line after the list contains only
    the number of its items, such as "3 results". Returns None if there is no such list."""
    closed = _CLOSED.fullmatch(text, start, end)
    found = None if closed is None else _listed(text, start, closed.end("core"))
    if closed is None or found is None:
        return None
    words = {each.lower() for each in _WORD.findall(closed["closing"])}
    counts = re.findall(r"(?<!\d)\d{1,4}(?!\d)", closed["closing"])
    is_count = str(len(found.spans)) in counts and words and words <= _WORDS_OF_COUNTS
    return found if is_count else None


def _listed(text: str, start: int, end: int) -> CutParts | None:
    found = _found(text, start, end)
    if found is not None:
        return CutParts(text, *found)
    headed = _HEADED.fullmatch(text, start, end)
    if headed is None:
        return None
    found = _found(text, headed.start("core"), end)
    if found is None:
        return None
    heading = text[slice(*headed.span("heading"))].strip()
    return CutParts(text, [heading, *found.texts], *found[1:], headed.span("heading"))


def _inside_fence(text: str) -> Place:
    start, end = text.find(_FENCE), text.rfind(_FENCE)
    line = text.find("\n", start)
    is_fenced = text.count(_FENCE) == 2 and start < line < end
    around = text[: max(start, 0)] + text[end + len(_FENCE) :]
    return (line + 1, end) if is_fenced and not around.strip() else (0, len(text))


def _found(text: str, start: int, end: int) -> WrittenList | None:
    inside = text[start:end]
    first = inside.lstrip()[:1]
    core = (start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip()))
    if first in {"[", "{"}:
        return _in_brackets(text, core) or _lines_of_json(text, core)
    return _table(text, (start, end)) or _points(text, (start, end))


def _in_brackets(text: str, core: Place) -> WrittenList | None:
    written = text[slice(*core)]
    value, is_json = read_json(written), True
    if value is None:
        value, is_json = literal_in(written, _UNREAD), False
    if value is _UNREAD:
        return _printed(text, core)
    path = list_path(value)
    span = None if path is None else span_at(text, path, core)
    if path is None or span is None:
        return None
    elements, values = elements_at(text, span[0]), results_at(value, path)
    if not values or elements is None or len(elements[0]) != len(values) or elements[1] + 1 != span[1]:
        return None
    counts = [span_at(text, each, core) for each in counted_at(value, path)]
    if None in counts:
        return None

    def blank(place: int) -> str:
        left = blanked(values[place])
        return json.dumps(left, ensure_ascii=False) if is_json else repr(left)

    spans, room = elements[0], (span[0] + 1, elements[1])
    texts = [_shown(each, text[slice(*at)]) for each, at in zip(values, spans, strict=True)]
    return WrittenList(texts, spans, blank, room, cast("list[Place]", counts))


def _shown(value: Any, written: str) -> str:
    """Returns the text of an item, as it is shown to the user: usually ``text_of_part(value)``. If
    parsing lost something that the model was shown, such as a key that occurs twice or the spelling of
    5.50, returns ``written``. ``value``: the parsed item; ``written``: the item as it is written in the
    list."""
    twice = list[bool]()

    def noted(pairs: list[tuple[str, Any]]) -> Any:
        twice.append(len(dict(pairs)) < len(pairs))

    if isinstance(value, (dict, list)):
        with suppress(ValueError, RecursionError):
            json.loads(written, object_pairs_hook=noted)
    return written if any(twice) or _has_own_numbers(written) else text_of_part(value)


def _has_own_numbers(written: str) -> bool:
    """Returns True iff a number outside of quotation marks is not written as in JSON, such as 5.50."""
    numbers = _NUMBER.findall(_QUOTED.sub('""', written))
    return any(each != json.dumps(read_json(each)) for each in numbers if len(each) < _LONGEST_NUMBER)


def _printed(text: str, core: Place) -> WrittenList | None:
    """Returns the items of a list in the form in which Python prints lists, such as "[Mail(body='hi'),
    Mail(body='ho')]". Returns None if the text between the two positions ``core`` is no such list."""
    elements = elements_at(text, core[0]) if text[core[0]] == "[" else None
    if elements is None or elements[1] + 1 != core[1]:
        return None
    printed = [text[slice(*each)] for each in elements[0]]
    read = [_PRINTED.fullmatch(each) for each in printed]
    values = [
        None if found else literal_in(each, _UNREAD) for each, found in zip(printed, read, strict=True)
    ]
    known = [found is not None or value is not _UNREAD for found, value in zip(read, values, strict=True)]
    if not any(read) or not all(known):
        return None

    def blank(place: int) -> str:
        found = read[place]
        if found is None:
            return repr(blanked(values[place]))
        return "{}" if printed[place][0] == "{" else f"{found['name'] or ''}()"

    return WrittenList(printed, elements[0], blank, (core[0] + 1, elements[1]))


def _lines_of_json(text: str, core: Place) -> WrittenList | None:
    decoder, place, values, spans = json.JSONDecoder(), core[0], list[Any](), list[Place]()
    while place < core[1]:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        values.append(value)
        spans.append((place, end))
        gap = text[end : core[1]]
        place = end + len(gap) - len(gap.lstrip())
    if len(values) < 2 or not all(isinstance(each, dict) for each in values):
        return None

    def blank(number: int) -> str:
        return json.dumps(blanked(values[number]), ensure_ascii=False)

    texts = [_shown(each, text[slice(*at)]) for each, at in zip(values, spans, strict=True)]
    return WrittenList(texts, spans, blank, (spans[0][0], spans[-1][1]))


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
    read = [_POINT.match(text, *each) for each in spans]
    texts = [text[mark.end() : end].strip() for mark, (_, end) in zip(read, spans, strict=True) if mark]

    def blank(place: int) -> str:
        mark = read[place]
        return "" if mark is None else f"{indent}{mark['mark']}\n"

    return WrittenList(texts, spans, blank, (spans[0][0], spans[-1][1]))


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

    return WrittenList(written[2:], spans, blank, (spans[0][0], spans[-1][1]))
