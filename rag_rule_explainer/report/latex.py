"""This module lays the rules out as a LaTeX table, for a paper."""

from collections.abc import Iterator

from ..explanation.explanation import Explanation
from .form import ReportForm
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
        '"': r"{\char34}",  # a command in some languages of babel
        "-": "{-}",  # two hyphens would be a dash
        "[": "{[}",  # after a line break, it would be an option
        "]": "{]}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)
_WIDTHS = {"kind": 0.12, "sources": 0.14, "rule": 0.27, "claim": 0.13, "support": 0.16}
"""The widths of the columns, as shares of the line; the rest is the space between them."""


def as_latex(explanation: Explanation) -> str:
    r"""Returns all rules as a LaTeX table that may go on over several pages, with the warnings before it,
    and whether these are all the rules after it. No text is a command.

    It needs ``\usepackage{longtable}``; where texts are not in Latin letters, LuaLaTeX or XeLaTeX.
    """
    return LATEX.written(explanation)


def latex_lines(explanation: Explanation) -> Iterator[str]:
    """Yields the LaTeX line by line."""
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


def _row(cells: tuple[str, ...]) -> str:
    return rf"{' & '.join(cell.translate(_ESCAPED) for cell in cells)} \\"


LATEX = ReportForm("latex", latex_lines, holds="caveats")
