"""This module turns texts from outside into HTML. It is the only place where a text becomes markup.

The type ``Markup`` is for HTML, and the type ``str`` is for plain texts. If a plain text is joined to a
``Markup``, the plain text is escaped.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from markupsafe import Markup, escape

from ...printable import printable

_QUOTED = re.compile(r"'(?:[^'\\]|\\.){1,300}'|\"(?:[^\"\\]|\\.){1,300}\"")
_LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
"""The blocks of Unicode with the letters that are written from right to left."""
_RIGHT_TO_LEFT = re.compile(f"[{_LETTERS}]")
_WORD = rf"[^\s,\"'{_LETTERS}]{{0,300}}[{_LETTERS}][^\s,\"']*"
_PARTS = re.compile(rf"(\"(?:[^\"\\]|\\.){{0,300}}\"|'(?:[^'\\]|\\.){{0,300}}'|{_WORD}(?: {_WORD})*)")
_MOST_QUOTED = 20
_LONGEST_BLOCK = 30_000
"""The maximum number of characters of one text that a page shows. The JSON in the page has the whole
text."""


def one_line(text: str) -> Markup:
    """Returns a text as HTML on one line, with control characters as visible escapes."""
    return escape(printable(text))


def isolated(text: str) -> Markup:
    """Returns a printable sentence as HTML. Each part that is written from right to left (a quoted text,
    or a row of words) is isolated, so that it does not change the order in which the parts beside it are
    read."""
    if not _RIGHT_TO_LEFT.search(text):
        return escape(text)
    return joined_markup(
        as_one(each) if _RIGHT_TO_LEFT.search(each) else escape(each) for each in _PARTS.split(text)
    )


def as_one(text: str) -> Markup:
    """Returns a printable title, id or answer as HTML, isolated as a whole if any of it is written from
    right to left."""
    return Markup("<bdi>{}</bdi>").format(text) if _RIGHT_TO_LEFT.search(text) else escape(text)


def multiline(text: str, marked: re.Pattern[str] | None = None) -> Markup:
    """Returns a text as HTML with its line breaks. ``marked``: a pattern for the texts to highlight; None
    for none."""
    left_out = len(text) - _LONGEST_BLOCK
    text = text[:_LONGEST_BLOCK]
    lines = Markup("\n").join(_with_marks(line, marked) for line in text.splitlines())
    if left_out <= 0:
        return lines
    return lines + Markup(" <em>… and {:,} more characters</em>").format(left_out)


def literals(condition: str, *, whole_numbers: bool = False) -> re.Pattern[str] | None:
    """Returns a pattern for the texts that a condition quotes; None if it quotes none.

    For example, the condition "the answer contains '20'" quotes the text *20*. ``whole_numbers``: True if
    a number must not be found in a longer one, such as *20* in *2019*.
    """
    found = {text for text in map(_read, _QUOTED.findall(condition)[:_MOST_QUOTED]) if text.strip()}
    if not found:
        return None
    longest_first = sorted(found, key=lambda text: (-len(text), text))
    pattern = "|".join(map(re.escape, longest_first))
    if whole_numbers:
        pattern = rf"(?:(?<!\d)|(?!\d))(?:{pattern})(?:(?!\d)|(?<!\d))"
    return re.compile(pattern, re.IGNORECASE)


def joined_markup(parts: Iterable[Markup]) -> Markup:
    """Returns the parts joined to one ``Markup``."""
    return raw("".join(parts))


def raw(text: str) -> Markup:
    """Returns the text as HTML without escaping it. Use it only for markup of this package, in which all
    texts from outside are already escaped."""
    return Markup(text)  # noqa: S704 -- the callers are in this folder, and escape what they insert


def _with_marks(line: str, marked: re.Pattern[str] | None) -> Markup:
    if marked is None:
        return one_line(line)
    return joined_markup(_pieces(line, marked))


def _pieces(line: str, marked: re.Pattern[str]) -> Iterator[Markup]:
    end = 0
    for found in marked.finditer(line):
        yield one_line(line[end : found.start()])
        yield Markup("<mark>{}</mark>").format(printable(found.group()))
        end = found.end()
    yield one_line(line[end:])


def _read(literal: str) -> str:
    try:
        return str(ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        return ""
