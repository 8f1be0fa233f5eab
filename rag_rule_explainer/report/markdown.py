"""This module writes a report as Markdown, for a pull request, a wiki or a ticket."""

import re
from collections.abc import Iterable, Iterator

from ..explanation.explanation import Explanation
from .form import ReportForm
from .section import ReportEntry, Section
from .view import FLIPS, RULES_OF, caveats, sections

_MARKS = re.compile(r"([\\`*_\[\]<>|~&$^{}])")
"""The characters that may begin markup anywhere in a line. For example, ``&`` may begin an entity, and
``$`` a formula."""
_LINKS = re.compile(
    r"(?<=\w)(:(?=/)|\.(?=[^\W\d])|(?<=www)\.)|(@(?=\w)|#(?=\d)|\bGH-(?=\d))", re.IGNORECASE
)
"""The characters inside texts that a renderer turns into links without any markup: web addresses, names
after ``@``, and numbers of issues such as *#12*."""
_SEEN_FIRST = (*RULES_OF.values(), FLIPS)
"""The headings of the sections that a reader sees at once. All other sections are folded."""
_BEGINS = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+=#]))")
"""The texts that, at the beginning of a line, begin a list, a heading or a horizontal line."""


def as_markdown(explanation: Explanation) -> str:
    """Returns the report as Markdown, ending in a newline. The rules stand before the sources. Sections
    that a reader need not see at once are folded. Texts of sources, answers and ids are escaped: none
    of them acts as markup, HTML or a link, or breaks a table."""
    return "".join(f"{line}\n" for line in _markdown_lines(explanation))


def plain_markdown(text: str) -> str:
    """Returns a text of one line, escaped so that Markdown reads nothing in it as markup or as a link."""
    escaped = _MARKS.sub(r"\\\1", text.strip())
    # Sites such as GitHub notify a person whose name follows "@", or the followers of an issue whose
    # number follows "#". A backslash does not prevent this, but an invisible character does.
    escaped = _LINKS.sub(lambda found: f"\\{found[1]}" if found[1] else _apart(found[2]), escaped)
    return _BEGINS.sub(r"\1\\", escaped)


def _apart(text: str) -> str:
    return f"{text if text[0].isalpha() else chr(92) + text}\u200c"


def lines_as_markdown(title: str, lines: Iterable[str]) -> str:
    """Returns the lines of a report as a Markdown list under a title. A line that is indented belongs to
    the item above it. All markup in the lines is escaped."""
    items = (
        f"{'  ' * line.startswith('  ')}- {plain_markdown(line)}\n" for line in lines if line.strip()
    )
    return f"# {title}\n\n{''.join(items)}"


def _markdown_lines(explanation: Explanation) -> Iterator[str]:
    opening, *others = sections(explanation)
    rules = [section for section in others if section.heading in _SEEN_FIRST]
    yield "# Explanation"
    yield ""
    yield from _opening(opening)
    for section in rules:
        yield from _section(section)
    *_, ending = caveats(explanation)
    yield ""
    yield f"*{plain_markdown(ending.text)}*"
    yield ""
    yield "<details><summary>Sources, what was tried, cost and origin</summary>"
    for section in others:
        if section not in rules:
            yield from _section(section)
    yield ""
    yield "</details>"


def _opening(section: Section) -> Iterator[str]:
    for place, entry in enumerate(section.entries):
        if place:
            yield ""
        first, *rest = (plain_markdown(cell.text) for cell in entry.cells)
        yield f"**{first}:** {rest[0]}".rstrip() if rest else f"**{first}**"


def _section(section: Section) -> Iterator[str]:
    yield ""
    yield f"## {plain_markdown(section.heading)}"
    yield ""
    width = max((len(_cells(entry)) for entry in section.entries), default=0)
    if section.columns and width == len(section.columns):
        yield _table_row(section.columns)
        yield _table_row(["---"] * width)
        yield from (_table_row(_cells(entry)) for entry in section.entries)
    else:
        yield from (_list_item(entry) for entry in section.entries)
    if section.left_out:
        yield ""
        yield f"… and {section.left_out} more"
    if section.remark:
        yield ""
        yield plain_markdown(section.remark)


def _cells(entry: ReportEntry) -> list[str]:
    texts = [cell.text for cell in entry.cells]
    return [plain_markdown(text) for text in (*texts, *([entry.below] if entry.below else []))]


def _table_row(cells: Iterable[str]) -> str:
    # Without the spaces, a backslash at the end of a text would escape the "|" after it.
    return f"| {' | '.join(cells)} |"


def _list_item(entry: ReportEntry) -> str:
    first, *rest = _cells(entry)
    return f"- **{first}** {' · '.join(rest)}".rstrip() if rest else f"- {first}".rstrip()


MARKDOWN = ReportForm("markdown", as_markdown, (".md", ".markdown"), "text/markdown")
