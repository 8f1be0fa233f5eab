"""This package lays an explanation out as a readable report, in one of several forms."""

from collections.abc import Mapping

from .csv import CSV, as_csv
from .form import ReportForm
from .json import JSON
from .latex import LATEX, as_latex
from .text import TEXT, as_text, lines
from .view import caveats

FORMS: Mapping[str, ReportForm] = {form.name: form for form in (TEXT, CSV, LATEX, JSON)}
"""The forms of a report by name; the command line offers each. A form is registered here alone."""

__all__ = ["FORMS", "ReportForm", "as_csv", "as_latex", "as_text", "caveats", "lines"]
