"""What the options of experiments come to: which sources are shown, and who judges."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer.cli.experiments.efficiency import EfficiencyRequest
from rag_rule_explainer.cli.experiments.shared_options import Endpoints, JudgingOptions, Running
from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import UNREACHABLE, RagRules
from tests.experiments.records import jsonl, line

COMMANDS = {
    "efficiency": ("--setting", "hotpotqa", "--sizes", "3"),
    "robustness": ("--samples", 1, "--sources", 3),
    "benchmark-models": ("--sources", 3),
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", COMMANDS)
def test_distractors_come_as_published_unless_they_are_to_be_shuffled(
    rag_rules: RagRules, tmp_path: Path, name: str
) -> None:
    asked = [line(f"q{number}", question=f"Where is {number}?", count=9) for number in range(4)]
    data = jsonl(tmp_path / "q.jsonl", *asked)
    command = ("experiment", name, "--data", data, "--examples", 4, "--no-figures", *COMMANDS[name])
    command = (*command, "--out", tmp_path / "out")
    assert " 0 answers out of the store" in rag_rules(*command).out
    # All four are drawn, and the same sources are shown of them, whatever the seed.
    assert " 0 model calls" in rag_rules(*command, "--seed", 1).out
    assert " 0 model calls" not in rag_rules(*command, "--seed", 1, "--shuffle-distractors").out


def test_the_judge_that_is_named_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.setenv("KEY", "k")

    def judge(named: str | None) -> object:
        judging = JudgingOptions(named, UNREACHABLE, "KEY") if named else JudgingOptions()
        data, running = tmp_path / "q.jsonl", Running(tmp_path)
        return EfficiencyRequest(Endpoints(), judging, running, "hotpotqa", data=data).asking().judge

    assert judge("j") is not None
    assert judge(None) is None
