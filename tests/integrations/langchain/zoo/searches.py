"""Pipelines that cut what was found, and retrieval that is, or is not, within reach."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import cache

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.config import ContextThreadPoolExecutor

from rag_rule_explainer import Explanation, NoSourcesCaptured, ReplayMissedGate, SourceLeak
from tests.integrations.langchain.chains import Counting, Scripted
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.gated import Web, reading
from tests.integrations.langchain.zoo.shapes import (
    Built,
    Shape,
    answering,
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
    retriever = retriever_of()
    # Nobody else is given this function's memory: it knows nothing of what is going on.
    return Built(answering(cache(retriever.invoke)), "why?", asked(retriever))


def within_a_context(question: str, retriever: Counting) -> list[Document]:
    with ContextThreadPoolExecutor(1) as threads:
        return threads.submit(retriever.invoke, question).result()


def in_langchains_threads() -> Built:
    retriever = retriever_of()
    return Built(answering(lambda q: within_a_context(q, retriever)), "why?", asked(retriever))


def in_a_thread() -> Built:
    retriever = retriever_of()

    async def answer(question: str) -> str:
        found = await asyncio.to_thread(retriever.invoke, question)
        return (await model().ainvoke(joined(found) or question)).text

    return Built(RunnableLambda(answer), "why?", asked(retriever))


def in_a_pool() -> Built:
    retriever = retriever_of()

    def search(question: str) -> list[Document]:
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(retriever.invoke, question).result()

    return Built(answering(search), "why?", asked(retriever))


def in_an_executor() -> Built:
    retriever = retriever_of()

    async def answer(question: str) -> str:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(None, retriever.invoke, question)
        return (await model().ainvoke(joined(found) or question)).text

    return Built(RunnableLambda(answer), "why?", asked(retriever))


def with_a_stray(names: str) -> Built:
    """A second retriever, in a context that knows nothing of the run."""
    retriever, stray = retriever_of(), Scripted(script=lambda _: facts(names) if names else others(0, 1))

    def search(question: str) -> list[Document]:
        return [*retriever.invoke(question), *Context().run(stray.invoke, question)]

    return Built(answering(search), "why?", asked(retriever))


def no_retrieval() -> Built:
    return Built(answering(lambda _: []), "why?", lambda: 0)


def empty_retrieval() -> Built:
    retriever = retriever_of("")
    return Built(answering(lambda question: retriever.invoke(question)), "why?", asked(retriever))


SHAPES = (
    Shape("keyword queries, top 10 each, the best 5 kept", clinic, live=2, more=saw_five_of_fourteen),
    Shape("top-n reranker", reranked, more=saw_three_of_seven),
    Shape("retrieval in LangChain's own threads", in_langchains_threads),
    Shape("retrieval in `asyncio.to_thread`", in_a_thread),
    Shape("retrieval in a thread pool", in_a_pool),
    Shape("retrieval in `run_in_executor`", in_an_executor),
    Shape("second retriever out of reach, with other documents", lambda: with_a_stray("")),
    Shape(
        "second retriever out of reach, with the same documents",
        lambda: with_a_stray("bd"),
        refusal=SourceLeak,
        says="second retriever.*gate",
    ),
    Shape("retrieval in `functools.cache`", memoised, refusal=ReplayMissedGate, says="gate"),
    Shape("web search without `gate`", ungated, refusal=NoSourcesCaptured, says="gate"),
    Shape("no retrieval", no_retrieval, refusal=NoSourcesCaptured, says="gate", live=0),
    Shape(
        "retrieval that finds nothing", empty_retrieval, refusal=NoSourcesCaptured, says="no documents"
    ),
)
