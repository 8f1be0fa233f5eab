"""A process of ``rag-rules`` imports the command that it runs, and no other."""

import sys
from typing import Any

import pytest

from rag_rule_explainer.cli.late_commands import CommandPlace, LateCommands
from tests.test_package import python


def test_no_command_is_imported_by_a_process_that_runs_none() -> None:
    code = (
        "import sys; from rag_rule_explainer.cli.entry import run_command_line\n"
        "try: run_command_line(['--version'])\n"
        "except SystemExit: print(*(m for m in sys.modules if m.startswith('rag_rule')))"
    )
    _, loaded = python(code).split("\n")
    rooms = {name.split(".")[1] for name in loaded.split() if "." in name}
    assert rooms.isdisjoint(
        {"audit", "experiments", "explainer", "report", "traces", "citations", "session"}
    )
    assert "rag_rule_explainer.cli.explain_commands" not in loaded.split()


@pytest.fixture
def commands() -> LateCommands:
    return LateCommands(
        {"show": CommandPlace(".showing", "show_saved"), "gone": CommandPlace(".gone", "x")}
    )


def test_a_command_is_imported_when_it_is_read_and_once(commands: LateCommands) -> None:
    assert (list(commands), len(commands), "show" in commands, "hide" in commands) == (
        ["show", "gone"],
        2,
        True,
        False,
    )
    show: Any = commands["show"]
    assert show is commands.get("show")
    assert show.name == "show"
    assert "rag_rule_explainer.cli.showing" in sys.modules
    with pytest.raises(ModuleNotFoundError):
        _ = commands["gone"]
    assert commands.get("hide") is None


def test_commands_can_be_set_and_taken_away(commands: LateCommands) -> None:
    commands["hide"] = show = commands["show"]
    del commands["show"], commands["gone"]
    assert dict(commands) == {"hide": show}
    with pytest.raises(KeyError):
        del commands["show"]
