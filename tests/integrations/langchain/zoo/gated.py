"""Searches that ``gate`` makes visible."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import gate
from langgraph.store.memory import InMemoryStore

from tests.integrations.known import TEXTS
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import (
    Built,
    Shape,
    answering,
    asked,
    joined,
    model,
    retriever_of,
)
from tests.integrations.web import Web, snippets


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


class Index:
    """A store of somebody else's."""

    def __init__(self) -> None:
        self.searches = 0

    def similarity_search(self, query: str, k: int = 4) -> list[Document]:
        self.searches += 1
        return facts("abcd")[:k]


def gated_store() -> Built:
    index = Index()
    gated = gate(index)
    return Built(answering(lambda q: gated.similarity_search(q)), "why?", lambda: index.searches)


def gated_memories() -> Built:
    memories, searches = InMemoryStore(), list[str]()
    for name, text in TEXTS.items():
        memories.put(("user", "facts"), name, {"said": text})

    def remembered(query: str) -> list[dict[str, Any]]:
        searches.append(query)
        found = memories.search(("user", "facts"), query=query)
        return [{"id": item.key, "snippet": item.value["said"]} for item in found]

    return Built(reading(gate(remembered)), "why?", lambda: len(searches))


SHAPES = (
    Shape("web search in `gate`", gated_function),
    Shape("async web search in `gate`", gated_coroutine),
    Shape("`gate` called in a thread pool", gated_in_a_thread),
    Shape("`gate` called in `run_in_executor`", gated_in_an_executor),
    Shape("store that is no `VectorStore` in `gate`", gated_store),
    Shape("LangGraph's store of memories in `gate`", gated_memories),
)
