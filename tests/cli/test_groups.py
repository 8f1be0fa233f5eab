"""Commands that take their options in groups."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from rag_rule_explainer.cli.groups import grouped

Count = Annotated[int, typer.Option(min=1, help="How many.")]


@dataclass(frozen=True, slots=True)
class Inner:
    count: Count = 3
    words: Annotated[list[str] | None, typer.Option("--word")] = None


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    name: Annotated[str, typer.Option()]


Nick = Annotated[int | None, typer.Option("--nick-name", min=2, help="What else.")]


def _greet(
    file: Annotated[str, typer.Argument()], outer: Outer, loud: bool = False, nick: Nick = None
) -> None:
    """Greet somebody."""
    typer.echo(f"{file} {outer} {loud} {nick}")


ADA = "f.txt", "--name", "Ada"
app = typer.Typer()
app.command()(grouped(_greet))


def test_fields_are_options_however_deep() -> None:
    run = CliRunner().invoke(app, [*ADA, "--word", "a", "--word", "b", "--loud"])
    assert run.exit_code == 0, run.output
    expected = Outer(Inner(3, ["a", "b"]), "Ada")
    assert run.output == f"f.txt {expected} True None\n"


def test_what_typer_checks_is_checked_and_help_is_shown() -> None:
    assert CliRunner().invoke(app, ["f.txt"]).exit_code == 2
    assert CliRunner().invoke(app, [*ADA, "--count", "0"]).exit_code == 2
    assert CliRunner().invoke(app, [*ADA, "--nick-name", "1"]).exit_code == 2
    told = CliRunner().invoke(app, ["--help"]).output
    for words in (
        "--count",
        "How many.",
        "--nick-name",
        "What else.",
        "--name",
        "--loud",
        "Greet somebody.",
    ):
        assert words in told


def test_two_options_of_one_name_are_refused() -> None:
    def twice(inner: Inner, count: Count = 1) -> None:
        """Never called."""

    with pytest.raises(ValueError, match="count"):
        grouped(twice)
