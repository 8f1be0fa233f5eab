"""This module defines the class for the forms of a report. Each form has a module of its own in this
package."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..explanation.explanation import Explanation


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A ``ReportForm`` is one way to write an explanation, such as Markdown.

    ``written``: the function that returns the explanation in this form, as text that ends in a newline.
    ``suffixes``: the suffixes of file names for this form; the first is the usual one. ``media_type``:
    the form's media type (MIME type).

    ``holds``: the content of the form. "everything" means the whole report. "caveats" means the rules,
    the warnings, and whether these are all rules. "rules" means only the rules; the caller must then
    also show the result of ``view.caveats``.
    """

    name: str
    written: Callable[[Explanation], str]
    suffixes: tuple[str, ...]
    media_type: str
    holds: Literal["everything", "caveats", "rules"] = "everything"
