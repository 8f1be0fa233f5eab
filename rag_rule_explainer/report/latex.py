"""This module writes the rules as a LaTeX table, for a paper."""

from collections.abc import Iterator

from ..explanation.explanation import Explanation
from .form import ReportForm
from .provenance import made_in_one_line
from .view import RuleRow, caveats, rule_rows

_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "`": r"\textasciigrave{}",
        '"': r"{\char34}",  # in some languages of babel, this character begins a command
        "-": "{-}",  # without braces, two hyphens would become a dash
        "[": "{[}",  # without braces, "[" would begin an option after a line break
        "]": "{]}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)
_WIDTHS = {"kind": 0.12, "sources": 0.14, "rule": 0.27, "claim": 0.13, "support": 0.16}
"""The widths of the columns, as shares of the width of a line. The remaining share is for the space
between the columns."""


def as_latex(explanation: Explanation) -> str:
    r"""Returns all rules as a LaTeX table that may continue over several pages. The warnings stand before
    the table. A text below the table says whether these are all rules, and gives the time of the
    explanation. LaTeX reads no text of the explanation as a command.

    The document needs ``\usepackage{longtable}``. If texts have letters that are not Latin, it needs
    LuaLaTeX or XeLaTeX.
    """
    return "".join(f"{line}\n" for line in _latex_lines(explanation))


def _latex_lines(explanation: Explanation) -> Iterator[str]:
    """Yields the lines that ``as_latex`` joins. They are a part to include in a LaTeX document, not a
    whole document."""
    *warnings, ending = (each.text.translate(_ESCAPED) for each in caveats(explanation))
    for warning in warnings:
        yield rf"\noindent\textbf{{{warning}}}\par"
    widths = "".join(rf"p{{{_WIDTHS[name]}\linewidth}}" for name in RuleRow._fields)
    yield rf"\begin{{longtable}}{{{widths}}}"
    yield rf"\hline {_row(RuleRow._fields)} \hline \endhead"
    yield from map(_row, rule_rows(explanation))
    yield r"\hline"
    yield r"\end{longtable}"
    yield rf"\noindent {ending}\par"
    yield rf"\noindent {made_in_one_line(explanation).translate(_ESCAPED)}\par"


def _row(cells: tuple[str, ...]) -> str:
    return rf"{' & '.join(cell.translate(_ESCAPED) for cell in cells)} \\"


LATEX = ReportForm("latex", as_latex, (".tex",), "application/x-tex", holds="caveats")
