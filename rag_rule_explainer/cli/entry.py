"""This module is the entry point of ``rag-rules``. It prints every error as one line and then exits
with code 2."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from typer.exceptions import Abort, TyperException
from typer.main import get_command

from ..errors import InvalidInput, RagRuleError
from ..printable import shortened
from .app import app
from .terminal import discard_output, say, write_in_any_encoding
from .wording import as_typed

_NAME = "rag-rules"
_INTO_A_FILE = "--out FILE writes it into a file, in the form that its name ends in."
_ADVICE = (
    (re.compile(r"unexpected extra argument\S* \(\S+\s.*\)"), "A question is given by --question '...'."),
    (re.compile(r"unexpected extra argument\S* \(\S+\.json\)"), _INTO_A_FILE),
    (re.compile(r"No such option: (--output|--output-file|--save)\b"), _INTO_A_FILE),
    (
        re.compile(r"No such option: (--out|--format|-o)\b"),
        "--json prints it as JSON: write > FILE after it.",
    ),
)
"""Patterns of error messages about mistakes that users often make, each with the advice to add."""
_ASKING = ("explain", "estimate", "recheck", "verify")


def run_command_line(arguments: Sequence[str] | None = None) -> None:
    """Runs ``rag-rules`` and exits.

    The exit code is 2 for bad input, 130 after an interrupt, and otherwise the code of the command.
    ``arguments``: the arguments of the command line; None for the arguments of this process.
    """
    try:
        write_in_any_encoding()
        _check_given_once(sys.argv[1:] if arguments is None else arguments)
        # ``prog_name`` is the name that help texts show. Without it, Typer would show another name if the
        # user starts the program by "python -m".
        code = _command()(args=arguments, prog_name=_NAME, standalone_mode=False)
    except RagRuleError as error:
        say(f"rag-rules: {shortened(as_typed(str(error)), 1200)}")
        sys.exit(2)
    except TyperException as error:
        given = sys.argv[1:] if arguments is None else arguments
        command = _command_of(error, given)
        message = _message(error)
        if command.endswith(_ASKING):
            from .meant_options import meant_instead  # Imported late: it loads all conditions.

            message = meant_instead(message, command, given)
        say(f"rag-rules: {message}{_advice(error, command)} See {command} --help.")
        sys.exit(2)
    except OSError as error:
        # All other errors of files were turned into InvalidInput before. Only the printing of help texts,
        # which Typer does, can raise an OSError here.
        discard_output()
        say(f"rag-rules: the output cannot be written: {error.strerror}; write it elsewhere")
        sys.exit(2)
    except SystemExit as end:
        # If the reader of a help text has closed the pipe, Rich ends the program with code 1. This is no
        # error, so the code is changed to 0.
        sys.exit(0 if isinstance(end.__context__, BrokenPipeError) else end.code)
    except (KeyboardInterrupt, Abort):
        say("rag-rules: interrupted")
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


# The command is cached, because building it from the signatures takes longer than most commands run.
@cache
def _command() -> Callable[..., Any]:
    return get_command(app)


def _check_given_once(given: Sequence[str]) -> None:
    """Raises InvalidInput if ``--sources`` is given twice. Typer would silently use only the last one."""
    if sum(each.partition("=")[0] == "--sources" for each in given) > 1:
        raise InvalidInput("--sources is given twice; give one file with all sources")


def _command_of(error: TyperException, given: Sequence[str]) -> str:
    """Returns the command that was called with a wrong option, such as "rag-rules store prune".
    ``error``: Typer's error about the option. ``given``: the arguments of the command line."""
    context: Any = getattr(error, "ctx", None)
    return getattr(context, "command_path", None) or " ".join((_NAME, *_commands_in(given)))


def _commands_in(given: Sequence[str]) -> Iterator[str]:
    """Yields the names of commands and subcommands at the beginning of the arguments: "store" and "prune"
    for ``store prune --namespace a``."""
    command: Any = _command()
    for name in given:
        command = getattr(command, "commands", {}).get(name)
        if command is None:
            return
        yield name


def _advice(error: TyperException, command: str) -> str:
    if not command.endswith(_ASKING):
        return ""
    message = _message(error)
    return next((f" {advice}" for tried, advice in _ADVICE if tried.search(message)), "")


def _message(error: TyperException) -> str:
    written = getattr(error, "format_message", None)
    message = str(written() if callable(written) else error).replace("Value error, ", "").rstrip(".")
    return message if message.endswith("?") else f"{message}."
