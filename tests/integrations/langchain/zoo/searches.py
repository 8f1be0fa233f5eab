"""Searches without a retriever, pipelines that cut what was found, and what is out of reach."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import gate

from rag_rule_explainer import Explanation, NoSourcesCaptured, ReplayMissedGate, SourceLeak
from tests.integrations.langchain.chains import Scripted
from tests.integrations.langchain.models import TEXTS, Telling, facts
from tests.integrations.langchain.zoo.shapes import (
    Built,
    Shape,
    Store,
    asked,
    joined,
    model,
    retriever_of,
)

THINGS = ("maps", "lamps", "boats", "coins", "seeds", "tiles", "nails", "books", "drums", "kites")
OTHERS = {
    f"o{n}": f"Entry {n} of the archive lists all {thing} that were counted in 19{n:02d} by hand."
    for n, thing in enumerate(THINGS)
}


def others(*numbers: int) -> list[Document]:
    return [Document(id=f"o{n}", page_content=OTHERS[f"o{n}"]) for n in numbers]


def answering(search: Any) -> Any:
    def answer(question: str) -> str:
        return model().invoke(joined(search(question)) or question).text

    return RunnableLambda(answer)


def scored() -> Built:
    store = Store()

    def search(question: str) -> list[Document]:
        return [
            document for document, score in store.similarity_search_with_score(question) if score > -2
        ]

    return Built(answering(search), "why?", lambda: store.searches)


def diverse() -> Built:
    store = Store()
    return Built(
        answering(lambda q: store.max_marginal_relevance_search(q, k=4)), "why?", lambda: store.searches
    )


def awaited() -> Built:
    store = Store()

    async def answer(question: str) -> str:
        found = await store.asimilarity_search(question, k=4)
        return (await model().ainvoke(joined(found) or question)).text

    return Built(RunnableLambda(answer), "why?", lambda: store.searches)


class Web:
    """A search engine of somebody else's."""

    def __init__(self) -> None:
        self.requests = 0

    def hits(self, query: str) -> list[dict[str, Any]]:
        self.requests += 1
        return [{"id": name, "snippet": text, "rank": n} for n, (name, text) in enumerate(TEXTS.items())]

    async def ahits(self, query: str) -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        return self.hits(query)


def snippets(hits: list[dict[str, Any]]) -> str:
    return "\n".join(hit["snippet"] for hit in hits) or "nothing"


def reading(search: Callable[[str], list[dict[str, Any]]]) -> Any:
    def answer(question: str) -> str:
        return model().invoke(snippets(search(question))).text

    return RunnableLambda(answer)


def gated_function() -> Built:
    web = Web()
    search = gate(web.hits)
    return Built(reading(search), "why?", lambda: web.requests)


def gated_coroutine() -> Built:
    web = Web()
    search = gate(web.ahits)

    async def answer(question: str) -> str:
        return (await model().ainvoke(snippets(await search(question)))).text

    return Built(RunnableLambda(answer), "why?", lambda: web.requests)


def gated_in_a_thread() -> Built:
    retriever = retriever_of()

    def search(question: str) -> list[Document]:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(gate(retriever.invoke), question).result()

    return Built(answering(search), "why?", asked(retriever))


def gated_in_an_executor() -> Built:
    retriever = retriever_of()

    async def answer(question: str) -> str:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(None, gate(retriever.invoke), question)
        return (await model().ainvoke(joined(found) or question)).text

    return Built(RunnableLambda(answer), "why?", asked(retriever))


def ungated() -> Built:
    web = Web()
    return Built(reading(web.hits), "why?", lambda: web.requests)


