"""What the commands print: results on stdout, everything else on stderr."""

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from ..printable import printable
from ..progress import ProgressReport

_EVERY = 100
"""Probes between two progress lines where stderr is not a terminal."""


def print_lines(lines: Iterable[Text | str]) -> None:
    """Styled on a terminal, plain elsewhere; never wrapped, never read as markup."""
    console = Console(file=sys.stdout, highlight=False)
    for line in lines:
        console.print(line if isinstance(line, Text) else Text(line), soft_wrap=True)


def say(message: str) -> None:
    """One line on stderr."""
    Console(stderr=True, highlight=False).print(Text(printable(message)), soft_wrap=True)


@contextmanager
def progress() -> Generator["Teller", None, None]:
    """Shows on stderr how far the probing is, for as long as the block runs."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Teller(None)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield Teller(bar)


class Teller:
    """Takes progress reports in: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._task = None if bar is None else bar.add_task("probing", total=None)

    def __call__(self, report: ProgressReport) -> None:
        """Shows one report."""
        failed = f", {report.failures} failed" if report.failures else ""
        text = f"{report.replays} replays{failed}; probes"
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, description=text, completed=report.probes, total=report.upper_bound
            )
        elif report.probes % _EVERY == 1:
            say(f"{text} {report.probes} of at most {report.upper_bound}")
