"""This module prints: results go to stdout, everything else to stderr."""

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, redirect_stdout

from rich.console import Console
from rich.text import Text

from ..errors import BaselineFailed, InvalidInput
from ..printable import printable
from ..probing.judging import error_text


def write_in_any_encoding() -> None:
    """Makes stdout write an escape for each character that its encoding does not have."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if callable(reconfigure):
        reconfigure(errors="backslashreplace")


def print_lines(lines: Iterable[Text | str]) -> None:
    """Prints lines with styles on a terminal, and plain otherwise; never wrapped, and without markup."""
    # Even in a notebook, the output of a command is text on stdout.
    console = Console(file=sys.stdout, highlight=False, force_jupyter=False)
    for line in lines:
        with _writing():
            console.print(line if isinstance(line, Text) else Text(line), soft_wrap=True)


def print_json(json: str) -> None:
    """Prints JSON, which must be ASCII, without changes."""
    with _writing():
        print(json, flush=True)  # noqa: T201 -- Rich takes seconds for what can be megabytes


def say(message: str) -> None:
    """Prints one line on stderr."""
    console = Console(stderr=True, highlight=False, force_jupyter=False)
    console.print(Text(printable(message)), soft_wrap=True)


@contextmanager
def counted(what: str) -> Generator[Callable[[int, int], object] | None, None, None]:
    """Yields a function that shows progress, (done, total), as a bar on a terminal; None elsewhere.
    The bar disappears at the end."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    # Rich's progress is imported late, because most commands do not need it.
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


@contextmanager
def _writing() -> Generator[None, None, None]:
    """Ends the program if the reader of the output has gone away. Raises InvalidInput if the disk is
    full."""
    try:
        yield
    except OSError as error:
        # Python would write the buffer again at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(1)
        raise InvalidInput(
            f"the output cannot be written: {error.strerror}; write it elsewhere"
        ) from error


@contextmanager
def stdout_kept() -> Generator[None, None, None]:
    """Redirects the application's prints to stderr, because stdout is for the result, which may be
    JSON."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def exits_as_errors() -> Generator[None, None, None]:
    """Raises BaselineFailed if an application exits the program, which would hide the reason."""
    try:
        yield
    except SystemExit as error:
        raise BaselineFailed(
            f"the application ended the program ({error_text(error)}), so there is no answer to "
            "explain; "
            "make it return one"
        ) from error


def unstyled(text: str) -> str:
    """Returns a text for a help page, where brackets would otherwise be read as styles."""
    return text.replace("[", "\\[")
