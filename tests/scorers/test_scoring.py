"""The scorers, without any framework. Their truth is found by trying every subset."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from scorers_rag_rule_explainer import (
    RuleScorer,
    citations_decisive,
    no_forbidden_rule,
    right_documents_decide,
    stable_rules,
)
from scorers_rag_rule_explainer.langsmith import langsmith_evaluator
from scorers_rag_rule_explainer.mlflow import mlflow_scorer
from scorers_rag_rule_explainer.promptfoo import promptfoo_provider

from rag_rule_explainer import Explanation, InvalidInput, MissingExtra, contains
from tests.drawing import few
from tests.scorers.records import FORBIDDEN, RECORDS, SHOP, TRUTH, expected_of, save_goldens, scorers

SAYS = contains(FORBIDDEN)
UNCITED = SHOP | RunnableLambda(lambda answer: str(answer).partition(" [")[0])
FAILED, PASSED, OPEN = (RECORDS[place].question for place in (1, 3, 15))
"""Questions whose right documents do not decide, decide, and perhaps do."""
FRAMEWORKS = ("langsmith", "mlflow", "inspect_ai", "deepeval", "pydantic_evals", "phoenix", "langfuse")


def scorer(**options: Any) -> RuleScorer:
    return right_documents_decide(SHOP, SAYS, retries=0, **options)


def test_the_truth_has_all_three_for_every_scorer() -> None:
    for name, truth in TRUTH.items():
        assert set(truth.values()) == {0.0, 1.0, None}, name
    assert len(RECORDS) == 20


@pytest.mark.slow
def test_every_score_is_the_truth(tmp_path: Path) -> None:
    save_goldens(tmp_path)
    for each in scorers():
        for record in few(RECORDS):
            scored = each.score(record.question, expected_of(record, tmp_path).get(each.expects or ""))
            assert scored.value == TRUTH[each.name][record.question], scored.reason
            assert scored.undecided is (scored.value is None)
            assert scored.reason


def test_importing_the_package_imports_no_framework() -> None:
    modules = [f"scorers_rag_rule_explainer.{each}" for each in (*FRAMEWORKS, "promptfoo")]
    script = f"""
import importlib, json, sys
for each in {modules!r}:
    importlib.import_module(each)
