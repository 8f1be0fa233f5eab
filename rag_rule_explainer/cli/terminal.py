"""What the commands print: results on stdout, everything else on stderr."""

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, redirect_stdout

from rich.console import Console
from rich.text import Text

from ..errors import BaselineFailed, InvalidInput
from ..printable import printable
from ..probing.judging import error_text


def print_lines(lines: Iterable[Text | str]) -> None:
    """Styled on a terminal, plain elsewhere; never wrapped, never read as markup."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if callable(reconfigure):
        reconfigure(errors="backslashreplace")  # not every encoding can say everything
    # In a notebook too, what a command prints is text on stdout.
    console = Console(file=sys.stdout, highlight=False, force_jupyter=False)
    for line in lines:
        with _writing():
            console.print(line if isinstance(line, Text) else Text(line), soft_wrap=True)


def print_json(json: str) -> None:
    """JSON that is all ASCII, as it is."""
    with _writing():
        print(json, flush=True)  # noqa: T201 -- Rich takes seconds for what can be megabytes


def say(message: str) -> None:
    """One line on stderr."""
    console = Console(stderr=True, highlight=False, force_jupyter=False)
    console.print(Text(printable(message)), soft_wrap=True)


@contextmanager
def counted(what: str) -> Generator[Callable[[int, int], object] | None, None, None]:
    """On a terminal, a bar that can be told how many of how many there are; it leaves nothing."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    # Late, as most commands need none.
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


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
def stdout_kept() -> Generator[None, None, None]:
    """Inside, what an application prints goes to stderr: stdout is for the result, which may be JSON."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def exits_told() -> Generator[None, None, None]:
    """Raises BaselineFailed where an application ends the program: nobody would be told why."""
    try:
        yield
    except SystemExit as error:
        raise BaselineFailed(
            f"the application ended the program ({error_text(error)}), so there is no answer to "
            "explain; "
            "make it return one"
        ) from error


def unstyled(text: str) -> str:
    """Text for a help page, which would take what stands in brackets for a style."""
    return text.replace("[", "\\[")
