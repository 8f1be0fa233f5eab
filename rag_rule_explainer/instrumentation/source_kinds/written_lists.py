"""This module finds the items of a list in the text that a tool returned.

The list may be JSON, lines of JSON, Python's ``repr`` of a list, points such as "- milk" or "2. milk",
numbered blocks such as "Result 1: milk", or a Markdown table. Before the list, there may be one line of
text; after it, a line that counts the items, such as "2 results". All of it may be in a block of code
("```").
"""

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from ...predicates.mark_places import Place
from ..clients.of_listing import results_at
from ..clients.written import literal_in
from .bracketed import elements_at, span_at
from .counting_lines import counted_in, is_counting
from .cut_parts import CutParts
from .fields_beside import counted_at
from .line_lists import WrittenList, list_of_lines
from .list_data import ListData
from .list_paths import list_path
from .part_values import blanked, read_json, text_of_part

_FENCE = "```"
_HEADED = re.compile(r"(?P<heading>[ \t]*\S[^\n]*\n(?:[ \t\r]*\n)*)(?P<core>[^\n].*)", re.DOTALL)
"""Matches a heading line and the list below it."""
_CLOSED = re.compile(r"(?P<core>.*\S)[ \t]*(?:\r?\n[ \t]*)+(?P<closing>\S[^\n]*)\s*", re.DOTALL)
_PRINTED = re.compile(r"(?P<name>[A-Za-z_][\w.]*)\(.*\)|<[^<>]*>|\{.*\}", re.DOTALL)
"""Matches an object as Python prints it, such as "Mail(body='hi')" or "<Mail 7>"."""
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_LONGEST_NUMBER = 600
"""Numbers with this many characters or more are not parsed, because Python limits the number of digits of
an integer."""
_UNREAD = object()


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
    line, total = closed.span("closing"), len(found.spans)
    if not is_counting(text, line, total):
        return None
    counted = counted_in(text, line, total)
    is_doubtful = found.is_doubtful or counted.is_doubtful
    return replace(found, counts=[*found.counts, *counted.counts], is_doubtful=is_doubtful)


def _listed(text: str, start: int, end: int) -> CutParts | None:
    found = _found(text, start, end)
    if found is not None:
        return _cut_parts(text, found)
    headed = _HEADED.fullmatch(text, start, end)
    if headed is None:
        return None
    found = _found(text, headed.start("core"), end)
    return None if found is None else _cut_parts(text, found, headed.span("heading"))


def _cut_parts(text: str, found: WrittenList, heading: Place | None = None) -> CutParts:
    """Returns the parts of a text in which the list ``found`` was found. ``heading``: the start and end
    of the line before the list; None if there is none."""
    line = (0, 0) if heading is None else heading
    counted = counted_in(text, line, len(found.spans))
    return CutParts(
        text,
        [*([] if heading is None else [text[slice(*heading)].strip()]), *found.texts],
        found.spans,
        found.blank,
        found.room,
        counts=[*found.counts, *counted.counts],
        heading=heading,
        numbers=found.numbers,
        is_doubtful=found.is_doubtful or counted.is_doubtful,
        data=found.data,
    )


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
        in_brackets = _in_brackets(text, core) or _lines_of_json(text, core)
        return in_brackets or (list_of_lines(text, (start, end)) if first == "[" else None)
    return list_of_lines(text, (start, end))


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
    data = ListData(values, value, path)
    return WrittenList(texts, spans, blank, room, cast("list[Place]", counts), data=data)


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
    return WrittenList(texts, spans, blank, (spans[0][0], spans[-1][1]), data=ListData(values))
