"""gate(): retrievers, stores, tools and functions that interception cannot see."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_core.vectorstores import VectorStore
from langchain_rag_rule_explainer import GatedRetriever, RuleExplainer, gate

from rag_rule_explainer import Explanation, InvalidInput, NoSourcesCaptured
from tests.integrations.known import BAD, TEXTS, omission, retention, sets
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import Store, joined, model, retriever_of


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


def app_over(search: Callable[[str], str]) -> Any:
    return RunnableLambda(lambda question: model().invoke(search(str(question)) or "nothing").text)


def explained(search: Callable[[str], str], **parameters: Any) -> Explanation:
    return RuleExplainer(app_over(search), predicate=BAD, **parameters).explain("?")


@dataclass
class Hit:
    """What a client of somebody else's returns."""

    text: str


@dataclass
class Odd:
    """What nobody can read without being told how."""

    payload: bytes


ITEMS: dict[str, Callable[[str], Any]] = {
    "documents": lambda name: facts(name)[0],
    "pairs": lambda name: (facts(name)[0], 0.5),
    "strings": lambda name: TEXTS[name],
    "dicts": lambda name: {"id": name, "snippet": TEXTS[name], "score": 0.1},
    "objects": lambda name: Hit(TEXTS[name]),
}


def text_of(item: Any) -> str:
    if isinstance(item, tuple):
        return text_of(item[0])
    if isinstance(item, Document):
        return item.page_content
    if isinstance(item, Odd):
        return item.payload.decode()
    return item["snippet"] if isinstance(item, dict) else getattr(item, "text", item)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("kind", ITEMS)
def test_a_function_may_return_items_of_many_kinds_and_gets_them_back_as_they_were(kind: str) -> None:
    live: list[str] = []

    def search(query: str) -> list[Any]:
        live.append(query)
        return [ITEMS[kind](name) for name in "abcd"]

    gated = gate(search)
    assert gated("outside") == search("outside")
    live.clear()

    def shown(query: str) -> str:
        found = gated(query)
        assert all(type(item) is type(ITEMS[kind]("a")) for item in found)
        assert all(item in [ITEMS[kind](name) for name in "abcd"] for item in found)
        return "\n".join(map(text_of, found))

    explanation = explained(shown)
    assert len(explanation.sources) == 4
    by_text = {source.text: source.id for source in explanation.sources}
    pair = sets([by_text[TEXTS["b"]], by_text[TEXTS["d"]]])
    assert retention(explanation) == pair
    assert live == ["?"]


def test_items_of_an_unknown_kind_name_text_of_and_are_read_with_it() -> None:
    def search(query: str) -> list[Odd]:
        return [Odd(TEXTS[name].encode()) for name in "abcd"]

    with pytest.raises(Exception, match="text_of") as caught:
        explained(lambda query: "\n".join(map(text_of, gate(search)(query))))
    assert isinstance(caught.value, InvalidInput)
    gated = gate(search, text_of=text_of)
    explanation = explained(lambda query: "\n".join(map(text_of, gated(query))))
    assert len(retention(explanation)) == 1
    assert len(omission(explanation)) == 2


def test_one_string_is_one_source() -> None:
    everything = " ".join(TEXTS.values())
    gated = gate(lambda query: everything)
    explanation = explained(gated)
    assert len(explanation.sources) == 1
    assert len(explanation.probes) == 2
    assert {probe.answers[0].text for probe in explanation.probes} == {"bad news", "good news"}


