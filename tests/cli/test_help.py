"""The help of the commands: a first screen, and everything one step away."""

import re
from typing import Any

import pytest
from typer.main import get_command

from rag_rule_explainer.cli.app import app
from rag_rule_explainer.cli.panels import PANELS
from rag_rule_explainer.cli.screens import ScreenCommand
from tests.cli.runs import RagRules

_ROOT: Any = get_command(app)
GROUPS = [name for name, each in _ROOT.commands.items() if hasattr(each, "commands")]
COMMANDS: dict[str, Any] = {
    **_ROOT.commands,
    **{
        f"{group} {name}": each
        for group in GROUPS
        for name, each in _ROOT.commands[group].commands.items()
    },
}
"""Every command by the words that call it."""
SCREENS = [name for name, each in COMMANDS.items() if isinstance(each, ScreenCommand)]
LARGE = [name for name in SCREENS if len(COMMANDS[name].params) > 5]


def as_shown(rag_rules: RagRules, *arguments: str) -> list[str]:
    run = rag_rules(*arguments)
    assert (run.code, run.err) == (0, "")
    return run.out.splitlines()


def test_the_commands_with_many_options_are_those_with_a_screen() -> None:
    assert {"explain", "estimate", "verify", "check", "judge-check"} <= set(LARGE)
    assert {"experiment efficiency", "experiment benchmark-models"} <= set(LARGE)
    assert {*COMMANDS} - {*SCREENS} == {*GROUPS} == {"store", "experiment"}


@pytest.mark.parametrize("command", ["", *SCREENS, *GROUPS])
@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_the_first_screen_fits(rag_rules: RagRules, command: str, asked: str) -> None:
    lines = as_shown(rag_rules, *command.split(), asked)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("command", LARGE)
def test_the_first_screen_says_what_matters_and_where_the_rest_is(
    rag_rules: RagRules, command: str
) -> None:
    lines = as_shown(rag_rules, *command.split(), "--help")
    told = "\n".join(lines)
    assert sum(f"{line} ".startswith(f"  rag-rules {command} ") for line in lines) == 3
    joined = " ".join(told.split())
    assert all(f"{code} " in joined for code in ("Exit codes: 0", "; 2"))
    assert f"rag-rules {command} --help-all" in told
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert [each for each in shown if each in {panel.heading for panel in PANELS}]
    options = {name for option in COMMANDS[command].params for name in option.opts} | {"--help"}
    assert set(re.findall(r"(?<= )--[\w-]+", told)) <= options | {"--help-all"}
    if "judge_model" in {option.name for option in COMMANDS[command].params}:
        assert command == "estimate" or "OPENAI_API_KEY, OPENAI_BASE_URL" in told


@pytest.mark.parametrize("command", LARGE)
def test_every_option_stands_with_its_help_under_one_of_eight_headings(
    rag_rules: RagRules, command: str
) -> None:
    lines = as_shown(rag_rules, *command.split(), "--help-all")
    assert max(map(len, lines)) <= 80
    told = " ".join(" ".join(lines).split())
    for option in COMMANDS[command].params:
        assert option.help, option.name
        assert " ".join(option.help.replace("\\[", "[").split()) in told
        for name in (*option.opts, *option.secondary_opts):
            assert name in told or option.param_type_name == "argument"
        if option.param_type_name == "option":
            assert option.rich_help_panel in {panel.heading for panel in PANELS}
    headings = [line.partition(":")[0] for line in lines if re.match(r"[A-Z]\w+: ", line)]
    assert headings[1:] == [panel.heading for panel in PANELS if panel.heading in headings]
    assert len(PANELS) <= 8


def test_no_panel_names_an_option_that_no_command_has() -> None:
    options = (option for name in SCREENS for option in COMMANDS[name].params)
    known = {option.name for option in options if option.param_type_name == "option"} | {"help"}
    assert {name for panel in PANELS for name in (*panel.main, *panel.others)} == known


@pytest.mark.parametrize("command", ["", *GROUPS])
def test_a_group_names_the_longest_form_of_each_option(rag_rules: RagRules, command: str) -> None:
    (options,) = [line for line in as_shown(rag_rules, *command.split(), "-h") if "Options: " in line]
    assert options.endswith("--help")
    assert " -h" not in options
