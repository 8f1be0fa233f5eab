"""This module prints a result in the form that the user chose, such as JSON, or writes it into a file."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..report import FORMS, caveats, lines
from ..report.plain_words import LEGEND
from ..report.saving import check_place, write_whole
from .forms import MATRIX, chosen_form
from .options import Json
from .output_options import FormatOption, LegendOption, OutOption
from .terminal import print_lines, say


@dataclass(frozen=True, slots=True)
class PrintedOptions:
    """These options choose the form in which an explanation is printed, and the file into which it is
    written.

    Raises InvalidInput if the form does not exist or if the file cannot be written. The options are made
    before any question is asked, so that a wrong option never costs money.
    """

    COMMAND: ClassVar[str] = "explain"
    json: Json = False
    format: FormatOption = None
    out: OutOption = None
    legend: LegendOption = False

    def __post_init__(self) -> None:
        form = self.form
        if self.legend and form != "text":
            raise InvalidInput(f"--legend goes with text, not with {form}; leave it out")
        if self.out is not None:
            check_place(self.out)

    @property
    def form(self) -> str:
        """Returns the name of the form that the user chose, such as "text" or "html"."""
        return chosen_form(self.COMMAND, self.format, self.out, json=self.json)

    def show(self, explanation: Explanation, finding: str = "") -> None:
        """Prints the explanation on stdout, or writes it into the file. ``finding``: a text about the
        result, which is printed before it; empty for none.

        Some forms have no place for ``finding``, for the warnings, or for the remark whether all rules
        were found. These texts are then printed on stderr.
        """
        form = FORMS[self.form]
        if form.name == "text":
            _put(self._lines(explanation, finding), self.out)
            if self.out is None and sys.stdout.isatty():
                # Only readers at a terminal need this line. It must not change a report in a pipe or a
                # file.
                claim = next((finding.claim for finding in explanation.rules), "rule")
                say(f"what a word of the report means: rag-rules help {claim}")
            return
        if finding and form.holds != "everything":
            say(finding)
        if form.holds == "rules":
            for said in caveats(explanation):
                say(said.text)
        _put([form.written(explanation).removesuffix("\n")], self.out)

    def _lines(self, explanation: Explanation, finding: str) -> Iterator[Text]:
        if finding:
            yield from (Text(finding.rstrip()), Text())
        yield from lines(explanation)
        if self.legend:
            yield from (Text(), Text("How to read this", style="bold"))
            yield from (Text(f"  {term}: {meaning}") for term, meaning in LEGEND)


@dataclass(frozen=True, slots=True)
class ChosenOutput:
    """A ``ChosenOutput`` prints the result of a command in the form that the user chose, such as JSON, or
    writes it into a file. Raises InvalidInput if the command cannot print this form, or if the file
    cannot be written."""

    command: str
    json: bool
    format: str | None
    out: Path | None

    def __post_init__(self) -> None:
        chosen_form(self.command, self.format, self.out, json=self.json)
        if self.out is not None:
            check_place(self.out)

    def show(self, result: object, text: Iterable[str]) -> None:
        """Prints the result on stdout, or writes it into the file. ``text``: the lines of the result in
        the form "text"."""
        form = chosen_form(self.command, self.format, self.out, json=self.json)
        if form == "text":
            _put(map(Text, text), self.out)
        else:
            _put([MATRIX[self.command][form](result).removesuffix("\n")], self.out)


def _put(lines: Iterable[Text | str], out: Path | None) -> None:
    if out is None:
        print_lines(lines)
    else:
        write_result(out, "".join(f"{line}\n" for line in lines))


def write_result(out: Path, text: str) -> None:
    """Writes ``text``, a result that is paid for, into the file ``out``. If the file cannot be written,
    prints the result on stdout and raises InvalidInput, so that the result is not lost."""
    try:
        write_whole(out, text)
    except InvalidInput as error:
        print_lines([text.removesuffix("\n")])
        raise InvalidInput(f"{error}; the result is printed instead") from error


def hand_over(text: str, summary: str, out: Path | None) -> None:
    """Writes ``text``, the result of many questions, into the file ``out``, and prints ``summary`` on
    stderr. If ``out`` is None, prints ``text`` on stdout. If the file cannot be written, prints ``text``
    on stdout and raises InvalidInput."""
    if out is not None:
        write_result(out, text)
        say(f"{summary}; written to {out}")
        return
    # Printing ends the program if the reader of the output has closed the pipe. That is suppressed, so
    # that the caller's exit code is right even then.
    with suppress(SystemExit):
        print_lines([text.removesuffix("\n")])
