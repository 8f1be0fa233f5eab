"""The reference has every public name, every setting, every error and every command."""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from types import ModuleType

import pytest

import rag_rule_explainer
from rag_rule_explainer import errors
from rag_rule_explainer.instrumentation.explainer_options import FrameworkFields
from rag_rule_explainer.settings import Settings, SettingsFields
from tests.documentation.making import commands, costs, settings, tables
from tests.documentation.making.docstrings import as_markdown, parameters_of
from tests.documentation.making.names import GROUPS, PACKAGES, public
from tests.documentation.making.schema import definitions
from tests.documentation.making.site import made


@pytest.fixture(scope="module")
def pages() -> Mapping[str, str]:
    return {name.removeprefix("reference/"): text for name, text in made().items()}


def is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, errors.RagRuleError)


def sections(page: str) -> dict[str, str]:
    """What stands below each heading."""
    parts = re.split(r"^##+ (.*)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_name_of_the_package_is_in_one_group() -> None:
    grouped = [name for _, names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    told = {*grouped, *(name for name in dir(errors) if is_error(getattr(errors, name)))}
    assert set(rag_rule_explainer.__all__) <= told


def test_every_name_has_a_text(pages: Mapping[str, str]) -> None:
    for each in public():
        told = sections(pages[f"{each.page}.md"])[f"`{each.name}`"]
        said = re.sub(r"```.*?```|\W", "", told, flags=re.DOTALL)
        assert said or "TypeAlias" in told or "Generator[" in told, each


def test_no_open_package_is_left_out(pages: Mapping[str, str]) -> None:
    written = {each.name for each in public()} | set(sections(pages["errors.md"]))
    for _, package in PACKAGES.values():
        for name in import_module(package).__all__:
            assert name in written or f"`{name}`" in written, f"{package}.{name}"


def test_every_setting_has_its_type_default_and_meaning(pages: Mapping[str, str]) -> None:
    told = sections(pages["settings.md"])
    keywords = {*SettingsFields.__annotations__, *FrameworkFields.__annotations__, *settings_of_calls()}
    for name in {each.name for each in fields(Settings)} | keywords:
        text = told[f"`{name}`"]
        assert re.search(r"\w{3}.*\n\n- Type: `.+`\n- Default: `.+`", text), name
    for part in settings.PARTS:
        for each in settings.fields_of(part):
            assert each.meaning, f"{part.__name__}.{each.name}"


def settings_of_calls() -> set[str]:
    return {each.name for each in settings.settings()}


def test_every_error_has_its_cause_and_its_way_out(pages: Mapping[str, str]) -> None:
    told = sections(pages["errors.md"])
    listed = [thing for _, thing in inspect.getmembers(errors) if is_error(thing)]
    assert len(listed) > 15
    for error in listed:
        text = told[f"`{error.__name__}`"]
        assert "**Why it happens.**" in text, error
        assert "**What to do.**" in text, error


def test_every_command_is_told_of_as_it_is_printed(pages: Mapping[str, str]) -> None:
    told = sections(pages["commands.md"])
    assert set(told) == {f"`{' '.join(('rag-rules', *path))}`" for path in commands.commands()}
    assert len(told) > 15


@pytest.mark.waits
@pytest.mark.spread(slow=4)
@pytest.mark.slow
@pytest.mark.parametrize("path", commands.commands(), ids="-".join)
def test_a_terminal_shows_the_same_help(path: tuple[str, ...], pages: Mapping[str, str]) -> None:
    env = {**os.environ, "COLUMNS": commands.WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    told = sections(pages["commands.md"])[f"`{' '.join(('rag-rules', *path))}`"]
    shown = re.findall(r"^`[^`]* (--help\S*)`\n\n```none\n(.*?)^```$", told, re.MULTILINE | re.DOTALL)
    assert shown[0][0] == "--help"
    for option, text in shown:
        done = subprocess.run(
            [sys.executable, "-m", "rag_rule_explainer", *path, option],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert text == commands.tidy(done.stdout)


def test_every_option_of_explain_is_told_of(pages: Mapping[str, str]) -> None:
    told = sections(pages["commands.md"])["`rag-rules explain`"]
    for option in ("--predicate", "--max-violation", "--judge-batch", "--on-no-retrieval"):
        assert option in told


def test_every_object_of_the_schema_is_told_of(pages: Mapping[str, str]) -> None:
    told = sections(pages["schema.md"])
    for name, each in definitions().items():
        assert all(f"| `{field}` |" in told[f"`{name}`"] for field in each.get("properties", {}))


def test_what_a_docstring_says_of_parameters_becomes_a_list() -> None:
    docstring = "Returns *x*. ``a``: the first; ``b`` too. ``c``, ``d``: both. Raises KeyError."
    assert parameters_of(docstring) == {"a": "the first; ``b`` too.", "c": "both.", "d": "both."}
    assert as_markdown(docstring) == (
        "Returns \\*x\\*.\n\n- `a`: the first; `b` too.\n- `c`: both.\n- `d`: both.\n\nRaises KeyError."
    )


@pytest.mark.parametrize("made_by", [pytest.param(costs, marks=pytest.mark.slow), tables])
def test_a_page_that_is_kept_in_the_folder_is_as_it_would_be_made_now(made_by: ModuleType) -> None:
    assert made_by.PAGE.read_text(encoding="utf-8") == made_by.page(), (
        f"it is stale; run `python -m {made_by.__name__}`, look at it, and commit it"
    )
