"""This module finds the marked sections of instructions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<heading>\S.*?)[ \t#]*$", re.MULTILINE)
_ELEMENT = re.compile(r"^<(?P<tag>[A-Za-z][\w.:-]*)>.*?</(?P=tag)>[ \t]*\n?", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?!.*`)|~{3,})(?P<info>.*)", re.DOTALL)


class MarkedSection(NamedTuple):
    """A ``MarkedSection`` is a part of a text. ``mark``: its heading or tag; empty for a text without
    marks. ``start``, ``end``: where it is."""

    mark: str
    start: int
    end: int


def marked_sections(text: str) -> Iterator[MarkedSection]:
    """Yields the sections of a text: those within tags that begin a line; if there are none, those below
    Markdown headings, each up to the next one. A text without marks is one section. Blocks of code have
    no marks."""
    read = _without_code(text)
    elements = [MarkedSection(found["tag"], *found.span()) for found in _ELEMENT.finditer(read)]
    headings = list(_HEADING.finditer(read)) if not elements else []
    ends = [*(each.start() for each in headings[1:]), len(text)]
    below = [
        MarkedSection(each["heading"], each.start(), end)
        for each, end in zip(headings, ends, strict=False)
    ]
    yield from elements or below or ([MarkedSection("", 0, len(text))] if text.strip() else [])


def _without_code(text: str) -> str:
    """Returns the text with spaces in place of its fenced blocks of code, so that nothing in them looks
    like a mark, and all other text stays at its place. A block that is not closed ends where the text
    ends, as in Markdown."""
    lines, fence = text.split("\n"), ""
    for place, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None and not fence:
            continue
        lines[place] = " " * len(line)
        if not fence:
            fence = "" if found is None else found["fence"]
        elif found is not None and found["fence"].startswith(fence) and not found["info"].strip():
            fence = ""
    return "\n".join(lines)
