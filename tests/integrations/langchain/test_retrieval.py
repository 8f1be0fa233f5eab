"""The shapes in which chains retrieve."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableParallel
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from tests.integrations.langchain.chains import (
    BAD,
    Counting,
    Scripted,
    bad_with,
    blames_b_and_d,
    ids,
    named,
    retention,
    retriever_of,
    sets,
    step,
    texts,
)


def test_only_the_outermost_of_nested_retrievers_takes_part() -> None:
    inner = retriever_of("abcd")
    asked: list[str] = []

    def reversing(query: str) -> list[Document]:
        asked.append(query)
        return inner.invoke(f"{query} please")[::-1]

    outer = Scripted(script=reversing)
    explainer = RuleExplainer(outer | bad_with("b", "d"), predicate=BAD)
    for explanation in (explainer.explain("?"), asyncio.run(explainer.aexplain("?"))):
        assert blames_b_and_d(explanation)
        assert ids(explanation) == list("dcba")
    assert inner.live == ["? please"] * 2
    assert asked == ["?"] * 2


def test_an_overriding_retriever_that_calls_its_parent_takes_part_once() -> None:
    class Polite(Counting):
        @override
        def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
            return super().invoke(f"{input} please", config, **kwargs)

        @override
        async def ainvoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
            return await super().ainvoke(f"{input} please", config, **kwargs)

    retriever = Polite(documents=named("abcd"))
    explainer = RuleExplainer(retriever | bad_with("b", "d"), predicate=BAD)
    assert blames_b_and_d(explainer.explain("?"))
    assert blames_b_and_d(asyncio.run(explainer.aexplain("?")))
    assert retriever.live == ["? please"] * 2


@pytest.mark.parametrize("awaiting", [False, True])
def test_two_retrievers_asked_the_same_at_once_are_kept_apart(awaiting: bool) -> None:
    left, right = retriever_of("ab"), retriever_of("cd")

    def answer(found: dict[str, list[Document]]) -> str:
        here, there = texts(found["left"]), texts(found["right"])
        assert here <= set("ab")
        assert there <= set("cd")
        return "bad" if "b" in here and "d" in there else "good"

    chain = RunnableParallel(left=left, right=right) | step(answer)
    explainer = RuleExplainer(chain, predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
    assert blames_b_and_d(explanation)
    assert (left.live, right.live) == (["?"], ["?"])


def test_a_retriever_asked_twice_is_served_what_each_query_found() -> None:
    retriever = Scripted(script=named)

    def two_hops(_: str) -> str:
        first, second = texts(retriever.invoke("ab")), texts(retriever.invoke("bcd"))
        assert first <= set("ab")
        assert second <= set("bcd")
        return "bad" if "b" in first and "b" in second and "d" in second else "good"

    explanation = RuleExplainer(step(two_hops), predicate=BAD).explain("?")
    assert blames_b_and_d(explanation)
    assert ids(explanation) == list("abcd")


def test_the_same_query_asked_again_is_served_in_turn() -> None:
    turns = iter(["ab", "cd"])

    pages = Scripted(script=lambda _: named(next(turns)))

    def two_pages(query: str) -> str:
        first, second = texts(pages.invoke(query)), texts(pages.invoke(query))
        return "bad" if "b" in first and "d" in second else "good"

    assert blames_b_and_d(RuleExplainer(step(two_pages), predicate=BAD).explain("?"))


def test_two_retrievers_asked_the_same_in_another_order_are_kept_apart() -> None:
    order = [retriever_of("ab"), retriever_of("cd")]

    def answer(query: str) -> str:
        found = {retriever.documents[0].page_content: retriever.invoke(query) for retriever in order}
        order.reverse()
        assert texts(found["a"]) <= set("ab")
        assert texts(found["c"]) <= set("cd")
        return "bad" if "b" in texts(found["a"]) and "d" in texts(found["c"]) else "good"

    assert blames_b_and_d(RuleExplainer(step(answer), predicate=BAD, concurrency=1).explain("?"))


def test_a_retriever_made_anew_for_every_call_is_recognised_by_its_kind_and_query() -> None:
    live: list[str] = []

    def found(query: str) -> list[Document]:
        live.append(query)
        return named(query)

    def two_hops(_: str) -> str:
        first, second = (texts(Scripted(script=found).invoke(query)) for query in ("ab", "cd"))
        assert first <= set("ab")
        assert second <= set("cd")
        return "bad" if "b" in first and "d" in second else "good"

    assert blames_b_and_d(RuleExplainer(step(two_hops), predicate=BAD).explain("?"))
    assert live == ["ab", "cd"]


def test_a_query_that_the_baseline_never_asked_gets_what_is_kept_of_everything() -> None:
    numbers = iter(range(1000))
    retriever = retriever_of("abcd")
    chain = step(lambda query: f"{query} {next(numbers)}") | retriever | bad_with("b", "d")
    assert blames_b_and_d(RuleExplainer(chain, predicate=BAD).explain("?"))
    assert retriever.live == ["? 0"]


def test_a_retriever_asked_in_a_thread_that_has_the_context_is_served() -> None:
    retriever = retriever_of("abcd")
    chain = (
        step(lambda query: [query, query])
        | retriever.map()
        | step(lambda batches: batches[0] + batches[1])
        | bad_with("b", "d")
    )
    assert blames_b_and_d(RuleExplainer(chain, predicate=BAD).explain("?"))
    assert retriever.live == ["?", "?"]


def test_a_chain_that_explains_another_chain_is_explained_all_the_same() -> None:
    inner_retriever, retriever = retriever_of("xy"), retriever_of("abcd")
    inner = RuleExplainer(inner_retriever | bad_with("y"), predicate=BAD)

    def answer(documents: list[Document]) -> str:
        assert retention(inner.explain("inner")) == sets("y")
        return bad_with("b", "d").invoke(documents)

    chain = retriever | step(answer)
    explanation = RuleExplainer(chain, predicate=BAD).explain("?")
    assert blames_b_and_d(explanation)
    assert retriever.live == ["?"]
    assert len(inner_retriever.live) == explanation.counts.replays
