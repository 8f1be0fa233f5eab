"""This module parses values in a text, and writes other values in the same format: JSON, lines of JSON,
or the ``repr`` of Python."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from operator import eq
from pprint import pformat
from typing import Any, NamedTuple, cast

Write = Callable[[Any], str]
_MISSING = object()
_WAYS: tuple[Write, ...] = tuple(
    json.JSONEncoder(ensure_ascii=ascii_only, indent=indent, separators=separators).encode
    for ascii_only, (indent, separators) in product(
        (False, True),
        ((2, None), (None, None), (None, (",", ":")), (4, None), (1, None), (3, None), ("\t", None)),
    )
)
_PYTHONS: tuple[Write, ...] = (repr, pformat)
_FENCE = "```"
_SPACES = " \t\r\n\ufeff"
_MOST_AROUND = 200
"""A value that is not in a code block must begin within this number of characters from the start of the
text, and end within this number from its end."""
_PYTHONIC = re.compile(r"[\[({]\s*[\[({]?\s*['\"]")
"""Matches the beginning of a list or dict of texts as Python prints it, such as "[{'a'"."""
_STRANGE_ESCAPE = re.compile(r"\\[^\\'\"abfnrtvxuUN0-7\n]")


class WrittenValue(NamedTuple):
    """A ``WrittenValue`` holds a value that was parsed from a text, and can write the same text with
    another value.

    ``before``, ``after``: the words around the value. ``write``: writes a value in the format of this
    one; None if this format is unknown.
    """

    before: str
    value: Any
    write: Write | None
    after: str

    def text_for(self, value: Any) -> str:
        """Returns the text with ``value`` in place of the parsed value."""
        return f"{self.before}{cast('Write', self.write)(value)}{self.after}"

    @property
    def alone(self) -> bool:
        """Returns True iff there are no words around the value."""
        return not (self.before + self.after).strip(_SPACES)


def written_in(text: object) -> WrittenValue | None:
    """Returns the list or object that a text contains; None if it contains none. There may be a few words
    before or after it, and it may be in a Markdown code block. Returns None if the value is less than
    half of the text, because the text is then mainly something else."""
    if not isinstance(text, str):
        return None
    for before, core, after in _cores(text):
        found = _read(core) if 2 * len(core) >= len(text) or core == "[]" else None
        if found is not None:
            return WrittenValue(before, *found, after)
    return None


def value_in_json(text: object) -> object:
    """Returns the list or object if the whole text is one JSON list or object. Returns None for any other
    text, and if ``text`` is not a text."""
    found = _json(text.strip()) if isinstance(text, str) else _MISSING
    return cast("object", found) if isinstance(found, (list, dict)) else None


def _cores(text: str) -> Iterator[tuple[str, str, str]]:
    """Yields each part of a text that may be a value written as JSON or as Python prints it, as a triple:
    the text before the part, the part, and the text after it."""
    yield _around(text, 0, len(text))
    start, end = text.find(_FENCE), text.rfind(_FENCE)
    line = text.find("\n", start)
    if 0 <= start < line < end and text.count(_FENCE) == 2:
        yield _around(text, line, end)
    head, tail = text[:_MOST_AROUND], text[-_MOST_AROUND:]
    start = min((place for place in map(head.find, "[{") if place >= 0), default=-1)
    end = len(text) - len(tail) + max(map(tail.rfind, "]}")) + 1
    before, after = text[: max(start, 0)], text[end:]
    ahead = not before.strip() or before.rstrip().endswith(":") or before.endswith("\n")
    if 0 <= start < end and ahead and (not after.strip() or after.startswith("\n")):
        yield _around(text, start, end)


def _around(text: str, start: int, end: int) -> tuple[str, str, str]:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip(_SPACES))
    end = start + len(inside.strip(_SPACES))
    return text[:start], text[start:end], text[end:]


def _read(core: str) -> tuple[Any, Write | None] | None:
    """Returns the list or object that the text contains, and a function that writes another value in the
    same format, or None if this format is unknown. Returns None if the text contains no list or
    object."""
    if core.startswith('"'):
        return _quoted(core)
    if not core.startswith(("{", "[", "(")):
        return None
    value = _json(core)
    if isinstance(value, (list, dict)):
        return cast("Any", value), _way(_WAYS, value, core)
    lines = _lines(core)
    if lines is not None:
        return lines
    value = _python(core)
    return None if value is _MISSING else (value, _way(_PYTHONS, value, core))


def _quoted(core: str) -> tuple[Any, Write | None] | None:
    inner = _json(core)
    found = _read(inner.strip()) if isinstance(inner, str) else None
    if found is None:
        return None
    value, write = found
    way = _way(_WAYS, inner, core)
    if write is None or way is None or inner != inner.strip():
        return value, None
    return value, lambda other: way(write(other))


def _lines(core: str) -> tuple[Any, Write | None] | None:
    """Returns the values in a text that consists of several values, such as lines of JSON, and a function
    that writes other values in the same format. Returns None for other texts."""
    pieces, gaps = _pieces(core)
    if len(pieces) < 2:
        return None
    values = [_json(each) for each in pieces]
    if any(value is _MISSING for value in values):
        values = [_python(each) for each in pieces]
    if not all(isinstance(each, (dict, list)) for each in values):
        return None
    if any(isinstance(each, list) for each in values):
        return values, None
    ways = (way for way in (*_WAYS, *_PYTHONS) if all(map(eq, map(way, values), pieces)))
    way = next(ways, None)
    if way is None or len(set(gaps)) > 1:
        return values, None
    return values, lambda others: gaps[0].join(map(way, others))


def _pieces(core: str) -> tuple[list[str], list[str]]:
    """Returns the consecutive objects in a text, and the separators between them."""
    decoder, pieces, gaps, end = json.JSONDecoder(), list[str](), list[str](), 0
    while end < len(core):
        gap = re.compile(r"[\s,]*").match(core, end)
        start = gap.end() if gap else end
        try:
            _, stop = decoder.raw_decode(core, start)
        except (ValueError, RecursionError):
            lines = core.split("\n")
            blanks = re.split(r"\n\s*\n", core)
            gap_of = "\n\n" if len(blanks) > 1 else "\n"
            return (blanks, [gap_of]) if len(blanks) > 1 else (lines, [gap_of])
        if pieces:
            gaps.append(core[end:start])
        pieces.append(core[start:stop])
        end = stop
    return pieces, gaps


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _MISSING


def _python(text: str) -> Any:
    value = literal_in(text, _MISSING) if _PYTHONIC.match(text) else _MISSING
    return cast("Any", value) if isinstance(value, (list, dict, tuple)) else _MISSING


def literal_in(text: str, missing: Any) -> Any:
    """Returns the value of which this text is the ``repr`` in Python; ``missing`` if there is none."""
    if _STRANGE_ESCAPE.search(text):
        return missing
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return missing


def _way(ways: Sequence[Write], value: Any, core: str) -> Write | None:
    return next((way for way in ways if way(value) == core), None)
