"""This module prints for the command line. Results go to stdout, everything else goes to stderr."""

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from rich.console import Console
from rich.text import Text
from typing_extensions import override

from ..errors import BaselineFailed, InvalidInput
from ..printable import printable
from ..probing.judging import error_text
from .wrapping import wrapped

_STDOUT, _STDERR = 1, 2


def write_in_any_encoding() -> None:
    """Makes stdout write an escape sequence for each character that its encoding does not have.

    Raises InvalidInput if stdout is closed. The result could not be printed, so nothing must be paid for
    it.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] -- it is None if a shell closed it by ">&-"
        raise InvalidInput("the output cannot be written: stdout is closed; write it to a file")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if callable(reconfigure):
        reconfigure(errors="backslashreplace")


def print_lines(lines: Iterable[Text | str]) -> None:
    """Prints lines on stdout, with styles if stdout is a terminal.

    On a terminal, long lines are wrapped at its width, and their further lines have the indent of the
    first one. Elsewhere, long lines are not wrapped. Rich's markup in the texts is not interpreted. A
    line that is a ``str`` has no styles and is printed unchanged.
    """
    # In a notebook, Rich would display the output itself. A command must write it to stdout as text
    # instead.
    console = _Console(file=sys.stdout, highlight=False, force_jupyter=False)
    for line in lines:
        with _writing():
            if isinstance(line, Text):
                for part in wrapped(line, console) if console.is_terminal else (line,):
                    console.print(part, soft_wrap=True)
            else:
                print(line)  # noqa: T201 -- Rich would take seconds for megabytes
    with _writing():
        sys.stdout.flush()


class _Console(Console):
    """A ``_Console`` raises BrokenPipeError if the reader of the output has closed the pipe. Rich
    itself would exit with code 1, which for ``verify`` means that a rule is broken."""

    @override
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def print_json(json: str) -> None:
    """Prints JSON unchanged. The JSON must consist of ASCII characters."""
    with _writing():
        print(json, flush=True)  # noqa: T201 -- Rich would take seconds for megabytes


def say(message: str) -> None:
    """Prints one line on stderr."""
    console = Console(stderr=True, highlight=False, force_jupyter=False)
    console.print(Text(printable(message)), soft_wrap=True)


@contextmanager
def counted(what: str) -> Generator[Callable[[int, int], object] | None, None, None]:
    """Yields a function ``(done, total)`` that shows progress as a bar; None if stderr is no terminal.

    ``what``: the words after the numbers. The bar disappears at the end of the block.
    """
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    # Rich's progress is imported only when it is needed, because most commands show no progress.
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


@contextmanager
def _writing() -> Generator[None, None, None]:
    """Discards all further output if the reader (such as ``head``) has closed the pipe. The command goes
    on, so that its exit code is right even then.

    Raises InvalidInput if printing fails for another reason, such as a full disk.
    """
    try:
        yield
    except OSError as error:
        discard_output()
        if not isinstance(error, BrokenPipeError):
            raise InvalidInput(
                f"the output cannot be written: {error.strerror}; write it elsewhere"
            ) from error


def discard_output() -> None:
    """Redirects stdout to a file that discards everything. Otherwise Python would at its end try to
    write the rest of the buffer, and fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def stdout_kept() -> Generator[None, None, None]:
    """Redirects the application's prints in the block to stderr, because stdout is for the result.

    The result may be JSON, which other texts would make invalid. The prints of child processes and of
    libraries in C are redirected as well.
    """
    with redirect_stdout(sys.stderr), _descriptor_kept():
        yield


@contextmanager
def _descriptor_kept() -> Generator[None, None, None]:
    """Redirects the process's file descriptor of stdout to stderr for the duration of the block."""
    if not (_is_open(sys.__stdout__, _STDOUT) and _is_open(sys.__stderr__, _STDERR)):
        yield
        return
    kept = os.dup(_STDOUT)
    try:
        os.dup2(_STDERR, _STDOUT)
        yield
    finally:
        # Texts that the application wrote to the real stdout may still be in its buffer. They must go to
        # stderr.
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)


def _is_open(file: TextIO | None, descriptor: int) -> bool:
    """Returns True iff the file writes to this file descriptor. Returns False for a closed file, and for
    the stdout of a notebook."""
    try:
        return file is not None and file.fileno() == descriptor
    except (OSError, ValueError):
        return False


@contextmanager
def exits_as_errors() -> Generator[None, None, None]:
    """Raises BaselineFailed, with the reason, if the application tries to end the program in the
    block."""
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