def clinic() -> Built:
    """A model writes keyword queries, each finds ten, and the best five of all are shown."""
    queries: list[str] = []
    best = "obdacd"

    def script(query: str) -> list[Document]:
        queries.append(query)
        if query == "treatment":
            return [*facts("ab"), *others(0, 1, 2, 3, 4, 5, 6, 7)]
        return [*others(2, 3, 4, 5, 6, 8, 9), *facts("bcd")]

    retriever = Scripted(script=script)
    writer = Telling(says=lambda _: "treatment\nside effects")

    def answer(question: str) -> str:
        found = {
            document.id: document
            for query in writer.invoke(f"Keywords for: {question}").text.splitlines()
            for document in retriever.invoke(query)
        }
        ranked = sorted(found.values(), key=lambda document: (str(document.id) not in best, document.id))
        return model().invoke(joined(ranked[:5]) or question).text

    return Built(RunnableLambda(answer), "why?", lambda: len(queries))


def saw_five_of_fourteen(explanation: Explanation) -> None:
    assert (len(explanation.sources), len(explanation.held_out)) == (5, 9)
    assert any(note.startswith("captured 14, the model saw 5") for note in explanation.notes)


def reranked() -> Built:
    queries: list[str] = []

    def script(query: str) -> list[Document]:
        queries.append(query)
        return [*others(0, 1), *facts("bd"), *others(2, 3), *facts("a")]

    retriever = Scripted(script=script)
    order = {"b": 0, "d": 1, "a": 2}

    def answer(question: str) -> str:
        ranked = sorted(retriever.invoke(question), key=lambda document: order.get(str(document.id), 9))
        return model().invoke(joined(ranked[:3]) or question).text

    return Built(RunnableLambda(answer), "why?", lambda: len(queries))


def saw_three_of_seven(explanation: Explanation) -> None:
    assert {source.id for source in explanation.sources} == {"a", "b", "d"}
    assert len(explanation.held_out) == 4
    assert any("captured 7, the model saw 3" in note for note in explanation.notes)


def memoised() -> Built:
    retriever, memory = retriever_of(), list[Document]()

    def search(question: str) -> list[Document]:
        memory[:] = memory or retriever.invoke(question)
        return memory

    return Built(answering(search), "why?", asked(retriever))


def with_a_stray(names: str) -> Built:
    """A second retriever, in a thread that knows nothing of the run."""
    retriever, stray = retriever_of(), Scripted(script=lambda _: facts(names) if names else others(0, 1))

    def search(question: str) -> list[Document]:
        found: list[Document] = []
        thread = threading.Thread(target=lambda: found.extend(stray.invoke(question)))
        thread.start()
        thread.join()
        return [*retriever.invoke(question), *found]

    return Built(answering(search), "why?", asked(retriever))


def no_retrieval() -> Built:
    return Built(answering(lambda _: []), "why?", lambda: 0)


def empty_retrieval() -> Built:
    retriever = retriever_of("")
    return Built(answering(lambda question: retriever.invoke(question)), "why?", asked(retriever))


SHAPES = (
    Shape("vector store: similarity_search_with_score", scored),
    Shape("vector store: max_marginal_relevance_search", diverse),
    Shape("vector store: asimilarity_search", awaited),
    Shape("web search in `gate`", gated_function),
    Shape("async web search in `gate`", gated_coroutine),
    Shape("`gate` called in a thread pool", gated_in_a_thread),
    Shape("`gate` called in `run_in_executor`", gated_in_an_executor),
    Shape("keyword queries, top 10 each, the best 5 kept", clinic, live=2, more=saw_five_of_fourteen),
    Shape("top-n reranker", reranked, more=saw_three_of_seven),
    Shape("second retriever out of reach, with other documents", lambda: with_a_stray("")),
    Shape(
        "second retriever out of reach, with the same documents",
        lambda: with_a_stray("bd"),
        refusal=SourceLeak,
    ),
    Shape("retrieval kept in a variable", memoised, refusal=ReplayMissedGate),
    Shape("web search without `gate`", ungated, refusal=NoSourcesCaptured),
    Shape("no retrieval", no_retrieval, refusal=NoSourcesCaptured),
    Shape("retrieval that finds nothing", empty_retrieval, refusal=NoSourcesCaptured),
)
