"""This module prints an explanation in the form that was asked for."""

import json
from dataclasses import dataclass

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..report import FORMS, PARTIAL, caveats
from .options import FormatOption
from .terminal import print_json, print_lines, say

_USUAL = "text"


@dataclass(frozen=True, slots=True)
class PrintedOptions:
    """These options name the form in which an explanation is printed. Raises InvalidInput for a form
    that does not exist."""

    format: FormatOption = _USUAL

    def __post_init__(self) -> None:
        if self.format not in FORMS:
            known = ", ".join(FORMS)
            raise InvalidInput(f"{self.format!r} is not a form; give --format one of {known}, or --json")

    @property
    def is_prose(self) -> bool:
        """Returns True iff lines of text may stand before the report."""
        return self.format == _USUAL

    def check(self, *, as_json: bool) -> None:
        """Raises InvalidInput if two forms were asked for."""
        if as_json and self.format != _USUAL:
            raise InvalidInput(f"--json is a form as well; leave it or --format {self.format} out")

    def show(self, explanation: Explanation, *, as_json: bool) -> None:
        """Prints the explanation on stdout. What its form leaves out is said on stderr."""
        if as_json:
            # ASCII can be written in every encoding, and control characters become escapes.
            print_json(json.dumps(explanation.model_dump(mode="json"), indent=2))
            return
        if self.format in PARTIAL:
            for said in caveats(explanation):
                say(said.text)
        print_lines(FORMS[self.format](explanation))
