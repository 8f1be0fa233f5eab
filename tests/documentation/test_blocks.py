"""Every block of every page runs alone, or after the ones that it says it continues, and prints what the
page shows."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.documentation.blocks import README, Block, agrees, blocks_in, fences, readme, written_pages
from tests.documentation.making.places import DOCS, ROOT
from tests.documentation.making.tables import extras
from tests.documentation.providers import providers
from tests.documentation.running import as_reader, run

PAGES = {README: readme(), **written_pages(DOCS)}
BLOCKS = [block for page, text in PAGES.items() for block in blocks_in(page, text)]
TOLD_ELSEWHERE = (README,)
"""Pages whose blocks run in the tests of that page."""
SHOWN_ALONE = {"json": json.loads, "yaml": yaml.safe_load, "toml": str}
"""Languages of blocks that are read, not run."""


@pytest.fixture(scope="module")
def variables() -> Iterator[Mapping[str, str]]:
    with providers() as found:
        yield found


@pytest.fixture
def reader(variables: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return as_reader(monkeypatch, tmp_path, variables)


def slow_in_bash(block: Block) -> object:
    """A command takes a second to start, so fast runs leave them to ``make check``."""
    commands = any(each.language == "bash" for each in (*block.before, block))
    return pytest.param(block, id=str(block), marks=[pytest.mark.slow] if commands else [])


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    "block", [slow_in_bash(block) for block in BLOCKS if block.page not in TOLD_ELSEWHERE]
)
def test_a_block_prints_what_the_page_shows(block: Block, reader: Path) -> None:
    printed = run(block, reader)
    assert block.printed is None or agrees(printed, block.printed), printed
    assert block.printed is not None or not printed, f"the page does not show this:\n{printed}"


PYTHON_ALONE = [
    block for block in BLOCKS if {"python"} == {each.language for each in (*block.before, block)}
]


@pytest.mark.waits
@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("block", PYTHON_ALONE, ids=str)
def test_a_python_block_runs_in_an_interpreter_of_its_own(block: Block) -> None:
    for each in (*block.before, block):
        if each.saved_as:
            Path(each.saved_as).write_text(each.code, encoding="utf-8")
    code = "\n".join(each.code for each in (*block.before, block))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert block.printed is None or agrees_at_its_end(done.stdout, block.printed), done.stdout


def agrees_at_its_end(printed: str, shown: str) -> bool:
    """Whether it ends as shown: the blocks before it may have printed as well."""
    return agrees(printed, f"...\n{shown}")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_block_that_nothing_looks_at(page: str) -> None:
    listed = list(fences(PAGES[page]))
    for (language, content), (before, _) in zip(listed, [("", ""), *listed], strict=False):
        if language == "text":
            assert before in {"python", "bash"}, content
        elif language in SHOWN_ALONE:
            SHOWN_ALONE[language](content)
        else:
            assert language in {"python", "bash"}, (language, content)
    assert not re.search(r"^[ \t]+```", PAGES[page], re.MULTILINE), "a block inside a list is not seen"


def test_what_is_installed_and_made_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for block in BLOCKS:
        for listed in re.findall(r"rag-rule-explainer\[([\w,-]+)\]", block.code):
            assert set(listed.split(",")) <= set(extras()), block
        for target in re.findall(r"^make ([\w-]+)", block.code, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), block


def test_three_dots_stand_for_lines_and_nothing_else() -> None:
    assert agrees("a\nb\nc\n", "a\n...\nc\n")
    assert agrees("a\nc\n", "a\n...\nc\n")
    assert not agrees("a\nb\nd\n", "a\n...\nc\n")
    assert not agrees("a\nb\n", "a\n")
    assert agrees("made 2026-01-02T03:04:05Z\n", "made 2025-11-12T13:14:15Z\n")
    assert not agrees("made 2026\n", "made 2025\n")
