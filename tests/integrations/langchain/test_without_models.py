"""Applications that ask no model: their answers are compared, unless something may be a model unseen."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from rag_rule_explainer import Store
from tests.integrations.known import BAD, blames_b_and_d, omission, retention, sets, shown_in
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.shapes import Store as Documents
from tests.integrations.langchain.zoo.shapes import joined, retriever_of

Search = Callable[[str], Any]


def told(names: str) -> str:
    return "bad news" if {"b", "d"} <= set(names) else "good news"


def a_function(search: Search) -> Any:
    return lambda question: told(shown_in(joined(search(question))))


def a_chain(search: Search) -> Any:
    return RunnableLambda(search) | joined | shown_in | told


class Found(TypedDict):
    question: str
    documents: list[Any]
    answer: str


def a_graph(search: Search) -> Any:
    def retrieve(state: Found) -> dict[str, Any]:
        return {"documents": search(state["question"])}

    def answer(state: Found) -> dict[str, str]:
        # Its own words name what was found, as an extractive answer does.
        return {"answer": told("".join(each.id for each in state["documents"]))}

    graph = StateGraph(Found).add_sequence([retrieve, answer]).add_edge(START, "retrieve").compile()
    return lambda question: graph.invoke({"question": question, "documents": [], "answer": ""})["answer"]


def as_json(search: Search) -> Any:
    def answer(question: str) -> str:
        found = search(question)
        return json.dumps({"answer": told(shown_in(joined(found))), "found": len(found)})

    return answer


@pytest.mark.parametrize("build", [a_function, a_chain, a_graph, as_json], ids=lambda each: each.__name__)
def test_what_it_computes_itself_is_proved(build: Callable[[Search], Any]) -> None:
    explanation = RuleExplainer(build(retriever_of().invoke), predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert all(rule.proved for rule in explanation.rules), explanation.warnings


def latching(search: Search) -> Any:
    """The first run finds all, and later ones are told so."""
    seen = set[str]()

    def answer(question: str) -> str:
        seen.update(shown_in(joined(search(question))))
        return told("".join(sorted(seen)))

    return answer


def with_a_model_at_hand(search: Search) -> Any:
    """It is asked by a way of its own that reports nothing."""
    model = Telling()

    def answer(question: str) -> str:
        return model.says([HumanMessage(joined(search(question)))])

    return answer


def by_an_unknown_client(search: Search) -> Any:
    http = httpx.Client(
        transport=httpx.MockTransport(
            lambda request: httpx.Response(200, text=told(shown_in(request.content.decode())))
        )
    )
    return lambda question: http.post("http://model", content=joined(search(question)).encode()).text


def by_urllib_at_times(search: Search) -> Any:
    def answer(question: str) -> str:
        found = joined(search(question))
        if not found and question == "how?":
            return urllib.request.urlopen("http://127.0.0.1:1").read().decode()
        return told(shown_in(found))

    return answer


def by_a_computed_import(search: Search) -> Any:
    def answer(question: str) -> str:
        math = __import__("ma" + "th")
        return told(shown_in(joined(search(question)))) if math.pi > 3 else ""

    return answer


@pytest.mark.parametrize(
    "build",
    [latching, with_a_model_at_hand, by_an_unknown_client, by_urllib_at_times, by_a_computed_import],
    ids=lambda each: each.__name__,
)
def test_nothing_is_proved_where_a_model_may_be_unseen_or_runs_remember(
    build: Callable[[Search], Any],
) -> None:
    explanation = RuleExplainer(build(retriever_of().invoke), predicate=BAD).explain("why?")
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert explanation.warnings[0].startswith("fidelity not checked")


def test_stored_answers_of_it_prove_nothing(tmp_path: Path) -> None:
    """Without requests, nothing shows that the application is the one that gave them."""
    answer = a_function(Documents().similarity_search)
    for _ in range(2):
        store = Store(str(tmp_path / "answers.db"), "guide")
        explanation = RuleExplainer(answer, predicate=BAD, store=store).explain("why?")
        assert {rule.claim for rule in explanation.rules} == {"unverified"}
        assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
