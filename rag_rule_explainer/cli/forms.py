"""This module defines for each command the forms in which it can print its result, such as text or
JSON."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ..checking import JudgeCheck
from ..comparison import Comparison
from ..errors import InvalidInput
from ..report import FORMS
from ..report.check_text import as_check_json, as_check_text
from ..report.junit import as_junit
from ..report.markdown import lines_as_markdown
from ..report.sarif import as_sarif
from .citation_survey import as_survey_json, as_survey_markdown, as_survey_text

Layout: TypeAlias = Callable[[Any], str]
"""A function that returns a result as text that ends in a newline."""


def _as_json(result: Comparison | JudgeCheck) -> str:
    # ``dumps`` writes ASCII and escapes control characters, so the output suits every encoding and
    # terminal.
    return f"{json.dumps(result.model_dump(mode='json'), indent=2)}\n"


_SUFFIXES = {"sarif": (".sarif",), "junit": (".xml",)}
"""The suffixes of file names for the forms that only checks of questions have. The key is the name of the
form."""

_EXPLANATION: Mapping[str, Layout] = {name: form.written for name, form in FORMS.items()}
_COMPARISON: Mapping[str, Layout] = {
    "text": lambda comparison: f"{comparison}\n",
    "markdown": lambda comparison: lines_as_markdown("Comparison", str(comparison).splitlines()),
    "json": _as_json,
}
_CHECK: Mapping[str, Layout] = {
    "text": lambda check: f"{check}\n",
    "markdown": lambda check: lines_as_markdown("Judge check", str(check).splitlines()),
    "json": _as_json,
}

_QUESTIONS: Mapping[str, Layout] = {
    "text": as_check_text,
    "json": as_check_json,
    "sarif": as_sarif,
    "junit": as_junit,
}

_CITATIONS: Mapping[str, Layout] = {
    "text": as_survey_text,
    "markdown": as_survey_markdown,
    "json": as_survey_json,
}

MATRIX: Mapping[str, Mapping[str, Layout]] = {
    "explain": _EXPLANATION,
    "verify": _EXPLANATION,
    "recheck": _EXPLANATION,
    "show": _EXPLANATION,
    "diff": _COMPARISON,
    "judge-check": _CHECK,
    "check": _QUESTIONS,
    "cite": _CITATIONS,
}
"""The forms in which each command can print its result: by the name of the command and the name of the
form, the function that writes it. For any other form, the command exits with code 2 and names its
forms."""


def chosen_form(command: str, form: str | None, out: Path | None, *, json: bool) -> str:
    """Returns the name of the form in which the command prints its result.

    ``form``: the form that the user named; None if the user named none. ``out``: the file for the result;
    without ``form``, its suffix decides. Without both, the form is "text". ``json``: True means the form
    "json". Raises InvalidInput for a form that the command does not have, and if two forms are given.
    """
    forms = ", ".join(MATRIX[command])
    if json and form not in {None, "json"}:
        raise InvalidInput(f"--json is a form as well; leave it or --format {form} out")
    if form is None and not json and out is not None:
        form = next((name for name in MATRIX[command] if _is_named(name, out)), None)
        if form is None:
            raise InvalidInput(
                f"{out} does not say by its name in which form to write; give --format one of {forms}"
            )
    form = "json" if json else "text" if form is None else form
    if form not in MATRIX[command]:
        raise InvalidInput(f"this command has no form {form!r}; give --format one of {forms}")
    return form


def _is_named(form: str, file: Path) -> bool:
    suffixes = FORMS[form].suffixes if form in FORMS else _SUFFIXES[form]
    return file.suffix.lower() in suffixes
