"""What the commands print: results on stdout, everything else on stderr."""

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from ..errors import InvalidInput
from ..printable import printable
from ..progress import ProgressReport

_SECOND_LINE = 100
"""Probes until the second progress line where stderr is not a terminal; then twice as many per line."""


def print_lines(lines: Iterable[Text | str]) -> None:
    """Styled on a terminal, plain elsewhere; never wrapped, never read as markup."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if callable(reconfigure):
        reconfigure(errors="backslashreplace")  # not every encoding can say everything
    console = Console(file=sys.stdout, highlight=False)
    for line in lines:
        with _writing():
            console.print(line if isinstance(line, Text) else Text(line), soft_wrap=True)


def print_json(json: str) -> None:
    """JSON that is all ASCII, as it is."""
    with _writing():
        print(json, flush=True)  # noqa: T201 -- Rich takes seconds for what can be megabytes


def say(message: str) -> None:
    """One line on stderr."""
    Console(stderr=True, highlight=False).print(Text(printable(message)), soft_wrap=True)


@contextmanager
def _writing() -> Generator[None, None, None]:
    """Ends the program where nobody reads its output any more; raises InvalidInput on a full disk."""
    try:
        yield
    except OSError as error:
        # What is still buffered would be tried once more at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(1)
        raise InvalidInput(
            f"the output cannot be written: {error.strerror}; write it elsewhere"
        ) from error


@contextmanager
def progress() -> Generator["Teller", None, None]:
    """Shows on stderr how far the probing is, for as long as the block runs."""
    if not (sys.stderr and sys.stderr.isatty()):  # asked directly: FORCE_COLOR convinces Rich of any file
        yield Teller(None)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Teller(bar)


class Teller:
    """Takes progress reports in: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._next_line = 1
        self._task = None if bar is None else bar.add_task("probing", total=None)

    def __call__(self, report: ProgressReport) -> None:
        """Shows one report."""
        failed = f", {report.failures} failed" if report.failures else ""
        text = f"{report.replays} replays{failed}; probes"
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, description=text, completed=report.probes, total=report.upper_bound
            )
        elif report.probes >= self._next_line:
            self._next_line = max(_SECOND_LINE, 2 * self._next_line)
            say(f"{text} {report.probes} of at most {report.upper_bound}")
