"""The README can be read in ten minutes, all of it runs, and the commands of the pages exist."""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rag_rule_explainer.cli import main
from rag_rule_explainer.cli.experiments import experiment
from tests.documentation.blocks import README as PAGE
from tests.documentation.blocks import Block, agrees, blocks_in, readme
from tests.documentation.making import costs
from tests.documentation.making.places import DOCS, ROOT
from tests.documentation.providers import providers
from tests.documentation.reading import grade
from tests.documentation.running import as_reader, run

README = readme()
BLOCKS = blocks_in(PAGE, README)
PROVIDERS = re.findall(r"^\| (\w+) \| `(\w+)`[^|]* \| `(\w+)(\(.*?\))` \|", README, re.MULTILINE)
MODEL = re.compile(r"^model = .*$", re.MULTILINE)


@pytest.fixture(scope="module")
def variables() -> Iterator[Mapping[str, str]]:
    with providers() as found:
        yield found


@pytest.fixture
def reader(variables: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return as_reader(monkeypatch, tmp_path, variables)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_runs_alone_and_prints_what_is_shown(block: Block, reader: Path) -> None:
    printed = run(block, reader)
    assert block.before == (), "a block of the README needs no other"
    assert block.printed is not None or not printed, f"the README does not show this:\n{printed}"
    assert block.printed is None or agrees(printed, block.printed), printed


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("name", "package", "model", "given"), PROVIDERS)
def test_for_another_provider_only_the_model_line_differs(
    name: str, package: str, model: str, given: str, reader: Path
) -> None:
    (chain,) = [block for block in BLOCKS if MODEL.search(block.code)]
    line = f"from {package} import {model}\nmodel = {model}{given}"
    code = MODEL.sub(line, chain.code.replace("from langchain_openai import ChatOpenAI\n", ""))
    assert chain.printed is not None, name
    assert agrees(run(Block(PAGE, 0, "python", code), reader), chain.printed)


def of_processes() -> float:
    """How long the processor was at work for the processes that this one has started and waited for. A
    machine that does something else as well makes that no longer."""
    used = os.times()
    return used.children_user + used.children_system


def pasted() -> dict[str, list[Block]]:
    """The blocks that a reader runs after each installation, by its extras."""
    found: dict[str, list[Block]] = {}
    for block in BLOCKS:
        for extras in re.findall(r"rag-rule-explainer(\[[\w,-]+\])", block.code):
            found[extras] = []
        if "make " not in block.code:
            found[list(found)[-1]].append(block)
    return found


@pytest.mark.waits
@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("extras", pasted())
def test_from_an_empty_environment_by_pasting_alone(
    extras: str, variables: Mapping[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{ROOT}{extras}"], check=True)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env |= {**variables, "PATH": f"{python.parent}{os.pathsep}{env['PATH']}", "COLUMNS": "100"}
    for block in pasted()[extras]:
        began = of_processes()
        command = [python, "-c"] if block.language == "python" else ["bash", "-c"]
        done = subprocess.run(
            [*command, block.code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        # What pip says of the installation comes first.
        assert block.printed is None or agrees(done.stdout, f"...\n{block.printed}"), done.stdout
        assert of_processes() - began <= 60


def test_the_five_providers_are_there() -> None:
    assert [name for name, *_ in PROVIDERS] == ["OpenAI", "Azure", "Anthropic", "Ollama", "vLLM"]


def test_it_is_short_and_easy_to_read() -> None:
    assert len(README.splitlines()) <= 250
    assert len(README.split()) <= 1500
    assert grade(README) <= 10


def test_a_picture_of_a_report_is_above_the_fold() -> None:
    assert any(line.startswith("![A report") for line in README.splitlines()[:6])


def test_every_link_leads_to_a_file_of_the_repository() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    assert len(links) > 20
    assert [each for each in links if not (ROOT / each.partition("#")[0]).is_file()] == []


def test_what_it_says_of_cost_is_what_the_page_of_costs_says() -> None:
    begin = README.index("## What it costs")
    rows = re.findall(r"^\| \d+ \|.*$", README[begin : README.index("\n## ", begin + 1)], re.MULTILINE)
    assert len(rows) == 4
    # The README leaves out the best case, which readers took for a promise.
    told = [
        " | ".join((*row.split(" | ")[:1], *row.split(" | ")[2:])) for row in costs.rows("By default")
    ]
    assert [row for row in rows if row not in told] == []


def test_the_rule_at_the_top_is_what_the_demo_prints(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo"])
    (shown,) = re.findall(r"^> (whenever .*) \[(.*)\]$", README, re.MULTILINE)
    printed = capsys.readouterr().out
    assert all(part in printed for part in shown)


@pytest.mark.waits
def test_the_documented_command_turns_a_record_into_sources(real_data: Path, tmp_path: Path) -> None:
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^(head .*)$", page, re.MULTILINE)
    record = real_data / "hotpotqa_train.jsonl"
    command = command.replace("hotpotqa_train.jsonl", str(record)).replace("python", sys.executable)
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)  # noqa: S602 -- as a reader would
    lines = (tmp_path / "sources.jsonl").read_text().splitlines()
    first = json.loads(record.read_text(encoding="utf-8").splitlines()[0])
    assert [json.loads(line)["title"] for line in lines] == [s["title"] for s in first["sources"]]


def paper() -> str:
    return (DOCS / "explanation" / "paper.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_documented_experiment_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = [each for each in blocks_in("paper.md", paper()) if " experiment " in each.code]
    with pytest.raises(SystemExit) as end:
        main(block.code.removeprefix("rag-rules ").split())
    assert end.value.code == 0
    assert capsys.readouterr().out == block.printed
    assert len(list(Path("curves").glob("*.png"))) == 4


def test_every_experiment_is_documented() -> None:
    rows = set(re.findall(r"^\| `([\w-]+)` \|.*\|.*(?:question|run|none).*\|$", paper(), re.M))
    assert rows == {command.name for command in experiment.registered_commands}


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"^(?:.*`)?make (\w+)\b", README, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
