"""A condition about entries of an output that were not read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import langchain_rag_rule_explainer as of_langchain
import llama_index_rag_rule_explainer as of_llama_index
import plain_rag_rule_explainer as of_plain
import pytest
from langchain_core.runnables import RunnableLambda
from plain_rag_rule_explainer import RuleExplainer, gate, offline_client

from rag_rule_explainer import Answer, Case, InvalidInput, Store, condition, contains, is_valid, json_path
from rag_rule_explainer.instrumentation.reading import unread_in

TEXTS = {"a": "A tablet has 500 mg of paracetamol.", "b": "A capsule has 250 mg of caffeine."}
QUESTION = "How much paracetamol has a tablet?"


def app(shape: Callable[[str, int], Any]) -> Callable[[str], Any]:
    def find(_: str) -> list[dict[str, str]]:
        return [{"id": name, "text": text} for name, text in TEXTS.items()]

    search, client = gate(find), offline_client()

    def answer(question: str) -> Any:
        texts = [each["text"] for each in search(question)]
        prompt = "\n".join([*texts, f"Question: {question}"])
        said = client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
        return shape(str(said.choices[0].message.content), len(texts))

    return answer


def of_dict(text: str, count: int) -> dict[str, Any]:
    return {"answer": f"It has {text}.", "ok": count > 1, "cited": ["a"]}


def value_is_ok(case: Case) -> bool:
    value = case.answer.value
    return value is not None and value["ok"]


CONDITIONS = [
    ~json_path("$.ok", equals=False),
    json_path("$.cited"),
    is_valid(dict[str, Any]),
    condition(value_is_ok, "it is ok"),
    condition(lambda case: case.answer.value == {"ok": True}, "it is ok"),
    condition(lambda case: bool(case.answer.value), "there is a value"),
]


@pytest.mark.parametrize("predicate", CONDITIONS, ids=str)
def test_a_condition_about_them_says_how_they_are_read(predicate: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "answers.db", namespace="doses")
    for _ in range(2):  # answers from the store know it too
        with pytest.raises(InvalidInput, match=r"more than the answer \('ok', 'cited'\).*answer_of="):
            RuleExplainer(app(of_dict), predicate=predicate, store=store).explain(QUESTION)


@pytest.mark.parametrize(
    "framework", [of_langchain, of_llama_index, of_plain], ids=lambda each: each.__name__
)
def test_in_each_framework(framework: Any) -> None:
    def find(_: str) -> list[dict[str, str]]:
        return [{"id": name, "text": text} for name, text in TEXTS.items()]

    search = framework.gate(find)

    def answer(question: str) -> dict[str, Any]:
        return {"answer": f"There are {len(search(question))} texts.", "total": 750}

    application: Any = RunnableLambda(answer) if framework is of_langchain else answer
    explainer = framework.RuleExplainer(application, predicate=json_path("$.total", equals=750))
    with pytest.raises(InvalidInput, match=r"'total'"):
        explainer.explain("How much?")


def test_the_way_out_reads_them() -> None:
    def whole(output: Any) -> Answer:
        return Answer(output["answer"], value=output)

    is_ok = json_path("$.ok", equals=True)
    explainer = RuleExplainer(app(of_dict), predicate=is_ok, answer_of=whole, scope="retrieved")
    explanation = explainer.explain(QUESTION)
    assert [rule.sources for rule in explanation.retention_rules] == [("a", "b")]


def test_a_condition_about_the_text_does_not_mind() -> None:
    explanation = RuleExplainer(app(of_dict), predicate=contains("500")).explain(QUESTION)
    assert [rule.sources for rule in explanation.retention_rules] == [("a",)]


@pytest.mark.parametrize(
    ("output", "names"),
    [
        ({"answer": "yes", "grade": "poor", "documents": [object()]}, ("grade",)),
        ({"answer": "yes", "cited": [1, 2], "of": {"a": 1}}, ("cited", "of")),
        (("yes", 0.5), ("item 1",)),
        (("yes", [object()]), ()),
        ("yes", ()),
    ],
)
def test_what_is_not_read(output: Any, names: tuple[str, ...]) -> None:
    assert unread_in(output, "yes") == names
