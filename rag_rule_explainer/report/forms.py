"""This module registers the forms of a report, and writes an explanation in each of them."""

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from .csv import CSV
from .form import ReportForm
from .html import HTML
from .json import JSON
from .latex import LATEX
from .markdown import MARKDOWN
from .saving import write_whole
from .text import TEXT

FORMS: Mapping[str, ReportForm] = {form.name: form for form in (TEXT, MARKDOWN, HTML, JSON, CSV, LATEX)}
"""The forms of a report by name. This is the only place where a form is registered. The methods of an
explanation, ``save`` and the command line find all forms here."""


def report_in(explanation: Explanation, form: str) -> str:
    """Returns the explanation in the form with this name. Raises InvalidInput if there is no such
    form."""
    if form not in FORMS:
        raise InvalidInput(f"{form!r} is not a form of a report; give one of {', '.join(FORMS)}")
    return FORMS[form].written(explanation)


def save_report(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Writes the explanation into a file, and replaces an existing file. The form is the one that has the
    suffix of the file's name. No other program ever sees the file half-written.

    Raises InvalidInput if no form has this suffix, or if the file cannot be written.
    """
    file = Path(path)
    written = next((form for form in FORMS.values() if file.suffix.lower() in form.suffixes), None)
    if written is None:
        known = ", ".join(suffix for form in FORMS.values() for suffix in form.suffixes)
        raise InvalidInput(f"{file} ends in no suffix of a form; give a name with one of {known}")
    write_whole(file, written.written(explanation))
