"""This module defines the parts of a report, which every form lays out in its own way."""

from typing import Literal, NamedTuple, TypeAlias

ReportTone: TypeAlias = Literal["plain", "label", "warning", "id", "sure", "open", "aside"]
"""The role of a text in a report, by which forms with colours choose its colour. *sure*: the text is
about something that is proved or complete. *open*: the text is about something that is not proved, or not
complete."""


class Statement(NamedTuple):
    """A ``Statement`` is a sentence of a report. ``tone``: its role, by which forms choose a colour."""

    text: str
    tone: ReportTone = "plain"


class ReportEntry(NamedTuple):
    """A ``ReportEntry`` is one line of a section. ``cells``: the texts of its columns. ``below``: the
    evidence, which stands below the line; empty if there is none."""

    cells: tuple[Statement, ...]
    below: str = ""


class Section(NamedTuple):
    """A ``Section`` is a heading with its entries.

    ``heading``: empty for the opening section. ``listed``: whether the entries have bullets.
    ``left_out``: the number of entries that were left out. ``remark``: a sentence that stands below the
    entries; empty if there is none. ``columns``: the names of the columns, for a form that shows the
    entries as a table; the text below an entry is then the last column. Empty if the entries do not
    read well as a table.
    """

    heading: str
    entries: tuple[ReportEntry, ...]
    listed: bool = False
    left_out: int = 0
    columns: tuple[str, ...] = ()
    remark: str = ""
