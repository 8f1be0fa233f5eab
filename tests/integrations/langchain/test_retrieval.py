"""The shapes in which chains retrieve."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from tests.integrations.known import BAD, blames_b_and_d, ids, retention, sets
from tests.integrations.langchain.chains import (
    Counting,
    Scripted,
    bad_with,
    named,
    retriever_of,
    step,
    texts,
)
from tests.representing import SELDOM


def test_only_the_outermost_of_nested_retrievers_takes_part() -> None:
    inner = retriever_of("abcd")
    asked: list[str] = []

    def asking(query: str) -> list[Document]:
        asked.append(query)
        return inner.invoke(f"{query} please")

    outer = Scripted(script=asking)
    explainer = RuleExplainer(outer | bad_with("b", "d"), predicate=BAD)
    for explanation in (explainer.explain("?"), asyncio.run(explainer.aexplain("?"))):
        assert blames_b_and_d(explanation)
        assert ids(explanation) == list("abcd")
    assert inner.live == ["? please"] * 2
    assert asked == ["?"] * 2


def test_a_retriever_that_reorders_what_another_found_runs_in_replays() -> None:
    """What it makes of fewer documents cannot be known from what it made of all of them."""
    inner = retriever_of("abcd")
    outer = Scripted(script=lambda query: inner.invoke(f"{query} please")[::-1])
    explainer = RuleExplainer(outer | bad_with("b", "d"), predicate=BAD)
    for explanation in (explainer.explain("?"), asyncio.run(explainer.aexplain("?"))):
        assert blames_b_and_d(explanation)
        assert ids(explanation) == list("abcd")
    assert inner.live == ["? please"] * 2


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


@pytest.mark.parametrize("awaiting", SELDOM)
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
    # One real search a query shows that they find the same. Replays in flight search in any order.
    assert len(retriever.live) == len(set(retriever.live)) > 1
    assert set(retriever.live) == {f"? {number}" for number in range(len(retriever.live))}


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


@pytest.mark.parametrize("entry", ["explain", "invoke"])
def test_an_explainer_inside_an_explained_chain_is_refused(entry: str) -> None:
    # Its own recording would hide the outer one's documents from the outer replays.
    inner_retriever, retriever = retriever_of("xy"), retriever_of("abcd")
    inner = RuleExplainer(inner_retriever | bad_with("y"), predicate=BAD)

    def answer(documents: list[Document]) -> str:
        getattr(inner, entry)("inner")
        return bad_with("b", "d").invoke(documents)

    with pytest.raises(InvalidInput, match=r"\.application"):
        RuleExplainer(retriever | step(answer), predicate=BAD).explain("?")
    assert retention(inner.explain("inner")) == sets("y")


class Filtered(Counting):
    """Made anew for every run, as ``store.as_retriever(search_kwargs=...)`` is; finds one category."""

    search_kwargs: dict[str, str]

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [d for d in self.documents if d.page_content.startswith(self.search_kwargs["category"])]


def test_retrievers_made_anew_are_told_apart_by_their_settings() -> None:
    documents = named(["policy", "price", "product"])

    def app(query: str) -> str:
        found = {
            category: Filtered(documents=documents, search_kwargs={"category": category}).invoke(query)
            for category in ("policy", "price")
        }
        # Asked only where the first one found something, so a turn may be missing.
        if found["policy"]:
            found["product"] = Filtered(
                documents=documents, search_kwargs={"category": "product"}
            ).invoke(query)
        return ", ".join(f"{name}: {next(iter(texts(docs)), None)}" for name, docs in found.items())

    def live(kept: set[str]) -> str:
        saved, documents[:] = list(documents), [d for d in documents if d.id in kept]
        try:
            return app("?")
        finally:
            documents[:] = saved

    explanation = RuleExplainer(app).explain("?")
    for probe in explanation.probes:
        # Without a policy, nobody asks for the product: this is what the application does then.
        assert probe.answers[0].text == live(set(probe.kept))


@pytest.mark.parametrize("attempt", range(5))
def test_parallel_retrievers_made_anew_serve_their_own_branch(attempt: int) -> None:
    documents = named(["left", "right"])

    def branch(category: str) -> Runnable[str, str]:
        def find(query: str) -> str:
            made = Filtered(documents=documents, search_kwargs={"category": category})
            return f"{category}={sorted(texts(made.invoke(query)))}"

        return step(find)

    chain = RunnableParallel(left=branch("left"), right=branch("right")) | step(str)
    explanation = RuleExplainer(chain).explain("?")
    assert retention(explanation) == sets(["left", "right"])


def test_arguments_of_the_call_tell_retrievals_apart() -> None:
    class Best(Counting):
        @override
        def invoke(
            self, input: str, config: RunnableConfig | None = None, **kwargs: Any
        ) -> list[Document]:
            return super().invoke(input, config)[: kwargs["k"]]

    retriever = Best(documents=named("abc"))

    def app(query: str) -> str:
        narrow = retriever.invoke(query, k=1) or retriever.invoke(query, k=2)
        return "/".join("".join(sorted(texts(found))) for found in (narrow, retriever.invoke(query, k=3)))

    explanation = RuleExplainer(app).explain("?")
    by_kept = {probe.kept: probe.answers[0].text for probe in explanation.probes}
    # Without "a", the second retrieval was never recorded, so everything kept is served, and said.
    assert by_kept["b", "c"] == "bc/bc"
    assert any("never made" in note for note in explanation.notes)


def test_what_a_run_does_to_its_input_reaches_no_other_run() -> None:
    retriever = retriever_of("ab")

    def app(given: dict[str, Any]) -> str:
        given["messages"].append("seen")
        retriever.invoke("?")
        return f"{len(given['messages'])} messages"

    given = {"question": "?", "messages": ["first"]}
    explanation = RuleExplainer(app).explain(given)
    assert explanation.baseline.text == "2 messages"
    assert retention(explanation) == {frozenset()}
    assert explanation.raw_input == {"question": "?", "messages": ["first"]}
    assert given["messages"] == ["first"]
