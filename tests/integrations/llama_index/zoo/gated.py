"""Searches that ``gate`` makes visible, and what is refused without it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index_rag_rule_explainer import gate

from rag_rule_explainer import Explanation, ReplayMissedGate, SourceLeak
from tests.integrations.known import ids
from tests.integrations.llama_index.engines import Counting, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import TextStore, texts_of
from tests.integrations.llama_index.zoo.shapes import Built, Shape, asked
from tests.integrations.web import Web, snippets


def reading(search: Callable[[str], str]) -> Callable[[str], str]:
    """A function that answers from what a search finds."""
    llm = Telling()
    return lambda question: str(llm.complete(search(question)))


def gated_function() -> Built:
    web = Web()
    search = gate(web.hits)
    return Built(reading(lambda q: snippets(search(q))), lambda: web.requests)


def gated_coroutine() -> Built:
    web, llm = Web(), Telling()
    search = gate(web.ahits)

    async def answer(question: str) -> str:
        return str(await llm.acomplete(snippets(await search(question))))

    return Built(answer, lambda: web.requests)


def in_a_thread(search: Callable[[Any], Any], question: Any) -> Any:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(search, question).result()


def gated_in_a_thread() -> Built:
    retriever = retriever_of()
    answer = reading(lambda q: texts_of(in_a_thread(gate(retriever.retrieve), q)))
    return Built(answer, asked(retriever))


def gated_retriever_in_a_thread() -> Built:
    retriever = retriever_of()
    answer = reading(lambda q: texts_of(in_a_thread(gate(retriever).retrieve, q)))
    return Built(answer, asked(retriever))


def gated_tool() -> Built:
    web = Web()

    def search(query: str) -> list[dict[str, Any]]:
        """Finds documents."""
        return web.hits(query)

    tool = gate(FunctionTool.from_defaults(search))
    return Built(FunctionAgent(tools=[tool], llm=Telling()), lambda: web.requests)


def gated_store() -> Built:
    """A bound query of a vector store, in a thread of its own."""
    store = TextStore()

    def search(question: str) -> str:
        found = in_a_thread(gate(store.query), VectorStoreQuery(query_str=question))
        return "\n\n".join(node.get_content() for node in found.nodes) or "nothing"

    return Built(reading(search), lambda: len(store.queries))


def in_a_pool() -> Built:
    retriever = retriever_of()
    answer = reading(lambda q: texts_of(in_a_thread(retriever.retrieve, q)))
    return Built(answer, asked(retriever))


def partly_out_of_reach() -> Built:
    """One retriever is seen; another finds the same in a context that knows nothing of the run."""
    seen, unseen = retriever_of("abd"), retriever_of("d")

    def search(question: str) -> str:
        found = texts_of(seen.retrieve(question))
        return f"{found}\n\n{texts_of(Context().run(unseen.retrieve, question))}"

    return Built(reading(search), lambda: len(seen.live))


def remembering() -> Built:
    """An application with a cache of its own retrieves once, and never again."""
    retriever, cache = retriever_of(), dict[str, str]()

    def search(question: str) -> str:
        if question not in cache:
            cache[question] = texts_of(retriever.retrieve(question))
        return cache[question]

    return Built(reading(search), asked(retriever))


def only_one(retriever: Counting, other: Counting) -> Built:
    answer = reading(lambda q: texts_of([*retriever.retrieve(q), *other.retrieve(q)]))
    return Built(answer, asked(retriever), parameters={"retrievers": [retriever]})


def is_about(explanation: Explanation, names: str) -> None:
    assert ids(explanation) == list(names)


SHAPES = (
    Shape("web search in `gate`", gated_function, by="gate"),
    Shape("async web search in `gate`", gated_coroutine, by="gate"),
    Shape("`gate(retriever.retrieve)` in a thread pool", gated_in_a_thread, by="gate"),
    Shape("`gate(retriever)` in a thread pool", gated_retriever_in_a_thread, by="gate"),
    Shape("`gate(store.query)` in a thread pool", gated_store, by="gate"),
    Shape("a FunctionTool in `gate`", gated_tool, by="gate"),
    Shape(
        "one of two retrievers, by `retrievers=`",
        lambda: only_one(retriever_of("abd"), retriever_of("c")),
        by="gate",
        more=lambda explanation: is_about(explanation, "abd"),
    ),
    Shape("a retriever in a thread pool", in_a_pool, by="gate"),
    Shape(
        "a second retriever out of reach, without `gate`",
        partly_out_of_reach,
        refusal=SourceLeak,
        says="left out of a replay and reached the model",
    ),
    Shape(
        "an application that remembers what it retrieved",
        remembering,
        refusal=ReplayMissedGate,
        says="without a retrieval",
    ),
)