def test_documents_that_are_brought_are_made_into_items() -> None:
    live: list[str] = []

    def search(query: str) -> list[str]:
        live.append(query)
        return ["never"]

    gated = gate(search, item_of=lambda document: document.page_content)
    app = app_over(lambda query: "\n".join(gated(query)))
    explanation = RuleExplainer(app, predicate=BAD).explain("?", documents=facts("abcd"))
    assert is_the_truth(explanation)
    assert live == []


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_coroutine_function(awaiting: bool) -> None:
    live: list[str] = []

    async def search(query: str) -> list[Document]:
        live.append(query)
        await asyncio.sleep(0)
        return facts("abcd")

    gated = gate(search)

    async def answer(question: str) -> str:
        return (await model().ainvoke(joined(await gated(question)) or "nothing")).text

    explainer = RuleExplainer(answer, predicate=BAD)
    assert is_the_truth(asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?"))
    assert live[-1:] == ["?"]
    assert asyncio.run(gated("outside")) == facts("abcd")


def test_a_retriever_and_any_other_runnable() -> None:
    retriever = retriever_of()
    for search in (retriever, RunnableLambda(lambda q: retriever.documents)):
        gated = gate(search)
        assert isinstance(gated, GatedRetriever)
        assert gate(gated) is gated
        assert gated.invoke("outside") == facts("abcd")
        assert asyncio.run(gated.ainvoke("outside")) == facts("abcd")
        assert is_the_truth(explained(lambda q, gated=gated: joined(gated.invoke(q))))


def test_a_vector_store_stays_one() -> None:
    store = Store()
    gated = gate(store)
    assert isinstance(gated, VectorStore)
    assert gated.embeddings is store.embeddings
    assert len(gated.similarity_search("outside", k=4)) == 4
    assert store.searches == 1
    retriever = gated.as_retriever(search_kwargs={"k": 4})
    for search in (retriever.invoke, lambda q: gated.similarity_search(q, k=4)):
        assert is_the_truth(explained(lambda q, search=search: joined(search(q))))
    assert store.searches == 3
    gated.delete(["a"])
    assert len(store.similarity_search("outside", k=4)) == 3


class Index:
    """A store that is none of LangChain's."""

    def __init__(self) -> None:
        self.size = 4
        self.searches = 0

    def hybrid_search(self, query: str, top: int) -> list[dict[str, str]]:
        self.searches += 1
        return [{"id": name, "text": TEXTS[name]} for name in "abcd"[:top]]

    async def asearch(self, query: str) -> list[dict[str, str]]:
        return self.hybrid_search(query, 4)


def test_a_store_of_somebody_elses() -> None:
    index = Index()
    gated = gate(index)
    assert gated.size == 4

    def shown(query: str) -> str:
        return "\n".join(hit["text"] for hit in gated.hybrid_search(query, top=4))

    assert is_the_truth(explained(shown))
    assert index.searches == 1

    async def answer(question: str) -> str:
        found = "\n".join(hit["text"] for hit in await gated.asearch(question))
        return model().invoke(found or "nothing").text

    assert is_the_truth(asyncio.run(RuleExplainer(answer, predicate=BAD).aexplain("?")))
    assert index.searches == 2


def test_a_tool() -> None:
    live: list[str] = []

    def search(query: str) -> list[str]:
        """Search the archive."""
        live.append(query)
        return [TEXTS[name] for name in "abcd"]

    async def asearch(query: str) -> list[str]:
        return search(query)

    tool = gate(StructuredTool.from_function(search, asearch, name="search"))
    assert (tool.name, tool.description) == ("search", "Search the archive.")
    explanation = explained(lambda q: "\n".join(tool.invoke({"query": q})))
    assert len(retention(explanation)) == 1

    async def answer(question: str) -> str:
        return model().invoke("\n".join(await tool.ainvoke({"query": question})) or "nothing").text

    assert len(retention(asyncio.run(RuleExplainer(answer, predicate=BAD).aexplain("?")))) == 1
    assert live == ["?", "?"]


@pytest.mark.waits
def test_a_thread_that_knows_nothing_of_the_run() -> None:
    retriever = retriever_of()
    at_build_time = gate(retriever)

    def in_a_thread(search: Callable[[str], list[Document]], query: str) -> str:
        found: list[Document] = []
        thread = threading.Thread(target=Context().run, args=(lambda: found.extend(search(query)),))
        thread.start()
        thread.join()
        return joined(found)

    # Made inside the run, it belongs to that run; made before, it cannot know which one is meant.
    assert is_the_truth(explained(lambda q: in_a_thread(gate(retriever).invoke, q)))
    assert is_the_truth(explained(lambda q: in_a_thread(gate(retriever.invoke), q)))
    assert retriever.live == ["?", "?"]
    with pytest.raises(NoSourcesCaptured, match=r"gate\(...\) where it is called"):
        explained(lambda q: in_a_thread(at_build_time.invoke, q))


def test_a_gate_that_outlives_its_run_is_the_search_itself() -> None:
    retriever, made = retriever_of(), list[Any]()

    def search(query: str) -> str:
        made.append(gate(retriever))
        return joined(made[-1].invoke(query))

    assert is_the_truth(explained(search))
    assert all(len(each.invoke("afterwards")) == 4 for each in made)


def test_the_gate_may_be_the_only_one_that_is_explained_by() -> None:
    retriever = retriever_of("ac")
    search = gate(lambda query: facts("bd"))
    app = app_over(lambda q: joined([*retriever.invoke(q), *search(q)]))
    explanation = RuleExplainer(app, predicate=BAD, retrievers=[search]).explain("?")
    assert {source.id for source in explanation.sources} == {"b", "d"}
    assert is_the_truth(explanation)


@pytest.mark.parametrize("thing", [7, "a string", None])
def test_what_is_no_search_is_refused(thing: object) -> None:
    with pytest.raises(InvalidInput, match="cannot be gated"):
        gate(thing)
