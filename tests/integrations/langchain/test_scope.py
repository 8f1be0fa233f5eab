"""Who takes part: given instances only, nobody else's searches, and traces that show it or do not."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_rag_rule_explainer import RuleExplainer
from langsmith import run_helpers

from rag_rule_explainer import Explanation, NoSourcesCaptured, SourceLeak, UnknownQuery
from tests.integrations.known import BAD, ids, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.test_traces import Watching
from tests.representing import SELDOM


class Store(InMemoryVectorStore):
    """Counts its searches."""

    def __init__(self, names: str) -> None:
        super().__init__(DeterministicFakeEmbedding(size=8))
        self.add_documents(facts(names))
        self.searches: list[str] = []

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        self.searches.append(query)
        return super().similarity_search(query, k, **kwargs)


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


def app_over(*searches: Any) -> Any:
    model = Telling()

    def answer(question: str) -> str:
        found = [document for search in searches for document in search(question)]
        return model.invoke("\n".join(each.page_content for each in found) or "nothing").text

    return RunnableLambda(answer)


def test_only_the_given_instances_are_explained_by() -> None:
    mine, other = Counting(documents=facts("bd")), Counting(documents=facts("ac"))
    app = app_over(lambda q: mine.invoke(q), lambda q: other.invoke(q))
    for retrievers in ([mine], [mine.with_config(tags=["bound"])]):
        explanation = RuleExplainer(app, predicate=BAD, retrievers=retrievers).explain("?")
        assert {source.id for source in explanation.sources} == {"b", "d"}
        assert is_the_truth(explanation)
        # The other one is asked in every replay, as if nobody looked.
        assert len(other.live) == explanation.counts.replays
        other.live.clear()
    with pytest.raises(NoSourcesCaptured):
        RuleExplainer(app, retrievers=[Counting(documents=[])]).explain("?")


def test_a_given_store_is_found_below_a_retriever_that_was_not_given() -> None:
    store = Store("abcd")
    retriever = store.as_retriever(search_kwargs={"k": 4})
    explainer = RuleExplainer(app_over(lambda q: retriever.invoke(q)), predicate=BAD, retrievers=[store])
    assert is_the_truth(explainer.explain("?"))
    assert store.searches == ["?"]


@pytest.mark.waits
@pytest.mark.parametrize("awaiting", SELDOM)
def test_ordinary_searches_of_twenty_threads_find_everything_meanwhile(awaiting: bool) -> None:
    store, ended = Store("abcd"), threading.Event()

    def traffic(_: int) -> set[int]:
        sizes: set[int] = set()
        while not (ended.is_set() and sizes):
            sizes.add(len(store.similarity_search("traffic")))
            sizes.add(len(asyncio.run(store.asimilarity_search("traffic"))))
        return sizes

    explainer = RuleExplainer(app_over(lambda q: store.similarity_search(q)), predicate=BAD)
    with ThreadPoolExecutor(20) as threads:
        seen = [threads.submit(traffic, number) for number in range(20)]
        try:
            explanation = asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
        finally:
            ended.set()
        assert all(each.result(120) == {4} for each in seen)
    assert is_the_truth(explanation)
    assert store.searches.count("?") == 1


def test_a_store_class_that_is_first_imported_by_the_baseline_is_intercepted_at_once() -> None:
    searches: list[str] = []

    def search(query: str) -> list[Document]:
        class Lazy(Store):
            def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
                searches.append(query)
                return facts("abcd")

        return Lazy("abcd").similarity_search(query)

    assert is_the_truth(RuleExplainer(app_over(search), predicate=BAD).explain("?"))
    assert searches == ["?"]
    assert "__init_subclass__" not in vars(VectorStore)


def test_a_store_class_that_is_imported_in_the_middle_is_intercepted() -> None:
    made: list[Any] = []
    first = Store("abcd")

    def search(query: str) -> list[Document]:
        if not made:

            class Late(Store):
                def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
                    self.searches.append(query)
                    return facts("abcd")

            made.append(Late("abcd"))
            return first.similarity_search(query)
        return made[0].similarity_search(query)

    explanation = RuleExplainer(app_over(search), predicate=BAD).explain("?")
    assert is_the_truth(explanation)
    assert made[0].searches == ["?"]  # one real search shows that it finds the same


def test_every_search_of_a_store_is_intercepted_and_whole_again_afterwards() -> None:
    before = {owner: dict(vars(owner)) for owner in (VectorStore, InMemoryVectorStore, BaseRetriever)}
    store = Store("abcd")
    searches: list[Any] = [
        lambda q: store.search(q, "similarity"),
        lambda q: [document for document, _ in store.similarity_search_with_score(q)],
        lambda q: store.max_marginal_relevance_search(q),
        lambda q: store.similarity_search_by_vector([0.5] * 8),
        lambda q: store.as_retriever().invoke(q),
    ]
    for search in searches:
        asked: list[str] = []

        def counted(query: str, search: Any = search, asked: list[str] = asked) -> Any:
            asked.append(query)
            return search(query)

        explanation = RuleExplainer(app_over(counted), predicate=BAD).explain("?")
        assert is_the_truth(explanation)
        assert len(asked) == explanation.counts.replays
    assert {owner: dict(vars(owner)) for owner in before} == before


def test_scores_are_served_as_they_were() -> None:
    store = Store("abcd")

    def answer(question: str) -> str:
        found = store.similarity_search_with_score(question)
        assert all(isinstance(score, float) for _, score in found)
        return "bad" if {document.id for document, _ in found} >= {"b", "d"} else "good"

    scores = {document.id: score for document, score in store.similarity_search_with_score("?")}

    def scored(question: str) -> str:
        return str({d.id: score for d, score in store.similarity_search_with_score(question)})

    assert is_the_truth(RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("?"))
    explanation = RuleExplainer(RunnableLambda(scored), miner="exhaustive").explain("?")
    for probe in explanation.probes:
        assert eval(probe.answers[0].text) == {name: scores[name] for name in probe.kept}  # noqa: S307 -- ours


def test_a_query_that_was_never_asked_can_be_an_error() -> None:
    retriever = Counting(documents=facts("abcd"))

    def app(question: str) -> str:
        found = retriever.invoke(question)
        # An application that swallows what goes wrong in its retrieval.
        try:
            found += retriever.invoke("again") if len(found) < 4 else []
        except Exception:
            return "good"
        return "bad" if len(found) == 4 else "good"

    with pytest.raises(UnknownQuery, match="'again', which the baseline never asked"):
        RuleExplainer(app, predicate=BAD, on_new_query="error").explain("?")
    kept = RuleExplainer(app, predicate=BAD).explain("?")
    assert any("served everything kept" in note for note in kept.notes)
    filtered = RuleExplainer(app, predicate=BAD, on_new_query="filter").explain("?")
    assert any("made live" in note for note in filtered.notes)
    assert "again" in retriever.live


def test_replays_can_be_kept_out_of_traces() -> None:
    traced, untraced = Watching(), Watching()
    retriever = Counting(documents=facts("abcd"))
    enabled: set[bool | None] = set()

    def answer(question: str) -> str:
        enabled.add(run_helpers.get_tracing_context()["enabled"])
        found = retriever.invoke(question)
        return Telling().invoke("about: " + "".join(each.page_content for each in found)).text

    app = RunnableLambda(answer)
    RuleExplainer(app, predicate=BAD).invoke("?", {"callbacks": [traced]})
    assert sum(told["name"] == "rag_rule_replay" for told in traced.chains) > 5
    enabled.clear()
    RuleExplainer(app, predicate=BAD, trace_replays=False).invoke("?", {"callbacks": [untraced]})
    assert [told["name"] for told in untraced.chains] == ["rag_rule_explanation", "answer"]
    assert len(untraced.found) == 1
    assert False in enabled


SHORT = {
    "a": "the alpha particle is here",
    "b": "the beta particle is here",
    "c": "the gamma ray is here",
}


def glued(retriever: Any, model: Telling) -> Any:
    def answer(question: str) -> str:
        found = retriever.invoke(question)
        return model.invoke(" ".join(each.page_content for each in found) + question).text

    return answer


def test_a_text_that_runs_into_the_question_was_shown() -> None:
    def says(messages: Any) -> str:
        text = messages[-1].text
        return "bad news" if SHORT["a"] in text and SHORT["c"] in text else "good news"

    found = [Document(id=name, page_content=text) for name, text in SHORT.items()]
    explanation = RuleExplainer(
        glued(Counting(documents=found), Telling(says=says)), predicate=BAD
    ).explain("what is it?")
    assert ids(explanation) == ["a", "b", "c"]
    assert [rule.sources for rule in explanation.retention_rules] == [("a", "c")]


def test_one_that_was_left_out_and_runs_into_the_question_is_a_leak() -> None:
    def says(messages: Any) -> str:
        return "bad news"

    found = [Document(id=name, page_content=text) for name, text in SHORT.items()]
    retriever, model = Counting(documents=found), Telling(says=says)

    def answer(question: str) -> str:
        shown = " ".join(each.page_content for each in retriever.invoke(question) if each.id != "c")
        return model.invoke(f"{shown} {SHORT['c']}{question}").text

    with pytest.raises(SourceLeak, match="the text of c was left out"):
        RuleExplainer(answer, predicate=BAD).explain("what is it?")


class FirstTwo(BaseDocumentCompressor):
    """Keeps two documents, as a reranker would."""

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return list(documents)[:2]


def first_two_of(base: Any) -> ContextualCompressionRetriever:
    return ContextualCompressionRetriever(base_retriever=base, base_compressor=FirstTwo())


WRAPPED: dict[str, Callable[[Any], Any]] = {
    "itself": lambda retriever: retriever,
    "bound": lambda retriever: retriever.with_config(tags=["bound"]),
    "in an ensemble": lambda retriever: EnsembleRetriever(retrievers=[retriever], weights=[1.0]),
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
def test_documents_that_a_compressor_drops_were_retrieved_all_the_same(wrap: Any) -> None:
    base = Counting(documents=facts("bad"))
    retriever = wrap(first_two_of(base.with_config(tags=["base"])))
    app = app_over(lambda query: retriever.invoke(query))
    explanation = RuleExplainer(app, predicate=~BAD, scope="retrieved").explain("?")
    assert ids(explanation) == ["b", "a", "d"]
    # The compressor works in every replay: where a is omitted, d takes its place, and the answer is bad.
    assert (retention(explanation), omission(explanation)) == (sets("a"), sets())
    assert len(base.live) == 1
    assert ids(RuleExplainer(app, predicate=~BAD).explain("?")) == ["b", "a"]


def test_a_compressing_retriever_that_was_given_is_explained_by_what_it_returns() -> None:
    retriever = first_two_of(Counting(documents=facts("abd")))
    app = app_over(lambda query: retriever.invoke(query))
    explainer = RuleExplainer(app, predicate=BAD, scope="retrieved", retrievers=[retriever])
    assert ids(explainer.explain("?")) == ["a", "b"]


def test_what_a_compressor_drops_is_unknown_where_no_retriever_found_it() -> None:
    retriever = first_two_of(RunnableLambda(lambda _: facts("abd")))
    app = app_over(lambda query: retriever.invoke(query))
    assert ids(RuleExplainer(app, predicate=BAD, scope="retrieved").explain("?")) == ["a", "b"]
