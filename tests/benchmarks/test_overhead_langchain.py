"""What explaining a LangChain chain costs beside the replays themselves, as ratios measured in one run.

The same 256 replays of the same chain, once through ``abatch`` and once through the explainer, in turns;
and the same explained chain, once through ``invoke`` and once through ``ainvoke``.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer, explained

from tests.benchmarks.ratios import show
from tests.clock import waited
from tests.integrations.known import BAD
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.shapes import joined

pytestmark = pytest.mark.benchmark
SOURCES = 8
CONCURRENCY = 8
WORDS = ["amber", "basalt", "copper", "dune", "ember", "flint", "granite", "heather", "iron", "jasper"]
DOCUMENTS = [
    Document(id=f"d{n}", page_content=" ".join(f"{word}{n}" for word in WORDS)) for n in range(SOURCES)
]
SUBSETS = [
    " ".join(f"d{n}" for n in range(SOURCES) if mask >> n & 1) or "none" for mask in range(1 << SOURCES)
]


class Subsets(BaseRetriever):
    """Finds everything, or just the documents that the query names."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [each for each in DOCUMENTS if query == "?" or each.id in query.split()]


class AsyncSubsets(Subsets):
    """Needs no thread."""

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self._get_relevant_documents(query, run_manager=run_manager)


async def joined_later(documents: list[Document]) -> str:
    return joined(documents)


class Slow(Telling):
    """Takes its time."""

    latency: float = 0.0

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        if self.latency:
            await asyncio.sleep(self.latency)
        return self._generate(messages)


def says(messages: Any) -> str:
    sent = messages[-1].text
    return "bad" if all(DOCUMENTS[n].page_content in sent for n in (1, 3)) else "good"


def chain_over(model: Telling) -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    context = Subsets() | joined
    return {"context": context, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def function_over(model: Telling) -> Runnable[Any, Any]:
    """A plain function, for which LangChain takes a thread under ``ainvoke``."""
    retriever = Subsets()

    def answer(question: str) -> str:
        return model.invoke(f"{joined(retriever.invoke(question))}\n\n{question}").text

    return RunnableLambda(answer)


def chain(latency: float) -> Runnable[Any, Any]:
    return chain_over(Slow(says=says, latency=latency))


FREE: dict[str, Callable[[], Runnable[Any, Any]]] = {
    "a model with an async entry": lambda: chain(0.0),
    "a model without one": lambda: chain_over(Telling(says=says)),
    "a plain function": lambda: function_over(Telling(says=says)),
}


def compared(latency: float, clock: Callable[[], float], rounds: int) -> tuple[list[float], list[float]]:
    application = chain(latency)
    explainer = RuleExplainer(
        application, predicate=BAD, miner="exhaustive", concurrency=CONCURRENCY, check_repeatable=False
    )

    async def batched() -> None:
        await application.abatch(SUBSETS, {"max_concurrency": CONCURRENCY})

    async def explained() -> None:
        explanation = await explainer.aexplain("?")
        assert explanation.counts.probes == 1 << SOURCES
        assert explanation.counts.replays == 1 << SOURCES

    def timed(run: Callable[[], Awaitable[None]]) -> float:
        async def running() -> float:
            started = clock()
            await run()
            return clock() - started

        return asyncio.run(running())

    for warming_up in (batched, explained):
        timed(warming_up)
    pairs = [(timed(batched), timed(explained)) for _ in range(rounds)]
    return [ours for _, ours in pairs], [theirs for theirs, _ in pairs]


# With a free model all is computing. On a busy machine eight threads are given more of it than one loop,
# so what was computed is told beside what it took.
CLOCKS = {"wall time": time.perf_counter, "CPU time": time.process_time}


@pytest.mark.parametrize("name", FREE)
def test_async_against_sync(name: str) -> None:
    application = explained(
        FREE[name](), predicate=BAD, miner="exhaustive", concurrency=CONCURRENCY, check_repeatable=False
    )

    def now() -> list[float]:
        return [clock() for clock in CLOCKS.values()]

    def taken(answer: Any, started: list[float]) -> list[float]:
        took = [after - before for after, before in zip(now(), started, strict=True)]
        assert answer.rag_rules["counts"]["replays"] == 1 << SOURCES
        return took

    def sync() -> list[float]:
        started = now()
        return taken(application.invoke("?"), started)

    async def awaited() -> list[float]:
        started = now()
        return taken(await application.ainvoke("?"), started)

    for _ in range(2):
        sync()
        asyncio.run(awaited())
    pairs = [(asyncio.run(awaited()), sync()) for _ in range(9)]
    for place, clock in enumerate(CLOCKS):
        show(
            f"ainvoke, 8 in flight, free, {name}: {clock}",
            "invoke",
            [ours[place] for ours, _ in pairs],
            [theirs[place] for _, theirs in pairs],
            bar=1.3,
        )


def test_wall_time_with_latency() -> None:
    show(
        "256 replays of 50 ms, 8 at a time: wall time",
        "abatch",
        *compared(0.05, time.perf_counter, 5),
        bar=1.15,
    )


def test_waiting_alone() -> None:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    context = AsyncSubsets() | RunnableLambda(joined, afunc=joined_later)
    model = Slow(says=says, latency=0.05)
    application = {"context": context, "question": RunnablePassthrough()} | prompt | model
    explainer = RuleExplainer(
        application, predicate=BAD, miner="exhaustive", concurrency=CONCURRENCY, check_repeatable=False
    )
    ours = waited(lambda: explainer.aexplain("?"))
    theirs = waited(lambda: application.abatch(SUBSETS, {"max_concurrency": CONCURRENCY}))
    show("256 replays of 50 ms, 8 at a time: waiting alone", "abatch", [ours], [theirs], bar=1.15)


def test_cpu_time_without_latency() -> None:
    show("256 replays without latency: CPU time", "abatch", *compared(0.0, time.process_time, 9), bar=1.5)
