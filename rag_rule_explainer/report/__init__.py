"""This package lays an explanation out as a readable report, in one of several forms."""

from .csv import as_csv
from .form import ReportForm
from .forms import FORMS, report_in, save_report
from .html import as_html, notebook_html
from .latex import as_latex
from .loading import load
from .markdown import as_markdown
from .text import as_text, lines
from .view import caveats

__all__ = [
    "FORMS",
    "ReportForm",
    "as_csv",
    "as_html",
    "as_latex",
    "as_markdown",
    "as_text",
    "caveats",
    "lines",
    "load",
    "notebook_html",
    "report_in",
    "save_report",
]
