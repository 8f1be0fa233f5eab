"""This module finds the start and end of each item of a list in a text. The list is JSON, or is written
as Python prints it, such as "[1, {'a': 2}]"."""

import re
from collections.abc import Iterator

from ...predicates.mark_places import Place
from ..clients.of_listing import Path
from ..clients.written import literal_in

_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[\[\](){},'\"]", re.DOTALL)
_KEY = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\s*:\s*", re.DOTALL)
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def elements_at(text: str, start: int) -> tuple[list[Place], int] | None:
    """Returns the start and end of each element between the brackets that open at ``start``, and the
    index at which the brackets close; None if they do not close."""
    open_until, spans, begin = list[str](), list[Place](), start + 1
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSING:
            open_until.append(_CLOSING[mark])
        elif mark in {"]", ")", "}"}:
            if not open_until or open_until.pop() != mark:
                return None
            if not open_until:
                last = _trimmed(text, begin, token.start())
                is_empty = last[0] == last[1]
                return ([*spans] if is_empty else [*spans, last]), token.start()
        elif mark == "," and len(open_until) == 1:
            spans.append(_trimmed(text, begin, token.start()))
            begin = token.end()
        elif len(mark) == 1 and mark != ",":
            return None  # the quotation mark has no end
        if not open_until:
            return None
    return None


def span_at(text: str, path: Path, span: Place) -> Place | None:
    """Returns the start and end of the value to which the keys in ``path`` lead; None if it cannot be
    found for sure, for example if a key occurs twice. ``span``: the start and end of the whole value."""
    start, end = span
    for name in path:
        inside = elements_at(text, start)
        if inside is None or text[start : start + 1] != "{":
            return None
        keys = (
            (found, literal_in(found[1].replace("\\/", "/"), None), end)
            for found, end in _keys(text, inside[0])
        )
        values = [(found.end(), end) for found, key, end in keys if key == name]
        if len(values) != 1:
            return None
        start, end = values[0]
    return start, end


def _keys(text: str, elements: list[Place]) -> Iterator[tuple[re.Match[str], int]]:
    for start, end in elements:
        found = _KEY.match(text, start, end)
        if found is not None:
            yield found, end


def _trimmed(text: str, start: int, end: int) -> Place:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())
