"""Sections of instructions that stand in a field of the input: they are left out of requests alone."""

from typing import Any

from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import contains
from rag_rule_explainer.instrumentation.source_kinds.doubts_of_turns import still_held
from tests.integrations.langchain.models import Telling

PROMPT = "# Refunds\nRefunds are paid within a month.\n# Hours\nWe are open until five."


def says(messages: list[Any]) -> str:
    return "Refunds are paid." if "within a month" in str(messages[0].content) else "I do not know it."


def test_a_claim_names_the_whole_id_of_a_section() -> None:
    model = Telling(says=says)

    def run(given: Any) -> str:
        return str(model.invoke([("system", given["rules"]), ("user", given["question"])]).text)

    # The first doubt is told: of two replays at once, either may be the first.
    explainer = RuleExplainer(
        RunnableLambda(run), contains("paid"), source_kinds=["instructions"], concurrency=1
    )
    explanation = explainer.explain({"rules": PROMPT, "question": "How are refunds paid?"})
    assert {each.claim for each in explanation.rules} == {"unverified"}
    assert all("'instructions: " in str(each) for each in explanation.rules)
    assert all(str(each).count("'instructions: Hours'") == 1 for each in explanation.rules)


def test_a_file_that_has_examples_is_named_by_its_own_path() -> None:
    assert still_held("example 1", "examples", "data/talks.json").endswith(
        "name it: ignore=['data/talks\\\\.json']"
    )
    assert "ignore=" not in still_held("example 1", "examples")
