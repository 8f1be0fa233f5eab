"""This module says what a form of a report is; each form has a module of its own."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from rich.text import Text

from ..explanation.explanation import Explanation


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A ``ReportForm`` is one way to lay an explanation out.

    ``lines``: the function that yields its lines; a ``str`` is printed as it is, and fast. ``holds``:
    *everything* that the report says; the rules with their *caveats*; or the *rules* alone, so that
    ``caveats`` have to be said beside them.
    """

    name: str
    lines: Callable[[Explanation], Iterable[Text | str]]
    holds: Literal["everything", "caveats", "rules"]

    def written(self, explanation: Explanation) -> str:
        """Returns the explanation in this form, as plain text that ends in a newline."""
        return "".join(f"{line}\n" for line in self.lines(explanation))
