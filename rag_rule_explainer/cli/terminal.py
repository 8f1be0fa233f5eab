"""This module prints for the command line: results to stdout, everything else to stderr."""

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, redirect_stdout

from rich.console import Console
from rich.text import Text
from typing_extensions import override

from ..errors import BaselineFailed, InvalidInput
from ..printable import printable
from ..probing.judging import error_text

READER_LEFT = 141
"""The exit code after the reader of stdout, such as ``head``, has closed the pipe. A shell gives it to
tools that the signal SIGPIPE ends."""


def write_in_any_encoding() -> None:
    """Makes stdout write an escape for each character that its encoding does not have."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if callable(reconfigure):
        reconfigure(errors="backslashreplace")


def print_lines(lines: Iterable[Text | str]) -> None:
    """Prints lines on stdout, with styles if it is a terminal.

    Long lines are not wrapped, and Rich's markup in the texts is not interpreted.
    """
    # In a notebook, Rich would display the output there; a command must write it to stdout as text.
    console = _Printing(file=sys.stdout, highlight=False, force_jupyter=False)
    for line in lines:
        with _writing():
            console.print(line if isinstance(line, Text) else Text(line), soft_wrap=True)


def print_json(json: str) -> None:
    """Prints JSON unchanged; it must consist of ASCII characters."""
    with _writing():
        print(json, flush=True)  # noqa: T201 -- Rich takes seconds for what can be megabytes


def say(message: str) -> None:
    """Prints one line on stderr."""
    console = Console(stderr=True, highlight=False, force_jupyter=False)
    console.print(Text(printable(message)), soft_wrap=True)


@contextmanager
def counted(what: str) -> Generator[Callable[[int, int], object] | None, None, None]:
    """Yields a function (done, total) that shows progress as a bar; None if stderr is no terminal.

    ``what``: the words after the numbers. The bar disappears at the end.
    """
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    # The import above is not at the top of the file, because most commands show no progress.
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


class _Printing(Console):
    """This console raises BrokenPipeError where Rich's own would exit with 1."""

    @override
    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 -- Rich calls this where it has caught the error


@contextmanager
def _writing() -> Generator[None, None, None]:
    """Ends the program if printing in the block fails because the reader has closed the pipe.

    Raises InvalidInput if printing fails for another reason, such as a full disk.
    """
    try:
        yield
    except OSError as error:
        # At exit, Python tries to write the rest of the buffer, which would fail again. So stdout now
        # goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(READER_LEFT)
        raise InvalidInput(
            f"the output cannot be written: {error.strerror}; write it elsewhere"
        ) from error


@contextmanager
def stdout_kept() -> Generator[None, None, None]:
    """Redirects to stderr what the application prints, because stdout is for the result.

    The result may be JSON, which other texts would make invalid.
    """
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def exits_as_errors() -> Generator[None, None, None]:
    """Raises BaselineFailed, with the reason, if the application tries to exit the program."""
    try:
        yield
    except SystemExit as error:
        raise BaselineFailed(
            f"the application ended the program ({error_text(error)}), so there is no answer to "
            "explain; "
            "make it return one"
        ) from error


def unstyled(text: str) -> str:
    """Returns the text with its brackets escaped, because help pages read brackets as styles."""
    return text.replace("[", "\\[")