print(json.dumps(sorted(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = set(json.loads(ended.stdout))
    assert not imported & {*FRAMEWORKS, "pandas", "langchain_core", "openai", "pytest"}


def test_a_framework_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.genai", None)
    with pytest.raises(MissingExtra, match=r"needs mlflow\.genai: pip install mlflow"):
        mlflow_scorer(scorer())


def test_each_wrapper_has_at_most_forty_lines() -> None:
    folder = Path(sys.modules["scorers_rag_rule_explainer"].__file__ or "").parent
    for name in (*FRAMEWORKS, "promptfoo"):
        assert len((folder / f"{name}.py").read_text().splitlines()) <= 40, name


def test_undecided_is_no_number_in_langsmith_and_an_error_in_promptfoo() -> None:
    made = scorer()
    evaluator, provider = langsmith_evaluator(made), promptfoo_provider(made)
    for question, value in ((OPEN, None), (FAILED, 0.0)):
        right = TRUTH["right_documents_decide"][question]
        assert right == value
        record = next(each for each in RECORDS if each.question == question)
        said = evaluator({"question": question}, {}, {"documents": list(record.right)})
        assert said["score"] == value
        assert ("value" in said) is (value is None)
        told = provider("", {}, {"vars": {"question": question, "documents": list(record.right)}})
        assert ("error" in told) is (value is None)
        assert value is None or told["output"]["pass"] is False


def test_a_limit_and_an_application_that_fails_are_undecided() -> None:
    assert scorer(limits=2).score(PASSED, ["D2"]).value is None
    failed = scorer().score("a question that the model does not know", ["D2"])
    assert failed.value is None
    assert "StopIteration" in failed.reason


def test_what_a_record_does_not_say_is_undecided(tmp_path: Path) -> None:
    made = scorer()
    nothing: tuple[Any, ...] = (None, [], {}, 5)
    for expected in nothing:
        assert made.score(PASSED, expected).value is None
    stable = stable_rules(SHOP, SAYS, retries=0)
    for expected in (None, 5, tmp_path / "nothing.json"):
        assert stable.score(PASSED, expected).value is None
    (tmp_path / "broken.json").write_text("{}")
    assert stable.score(PASSED, tmp_path / "broken.json").value is None


def test_a_record_that_cannot_be_scored_costs_nothing(tmp_path: Path) -> None:
    asked = list[str]()

    def application(question: str) -> str:
        asked.append(question)
        return "an answer"

    chain = SHOP | RunnableLambda(application)
    right, stable = right_documents_decide(chain, SAYS), stable_rules(chain, SAYS)
    for made, expected in ((right, None), (right, 5), (stable, None), (stable, tmp_path / "no.json")):
        assert made.score(PASSED, expected).undecided
    assert asked == []


def test_an_answer_without_citations_may_pass() -> None:
    assert citations_decisive(UNCITED, retries=0).score(PASSED).value == 0.0
    scored = citations_decisive(UNCITED, cited=False, retries=0).score(PASSED)
    assert scored.value == 1.0


def test_right_documents_that_were_not_shown_have_decided_nothing() -> None:
    scored = scorer().score(PASSED, ["D9"])
    assert (scored.value, scored.reason) == (
        0.0,
        "the model was shown none of the right documents: ['D9']",
    )
    named = right_documents_decide("tests.scorers.records:SHOP", SAYS, retries=0)
    assert named.score(PASSED, ["D9", "D2"]).value == 1.0


def test_the_answer_of_the_framework_is_the_one_that_is_explained() -> None:
    made = no_forbidden_rule(SHOP, SAYS, retries=0)
    other = made.score(PASSED, answer="Ask the treasurer.")
    assert other.value == 0.0
    assert other.reason.startswith("WARNING: ")
    same = made.score(PASSED, answer={"answer": "Pay the invoice by HASH [D2]."})
    assert same.value == 0.0
    assert same.reason.startswith("there is such a rule")


@pytest.mark.parametrize("answer", ["", " ", {"answer": ""}])
def test_an_empty_answer_of_the_framework_is_not_replaced_by_another_one(answer: Any) -> None:
    made = no_forbidden_rule(SHOP, SAYS, retries=0)
    scored = made.of_record({"question": PASSED}, "question", answer, None)
    assert (scored.value, scored.reason.partition(";")[0]) == (None, "the baseline is empty")


@pytest.mark.parametrize("documents", [[2], [""], ["D2", None]])
def test_what_is_no_id_of_a_document_is_undecided(documents: Any) -> None:
    scored = scorer().score(PASSED, documents)
    assert scored.undecided
    assert "ids are texts, such as 'D1'" in scored.reason


def test_a_mistake_in_the_settings_is_told_at_once() -> None:
    with pytest.raises(InvalidInput, match="concurency"):
        scorer(concurency=3)
    with pytest.raises(InvalidInput, match="application: there is no module 'nowhere'"):
        no_forbidden_rule("nowhere:chain", SAYS)
    with pytest.raises(InvalidInput, match="max_size is -1; give a whole number"):
        no_forbidden_rule(SHOP, SAYS, max_size=-1)
    with pytest.raises(InvalidInput, match="allow names 'sure'; the classes are"):
        citations_decisive(SHOP, allow=["sure"])
    evaluator = langsmith_evaluator(scorer())
    with pytest.raises(InvalidInput, match=r"a record has .* and no 'question'; say key="):
        evaluator({"query": "?"}, {}, {})


def test_ctrl_c_ends_the_run_of_the_framework() -> None:
    """An explanation survives Ctrl-C; a thousand others must not follow."""
    found = Explanation.model_construct(stop_reason="interrupted")
    made = RuleScorer("any", None, lambda _given, _answer: found, lambda _found, _expected: "")
    with pytest.raises(KeyboardInterrupt):
        made.score("question")


def test_failing_goes_before_being_undecided() -> None:
    """It is certain that another document is enough without them, and open what else is so."""
    record = RECORDS[17]
    assert record.answers(frozenset({"D3"})) is None
    scored = scorer().score(record.question, ["D2", "D3"])
    assert scored.value == 0.0
