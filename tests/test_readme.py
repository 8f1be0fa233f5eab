"""The README is code: its Python blocks run, print what it says they print, and its commands exist."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

from rag_rule_explainer.cli import main
from rag_rule_explainer.cli.experiments import experiment
from rag_rule_explainer.storing.opened import close_all

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> Iterator[tuple[str, str]]:
    """Each Python block with the text block that follows it."""
    blocks = BLOCK.findall(README)
    for (language, code), (next_language, text) in pairwise(blocks):
        if language == "python":
            yield code, text if next_language == "text" else ""


EXAMPLES = [
    pytest.param(code, printed, id=f"example{number}")
    for number, (code, printed) in enumerate(examples(), start=1)
]


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_a_python_block_runs_alone_and_prints_what_is_shown(
    code: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for the store that one makes
    out = StringIO()
    with redirect_stdout(out):
        # Nothing of the other blocks is there: what it uses it imports or makes itself.
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 -- our own README
    assert out.getvalue() == printed
    assert printed
    close_all()


@pytest.mark.slow
@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_a_python_block_runs_in_an_interpreter_of_its_own(
    code: str, printed: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def test_the_rule_at_the_top_is_what_the_demo_prints(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo"])
    (shown,) = re.findall(r"^> (whenever .*) \[(.*)\]$", README, re.MULTILINE)
    printed = capsys.readouterr().out
    assert all(part in printed for part in shown)


def test_the_documented_command_turns_a_record_into_sources(real_data: Path, tmp_path: Path) -> None:
    (command,) = re.findall(r"^\$ (head .*)$", README, re.MULTILINE)
    record = real_data / "hotpotqa_train.jsonl"
    command = command.replace("hotpotqa_train.jsonl", str(record)).replace("python", sys.executable)
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)  # noqa: S602 -- as a reader would
    lines = (tmp_path / "sources.jsonl").read_text().splitlines()
    first = json.loads(record.read_text(encoding="utf-8").splitlines()[0])
    assert [json.loads(line)["title"] for line in lines] == [s["title"] for s in first["sources"]]


def test_the_documented_experiment_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (shown,) = re.findall(
        r"^\$ rag-rules (experiment .*)\n```\n\n```text\n(.*?)^```$", README, re.M | re.S
    )
    command, printed = shown
    with pytest.raises(SystemExit) as end:
        main(command.split())
    assert end.value.code == 0
    assert capsys.readouterr().out == printed
    assert len(list(Path("curves").glob("*.png"))) == 4


def test_every_experiment_is_documented() -> None:
    rows = set(re.findall(r"^\| `([\w-]+)` \|.*\|.*(?:question|run|none).*\|$", README, re.M))
    assert rows == {command.name for command in experiment.registered_commands}


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"make (\w+)\b", README)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE) or target == "it"
