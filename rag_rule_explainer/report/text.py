"""This module writes a report as plain text, for a terminal or a file."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from ..explanation.explanation import Explanation
from ..rules import RuleKind
from .form import ReportForm
from .section import ReportEntry, ReportTone, Section
from .view import sections

_WIDEST = 40
"""The maximum width, in columns, of the first cell of an entry."""
_KIND = max(len(kind.value) for kind in RuleKind)
"""The width of the second cell of an entry with three or more cells. Such a cell contains a kind of
rule. The cells after it are as wide as their texts."""

_STYLES: Mapping[ReportTone, str] = {
    "plain": "",
    "label": "bold",
    "warning": "bold red",
    "id": "cyan",
    "sure": "green",
    "open": "yellow",
    "aside": "dim",
}


def as_text(explanation: Explanation) -> str:
    """Returns the report as plain text, ending in a newline."""
    return "".join(f"{line}\n" for line in lines(explanation))


def lines(explanation: Explanation) -> Iterator[Text]:
    """Yields the lines of the report, with colours and other styles. If a section leaves entries out, its
    last line gives their number. No line ends in a space."""
    for line in _padded(explanation):
        line.rstrip()
        yield line


def _padded(explanation: Explanation) -> Iterator[Text]:
    for section in sections(explanation):
        if not section.heading:
            yield from map(_labelled, section.entries)
            continue
        yield Text()
        yield Text(section.heading, style="bold")
        width = min(_WIDEST, max((len(entry.cells[0].text) for entry in section.entries), default=0))
        for entry in section.entries:
            yield _row(entry, section, width)
            if entry.below:
                yield Text(f"      {entry.below}", style="dim")
        if section.left_out:
            yield Text(f"  … and {section.left_out} more", style="dim")
        if section.remark:
            yield Text(f"  {section.remark}", style="dim")


def _labelled(entry: ReportEntry) -> Text:
    first, *rest = entry.cells
    if not rest:
        return Text(first.text, style=_STYLES[first.tone])
    return Text.assemble((f"{first.text}: ", _STYLES[first.tone]), rest[0].text)


def _row(entry: ReportEntry, section: Section, width: int) -> Text:
    """Returns an entry as one line, whose cells are aligned with those of the section's other entries.
    ``width``: the width of the first cell."""
    row = Text("  - " if section.listed else "  ")
    for place, cell in enumerate(entry.cells):
        is_last = place == len(entry.cells) - 1
        wide = 0 if is_last or place > 1 else _KIND if place else width
        padded = cell.text.ljust(wide)
        row.append(padded, style=_STYLES[cell.tone])
        row.append("" if is_last else "  ")
    return row


TEXT = ReportForm("text", as_text, (".txt",), "text/plain")
