"""This package lays an explanation out as a readable report, in one of several forms."""

from collections.abc import Mapping

from .csv import CSV, as_csv
from .form import ReportForm
from .html import HTML, as_html, notebook_html
from .json import JSON
from .latex import LATEX, as_latex
from .loading import load
from .markdown import MARKDOWN, as_markdown
from .saving import save_report
from .text import TEXT, as_text, lines
from .view import caveats

FORMS: Mapping[str, ReportForm] = {form.name: form for form in (TEXT, MARKDOWN, HTML, JSON, CSV, LATEX)}
"""The forms of a report by name. This is the only place where a form is registered. The methods of an
explanation, ``save`` and the command line find all forms here."""

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
    "save_report",
]
