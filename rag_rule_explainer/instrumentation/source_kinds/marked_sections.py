"""This module finds the sections of instructions: the text below a Markdown heading, such as "##
Refunds", or between tags, such as ``<refunds>...</refunds>``."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<heading>\S.*?)[ \t#]*$", re.MULTILINE)
_ELEMENT = re.compile(r"^<(?P<tag>[A-Za-z][\w.:-]*)>.*?</(?P=tag)>[ \t]*\n?", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?!.*`)|~{3,})(?P<info>.*)", re.DOTALL)


class MarkedSection(NamedTuple):
    """A ``MarkedSection`` is a section of a text. ``mark``: the section's heading or tag; empty if the
    section has none. ``start``, ``end``: the place of the section in the text."""

    mark: str
    start: int
    end: int


def marked_sections(text: str) -> Iterator[MarkedSection]:
    """Yields the sections of a text, in their order. A section is an element in tags that begin a line,
    or the text below a Markdown heading up to the next heading or element. Text after an element is
    another section of the heading before the element. Headings inside an element or a block of code are
    ignored. A text without headings and elements is one section. No two sections overlap."""
    read = _without_code(text)
    elements = [MarkedSection(found["tag"], *found.span()) for found in _ELEMENT.finditer(read)]
    begun = [MarkedSection(found["heading"], *found.span()) for found in _HEADING.finditer(read)]
    marks = sorted([*elements, *_outside(begun, elements)], key=lambda each: each.start)
    if not marks and text.strip():
        yield MarkedSection("", 0, len(text))
    heading, tagged = None, {(each.start, each.end) for each in elements}
    ends = [*(each.start for each in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        if (mark.start, mark.end) in tagged:
            yield mark
            start = mark.end
        else:
            heading, start = mark.mark, mark.start
        if heading is not None and text[start:end].strip():
            yield MarkedSection(heading, start, end)


def _outside(
    headings: Iterable[MarkedSection], elements: Iterable[MarkedSection]
) -> Iterator[MarkedSection]:
    """Yields the headings that are inside none of the elements. Headings and elements must be in the
    order of the text."""
    ends = iter([(each.start, each.end) for each in elements])
    start, end = next(ends, (0, 0))
    for heading in headings:
        while end and end <= heading.start:
            start, end = next(ends, (0, 0))
        if not start <= heading.start < end:
            yield heading


def _without_code(text: str) -> str:
    """Returns the text with spaces in place of its fenced blocks of code, so that nothing in these blocks
    is taken for a heading or a tag. All other text keeps its position. A block that is not closed ends at
    the end of the text, as in Markdown."""
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
