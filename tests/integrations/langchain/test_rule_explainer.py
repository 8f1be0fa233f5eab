"""RuleExplainer: the ways to ask, and what cannot be explained."""

import asyncio
from collections.abc import Iterator
from itertools import combinations

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableParallel, RunnablePassthrough
from langchain_rag_rule_explainer import Explained, RuleExplainer, lexical_chain

from rag_rule_explainer import (
    BaselineFailed,
    InvalidInput,
    NoSourcesCaptured,
    ReplayMissedGate,
    RuleKind,
    Settings,
    contains,
)
from rag_rule_explainer.cli.stories import LONG_COVID, REHABILITATION, STORIES, Story
from tests.integrations.known import BAD, blames_b_and_d, ids, omission, retention, sets
from tests.integrations.langchain.chains import bad_with, retriever_of, step, texts


def test_the_rules_of_a_chain_cost_one_live_retrieval() -> None:
    retriever = retriever_of("abcd")
    explanation = RuleExplainer(retriever | bad_with("b", "d"), predicate=BAD).explain("?")
    assert blames_b_and_d(explanation)
    assert retriever.live == ["?"]
    assert ids(explanation) == list("abcd")
    assert explanation.scope == "retrieved"
    assert explanation.baseline.text == "bad"
    assert (explanation.counts.baseline, explanation.counts.repeat_check) == (1, 1)


def test_blocking_and_awaiting_explain_alike() -> None:
    retriever = retriever_of("abcd")
    explainer = RuleExplainer(retriever | bad_with("b", "d"), predicate=BAD)
    blocking, awaited = explainer.explain("?"), asyncio.run(explainer.aexplain("?"))
    assert blames_b_and_d(awaited)
    assert awaited.counts == blocking.counts
    assert [probe.kept for probe in awaited.probes] == [probe.kept for probe in blocking.probes]
    assert retriever.live == ["?", "?"]


def test_invoke_returns_what_the_chain_puts_out_beside_the_explanation() -> None:
    retriever = retriever_of("abcd")
    chain = RunnableParallel(answer=retriever | bad_with("b", "d"), asked=RunnablePassthrough())
    explainer = RuleExplainer(chain, predicate=BAD)
    for explained in (explainer.invoke("?"), asyncio.run(explainer.ainvoke("?"))):
        assert isinstance(explained, Explained)
        assert explained.output == {"answer": "bad", "asked": "?"}
        assert blames_b_and_d(explained.explanation)
    assert retriever.live == ["?", "?"]


def test_batch_explains_every_input_by_itself() -> None:
    retriever = retriever_of("abcd")
    explainer = RuleExplainer(retriever | bad_with("b", "d"), predicate=BAD)
    blocking = explainer.batch(["one", "two", "three"])
    awaited = asyncio.run(explainer.abatch(["one", "two", "three"]))
    for explained in (blocking, awaited):
        assert [each.explanation.question for each in explained] == ["one", "two", "three"]
        assert all(blames_b_and_d(each.explanation) for each in explained)
    assert sorted(retriever.live) == sorted(["one", "two", "three"] * 2)


def test_it_is_a_runnable_like_any_other() -> None:
    explainer = RuleExplainer(retriever_of("ab") | bad_with("b"), predicate=BAD)
    chain = step(str.upper) | explainer | step(lambda each: each.explanation)
    assert retention(chain.invoke("why")) == sets("b")
    *chunks, last = explainer.stream("why")
    assert [chunk.output for chunk in chunks] == ["bad"]
    assert (last.output, retention(last.explanation)) == ("bad", sets("b"))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_the_stories_are_told_through_a_lexical_chain(story: Story) -> None:
    corpus = [
        Document(id=each.id, page_content=each.text, metadata={"title": each.title})
        for each in story.corpus
    ]
    chain = lexical_chain(corpus, k=len(story.documents))
    explanation = RuleExplainer(chain, predicate=contains(story.symptom)).explain(story.question)
    expected = {
        LONG_COVID.name: [{"preprint-17"}],
        REHABILITATION.name: [{"leaflet-9", "programme-1998"}],
    }[story.name]
    assert retention(explanation) == {frozenset(each) for each in expected}
    assert omission(explanation) == {frozenset({each}) for each in expected[0]}
    assert set(ids(explanation)) == {each.id for each in story.documents}


