"""This package lays an explanation out as a readable report, in one of several forms."""

from collections.abc import Callable, Iterable, Mapping

from rich.text import Text

from ..explanation.explanation import Explanation
from .csv import as_csv, csv_lines
from .latex import as_latex, latex_lines
from .text import as_text, lines
from .view import caveats

FORMS: Mapping[str, Callable[[Explanation], Iterable[Text | str]]] = {
    "text": lines,
    "csv": csv_lines,
    "latex": latex_lines,
}
"""The forms of a report, line by line, by name; the command line offers each."""

PARTIAL = frozenset({"csv"})
"""The forms that leave out what is said beside the rules (``caveats``)."""

__all__ = ["FORMS", "PARTIAL", "as_csv", "as_latex", "as_text", "caveats", "lines"]
