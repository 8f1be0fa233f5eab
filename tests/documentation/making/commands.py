"""The page of the reference with the help of every command, as it is printed."""

import re
from collections.abc import Iterator
from typing import Any

import typer.main
from typer.testing import CliRunner

from rag_rule_explainer.cli.app import app

WIDTH = "80"


def commands() -> list[tuple[str, ...]]:
    """Every command by the words that call it, the program itself first."""

    def below(path: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
        yield path
        for name, each in getattr(command, "commands", {}).items():
            if not each.hidden:
                yield from below((*path, name), each)

    return list(below((), typer.main.get_command(app)))


def help_of(path: tuple[str, ...], *, option: str = "--help") -> str:
    """What a terminal of eighty columns shows, without trailing spaces."""
    unset = dict.fromkeys(("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"))
    terminal = {"COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    ran = CliRunner().invoke(app, [*path, option], env={**unset, **terminal}, prog_name="rag-rules")
    assert ran.exit_code == 0, ran.output
    return tidy(ran.output)


def tidy(printed: str) -> str:
    """The text without spaces at the ends of lines and without empty lines around it."""
    return re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE).strip("\n") + "\n"


def texts_of(path: tuple[str, ...]) -> dict[str, str]:
    """What a command prints, by the option that asks for it: its help, and all of it if that is more."""
    first = help_of(path)
    more = {"--help-all": help_of(path, option="--help-all")} if "--help-all" in first else {}
    return {"--help": first, **more}


def page() -> str:
    """The page, with a heading for each command."""
    return (
        f"# Commands\n\nThe help of every command, as a terminal of {WIDTH} columns shows it.\n"
        + "".join(map(_told, commands()))
    )


def _told(path: tuple[str, ...]) -> str:
    name = " ".join(("rag-rules", *path))
    blocks = "".join(
        f"\n`{name} {option}`\n\n```none\n{text}```\n" for option, text in texts_of(path).items()
    )
    return f"\n## `{name}`\n{blocks}"
