"""This module prints an explanation in the form that the user chose."""

from dataclasses import dataclass

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..report import FORMS, ReportForm, caveats
from .options import FormatOption, Json
from .terminal import print_lines, say

_USUAL = "text"


@dataclass(frozen=True, slots=True)
class PrintedOptions:
    """These options choose the form in which an explanation is printed; ``--json`` is short for
    ``--format json``. Raises InvalidInput for an unknown form, and if two different forms are given."""

    json: Json = False
    format: FormatOption = _USUAL

    def __post_init__(self) -> None:
        if self.format not in FORMS:
            raise InvalidInput(f"{self.format!r} is not a form; give --format one of {', '.join(FORMS)}")
        if self.json and self.format not in {_USUAL, "json"}:
            raise InvalidInput(f"--json is a form as well; leave it or --format {self.format} out")

    @property
    def form(self) -> ReportForm:
        """Returns the form that the user chose."""
        return FORMS["json" if self.json else self.format]

    def show(self, explanation: Explanation, finding: str = "") -> None:
        """Prints the explanation on stdout. ``finding``: a text about the result, which is printed before
        it; empty for none.

        Other forms than text may leave out the finding or the caveats. These are then printed on stderr.
        """
        form = self.form
        if finding and form.name == _USUAL:
            print_lines([finding, ""])
        elif finding and form.holds != "everything":
            say(finding)
        if form.holds == "rules":
            for said in caveats(explanation):
                say(said.text)
        print_lines(form.lines(explanation))
