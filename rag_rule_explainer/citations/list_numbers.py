"""This module finds the numbers and bullets at the start of statements in a list.

In a replay, the second item of a list may become the first. So the number of a list item is not a part
of the statement. Other numbers are, such as the date in "7. Juli".
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..late_patterns import compiled_late

_MONTH = r"(?:jan|feb|mär|mar|apr|ma[ijy]|jun|jul|aug|sep|o[kc]t|nov|de[zcs])"
_NUMBER = compiled_late(
    r"(?P<signs>[ \t>#*_•+-]{0,12})(?:"
    r"(?P<round>\()?(?P<number>\d{1,3}|[ivx]{1,5}|[a-z])(?(round)\)|[.):](?![.\d]))"
    rf"(?![ \t]*{_MONTH})"
    r"|(?:\d{1,3}\.){1,4}(?P<nested>\d{1,3})[.)]?"
    r"|(?P<circled>[①-⑳])|(?P<key>\d)\ufe0f?\u20e3|#(?P<hash>\d{1,3})[:.)]?|(?P<dash>\d{1,3})[ \t]+[-–—]"
    r"|(?:step|point|claim|fact|item|schritt|punkt|étape|paso|punto|passo|stap)[ \t]"
    r"(?P<word>\d{1,3})[.:)]"
    r")(?P<after>[*_]{0,3}(?:[ \t\n]+|\Z))",
    re.IGNORECASE,
)
_HEADED = compiled_late(r"(?:[ \t]*(?:#{1,6}[ \t][^\n]*|\*\*[^*\n]{1,80}\*\*:?[ \t]*)\n\s*)+")
"""Matches the Markdown headings and lines in bold above a statement."""
_FEWEST_WORDS = 3
_BULLETS = compiled_late(r"(?:[-*•+>#–]{1,6}[ \t]+)+")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")


class _Numbered(NamedTuple):
    style: str
    written: str
    end: int


def is_number_alone(text: str) -> bool:
    """Returns True iff the text is only the number of a list item, such as "2.". A segmenter (which
    splits texts into sentences) returns such a text if it takes the full stop after the number for the
    end of a sentence."""
    found = _NUMBER.match(text.strip())
    return found is not None and found.end() == len(text.strip())


def list_marks(statements: Sequence[str]) -> tuple[int, ...]:
    """Returns, for each statement, the number of characters before its content: headings above it, and
    its bullet or number.

    A number counts as the number of a list item only if several statements have such numbers, and these
    go up one by one from the first.
    """
    heads = [_headed(each) for each in statements]
    points = [each[head:] for each, head in zip(statements, heads, strict=True)]
    numbered = [_numbered(each) for each in points]
    counting = {
        style
        for style in {each.style for each in numbered if each is not None}
        if _counts([each.written for each in numbered if each is not None and each.style == style])
    }
    return tuple(
        head + (each.end if each is not None and each.style in counting else _bullets(point))
        for point, head, each in zip(points, heads, numbered, strict=True)
    )


def _headed(statement: str) -> int:
    """Returns the length of the headings above a statement; 0 if no sentence follows them."""
    found = _HEADED.match(statement)
    said = "" if found is None else statement[found.end() :]
    is_said = len(said.split()) >= _FEWEST_WORDS or any("\u3040" <= each <= "\u9fff" for each in said)
    return found.end() if found is not None and is_said else 0


def _numbered(statement: str) -> _Numbered | None:
    found = _NUMBER.match(statement)
    if found is None or found.end() == len(statement):
        return None
    for name in ("number", "nested", "circled", "key", "hash", "dash", "word"):
        written = found[name]
        if written:
            digits = "digits" if written.isdecimal() else "letters"
            return _Numbered(f"{name} {digits} {found['round']}", written.lower(), found.end())
    return None


def _counts(written: Sequence[str]) -> bool:
    """Returns True iff these numbers count up one by one, as in 1, 2, 3. They may begin again, as in 1,
    2, 1, 2, 3."""
    return len(written) > 1 and any(_is_run(values) for values in _values(written))


def _values(written: Sequence[str]) -> Iterator[list[int]]:
    if all(each.isdecimal() for each in written):
        yield [int(each) for each in written]
    elif "①" <= written[0] <= "⑳":
        yield [ord(each) - ord("①") + 1 for each in written]
    else:
        if all(each in _ROMAN for each in written):
            yield [_ROMAN.index(each) + 1 for each in written]
        if all(len(each) == 1 for each in written):
            yield [ord(each) - ord("a") + 1 for each in written]


def _is_run(values: Sequence[int]) -> bool:
    following = zip(values[1:], values, strict=False)
    return values[0] == 1 and all(after in {before + 1, 1} for after, before in following)


def _bullets(statement: str) -> int:
    found = _BULLETS.match(statement)
    return 0 if found is None else found.end()
