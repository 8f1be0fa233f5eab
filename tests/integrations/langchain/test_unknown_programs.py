"""A program of which nothing is known is named, and the user may say that it keeps nothing."""

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, omission, retention
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import Answer, Ask, Search, asking, cleared, said
from tests.integrations.leaving.shapes import rules_of

pytestmark = pytest.mark.waits


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


def counting_by(script: Path) -> Any:
    """Makes an application whose runs ask a script how many words they found."""

    def build(search: Search, ask: Ask) -> Answer:
        def count(_: str, found: list[str]) -> str:
            command = [sys.executable, "-S", str(script)]
            run = subprocess.run(
                command, input=" ".join(found), capture_output=True, text=True, check=True
            )
            return run.stdout

        return asking(search, ask, count)

    return build


def explained(build: Any, **options: Any) -> Explanation:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    explainer = RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact", **options)
    return explainer.explain("why?")


def test_a_program_that_may_keep_something_is_named_and_can_be_called_harmless(tmp_path: Path) -> None:
    script = tmp_path / "count_words.py"
    script.write_text("import pathlib, sys\nprint(len(sys.stdin.read().split()))\n", encoding="utf-8")
    build = counting_by(script)
    explanation = explained(build)
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "starts 'count_words.py', a program that may keep" in explanation.warnings[0]
    assert "ignore=['count_words" in explanation.warnings[0]
    explanation = explained(build, ignore=[r"count_words\.py"])
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
    assert (retention(explanation), omission(explanation)) == rules_of(build)


def test_a_script_that_only_computes_needs_no_name(tmp_path: Path) -> None:
    script = tmp_path / "count_words.py"
    script.write_text("import sys\nprint(len(sys.stdin.read().split()))\n", encoding="utf-8")
    assert {rule.claim for rule in explained(counting_by(script)).rules} == {"proved"}