def test_settings_and_their_fields_are_taken_as_the_explainer_takes_them() -> None:
    explainer = RuleExplainer(
        retriever_of("abc") | bad_with("b"),
        predicate=BAD,
        settings=Settings(rules="retention", concurrency=2),
        miner="exhaustive",
    )
    explanation = explainer.explain("?")
    assert (explanation.counts.probes, explanation.omission_rules) == (8, ())
    with pytest.raises(InvalidInput, match="patience"):
        # A mistake, on purpose.
        RuleExplainer(retriever_of("abc"), patience=3)  # pyright: ignore[reportCallIssue]


def test_a_chain_without_a_retriever_is_told_so() -> None:
    explainer = RuleExplainer(step(lambda _: "bad"))
    with pytest.raises(NoSourcesCaptured, match="without a retrieval that could be seen"):
        explainer.explain("?")
    with pytest.raises(NoSourcesCaptured, match="without a retrieval that could be seen"):
        asyncio.run(explainer.aexplain("?"))


def test_a_method_taken_off_a_retriever_beforehand_is_seen() -> None:
    retriever = retriever_of("ab")
    taken_off = retriever.invoke
    explainer = RuleExplainer(step(taken_off) | bad_with("b"), predicate=BAD)
    assert retention(explainer.explain("?")) == sets("b")
    assert retriever.live == ["?"]


def test_a_retriever_that_finds_nothing_is_told_apart_from_none() -> None:
    with pytest.raises(NoSourcesCaptured, match="returned no documents"):
        RuleExplainer(retriever_of("") | bad_with("b")).explain("?")


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_chain_that_keeps_its_documents_misses_the_gate(awaiting: bool) -> None:
    kept: list[Document] = []

    def cached(query: str) -> list[Document]:
        kept[:] = kept or retriever_of("ab").invoke(query)
        return kept

    explainer = RuleExplainer(step(cached) | bad_with("b"), predicate=BAD)
    with pytest.raises(ReplayMissedGate, match="without a retrieval"):
        asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")


def test_a_chain_that_fails_on_everything_is_a_failed_baseline_with_its_cause() -> None:
    def failing(_: object) -> str:
        raise ConnectionError("no route")

    explainer = RuleExplainer(retriever_of("ab") | step(failing), retries=0)
    with pytest.raises(BaselineFailed, match="ConnectionError: no route") as caught:
        explainer.explain("?")
    assert isinstance(caught.value.__cause__, ConnectionError)
    with pytest.raises(BaselineFailed, match="ConnectionError: no route"):
        asyncio.run(explainer.aexplain("?"))


@pytest.mark.parametrize("awaiting", [False, True])
def test_where_the_chain_raises_nothing_is_claimed_and_what_is_claimed_is_true(awaiting: bool) -> None:
    def answer(kept: frozenset[str]) -> str:
        if kept in sets("bc", "abd"):
            raise TimeoutError("the model is busy")
        return "bad" if kept >= {"b", "d"} or "a" in kept else "good"

    chain = retriever_of("abcd") | step(lambda documents: answer(texts(documents)))
    explainer = RuleExplainer(chain, predicate=BAD, retries=0)
    explanation = asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
    assert not explanation.complete
    assert {frozenset(each.kept) for each in explanation.unresolved} <= sets("bc", "abd")
    assert all("TimeoutError: the model is busy" in each.reason for each in explanation.unresolved)
    failed = {frozenset(probe.kept): probe.error for probe in explanation.probes if probe.error}
    assert set(failed) <= sets("bc", "abd")
    assert explanation.rules

    def holds(kept: frozenset[str], kind: RuleKind) -> bool:
        if kept in sets("bc", "abd"):
            return False
        return (answer(kept) == "bad") == (kind is RuleKind.RETENTION)

    for rule in explanation.rules:
        named = frozenset(rule.sources)
        for antecedent in every_superset(named, "abcd"):
            kept = antecedent if rule.kind is RuleKind.RETENTION else frozenset("abcd") - antecedent
            assert holds(kept, rule.kind), rule


def every_superset(of: frozenset[str], among: str) -> Iterator[frozenset[str]]:
    others = [each for each in among if each not in of]
    for size in range(len(others) + 1):
        for more in combinations(others, size):
            yield of.union(more)


def test_an_application_that_is_async_only_is_explained_by_the_blocking_entry_too() -> None:
    loops: set[asyncio.AbstractEventLoop] = set()

    async def answer(documents: list[Document]) -> str:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return "bad" if "b" in texts(documents) else "good"

    retriever = retriever_of("abc")
    explainer = RuleExplainer(retriever | step(answer), predicate=BAD)
    first, second = explainer.explain("?"), explainer.explain("?")
    assert retention(first) == sets("b")
    assert first.rules == second.rules
    assert len(loops) == 1
