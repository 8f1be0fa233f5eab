"""Agents and other workflows, functions, and functions that make engines."""

from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from pydantic import Field
from typing_extensions import override

from rag_rule_explainer import Explanation
from rag_rule_explainer.instrumentation.recording.remarks import NEW_RETRIEVAL
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, bad_with_b_and_d, nodes
from tests.integrations.llama_index.zoo.chats import PAST, buffered
from tests.integrations.llama_index.zoo.shapes import QUESTION, Built, Shape, asked


def texts_of(found: Any) -> str:
    return "\n\n".join(node.node.get_content() for node in found)


def engine_tool(retriever: Counting) -> Any:
    return QueryEngineTool.from_defaults(engine_of(retriever), name="ask", description="Answers.")


def retriever_tool(retriever: Counting) -> Any:
    return RetrieverTool.from_defaults(retriever, name="search", description="Finds.")


def sync_tool(retriever: Counting) -> Any:
    def search(query: str) -> str:
        """Finds documents."""
        return texts_of(retriever.retrieve(query))

    return FunctionTool.from_defaults(search)


def async_tool(retriever: Counting) -> Any:
    async def search(query: str) -> str:
        """Finds documents."""
        return texts_of(await retriever.aretrieve(query))

    return FunctionTool.from_defaults(search)


def bound_tool(retriever: Counting) -> Any:
    """A bound method, taken off before anybody intercepts anything."""
    return FunctionTool.from_defaults(retriever.retrieve, name="search", description="Finds.")


def agent(tool: Callable[[Counting], Any], **parameters: Any) -> Callable[[], Built]:
    def build() -> Built:
        retriever = retriever_of()
        made = FunctionAgent(tools=[tool(retriever)], llm=Telling(), **parameters)
        return Built(made, asked(retriever))

    return build


def reacting() -> Built:
    retriever = retriever_of()
    act = 'Thought: I need to look.\nAction: search\nAction Input: {"query": "why?"}'

    def says(prompt: str) -> str:
        if "Observation:" not in prompt.rsplit("Current Conversation", 1)[-1]:
            return act
        return f"Thought: I can answer.\nAnswer: {bad_with_b_and_d(prompt)}"

    made = ReActAgent(tools=[sync_tool(retriever)], llm=Telling(says=says))
    return Built(made, asked(retriever))


def handing_over() -> Built:
    retriever = retriever_of()
    front = FunctionAgent(
        name="front",
        description="Answers.",
        tools=[sync_tool(retriever)],
        llm=Telling(),
        can_handoff_to=["back"],
    )
    back = FunctionAgent(name="back", description="Helps.", tools=[], llm=Telling())
    return Built(AgentWorkflow(agents=[front, back], root_agent="front"), asked(retriever))


def with_memory() -> Built:
    retriever, memory = retriever_of(), buffered()
    made = FunctionAgent(tools=[sync_tool(retriever)], llm=Telling())
    given = {"user_msg": QUESTION, "memory": memory}
    return Built(made, asked(retriever), given, memory=lambda: list(memory.get_all()))


def with_context() -> Built:
    retriever = retriever_of()
    made = FunctionAgent(tools=[sync_tool(retriever)], llm=Telling())
    context = Context(made)
    return Built(made, asked(retriever), {"user_msg": QUESTION, "ctx": context}, memory=context.to_dict)


class Found(Event):
    context: str


class RAG(Workflow):
    """As the documentation writes one: a step that retrieves, a step that answers."""

    def __init__(self, retriever: Counting, llm: Telling) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, llm

    @step
    async def retrieve(self, ev: StartEvent) -> Found:
        return Found(context=texts_of(await self.retriever.aretrieve(ev.query)))

    @step
    async def answer(self, ev: Found) -> StopEvent:
        return StopEvent(result=str(await self.llm.acomplete(ev.context)))


class Asking(StartEvent):
    question: str


class Searching(Workflow):
    """Queries a vector store itself, and is started by an event of its own."""

    def __init__(self, store: Any, llm: Telling) -> None:
        super().__init__()
        self.store, self.llm = store, llm

    @step
    async def answer(self, ev: Asking) -> StopEvent:
        query = VectorStoreQuery([0.5] * 8, similarity_top_k=4, query_str=ev.question)
        found = self.store.query(query)
        text = "\n\n".join(node.get_content() for node in found.nodes)
        return StopEvent(result={"answer": str(await self.llm.acomplete(text))})


def workflow() -> Built:
    retriever = retriever_of()
    return Built(RAG(retriever, Telling()), asked(retriever), {"query": QUESTION})


class TextStore(BasePydanticVectorStore):
    """Keeps texts, and finds all it has."""

    stores_text: bool = True
    queries: list[str] = Field(default_factory=list[str])

    @property
    @override
    def client(self) -> Any:
        return None

    @override
    def add(self, nodes: Any, **kwargs: Any) -> list[str]:
        raise NotImplementedError

    @override
    def delete(self, ref_doc_id: str, **kwargs: Any) -> None:
        raise NotImplementedError

    @override
    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        self.queries.append(str(query.query_str))
        found = nodes("abd")
        return VectorStoreQueryResult(
            nodes=found, similarities=[0.5] * 3, ids=[node.node_id for node in found]
        )


def searching() -> Built:
    store = TextStore()
    return Built(Searching(store, Telling()), lambda: len(store.queries))


def function() -> Built:
    retriever, llm = retriever_of(), Telling()
    return Built(lambda q: str(llm.complete(texts_of(retriever.retrieve(q)))), asked(retriever))


def async_function() -> Built:
    retriever, llm = retriever_of(), Telling()

    async def answer(question: str) -> str:
        return str(await llm.acomplete(texts_of(await retriever.aretrieve(question))))

    return Built(answer, asked(retriever))


def made_anew(what: Callable[[Counting], Any]) -> Callable[[], Built]:
    """A function of nothing, which makes everything but the counting retriever anew."""

    def build() -> Built:
        retriever = retriever_of()
        return Built(lambda: what(retriever), asked(retriever))

    return build


def all_anew() -> Built:
    """Even the retriever is another one in every run."""
    made: list[Counting] = []

    def make() -> Any:
        made.append(retriever_of())
        return engine_of(made[-1])

    return Built(make, lambda: asked(*made)())


def chat_engine(retriever: Counting) -> Any:
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(PAST), token_limit=3000)
    return ContextChatEngine.from_defaults(retriever=retriever, llm=Telling(), memory=memory)


def retrieved_by_a_tool(explanation: Explanation) -> None:
    assert not explanation.warnings


def known_though_made_anew(explanation: Explanation) -> None:
    assert NEW_RETRIEVAL not in {a.note for probe in explanation.probes for a in probe.answers}


SHAPES = (
    Shape("FunctionAgent with a QueryEngineTool", agent(engine_tool), more=retrieved_by_a_tool),
    Shape("FunctionAgent with a RetrieverTool", agent(retriever_tool), by="gate"),
    Shape("FunctionAgent with a FunctionTool", agent(sync_tool), by="gate", more=retrieved_by_a_tool),
    Shape("FunctionAgent with an async FunctionTool", agent(async_tool), by="gate"),
    Shape("FunctionAgent with a bound retriever.retrieve", agent(bound_tool), by="gate"),
    Shape("FunctionAgent that does not stream", agent(sync_tool, streaming=False), by="gate"),
    Shape("FunctionAgent with a memory", with_memory, by="gate"),
    Shape("FunctionAgent with a context", with_context, by="gate"),
    Shape("ReActAgent", reacting, by="gate"),
    Shape("AgentWorkflow", handing_over, by="gate"),
    Shape("a Workflow", workflow, by="gate"),
    Shape("a Workflow that queries a vector store", searching, by="gate"),
    Shape("a function", function, by="gate"),
    Shape("an async function", async_function, by="gate"),
    Shape("a function that makes a query engine", made_anew(engine_of)),
    Shape("a function that makes a chat engine", made_anew(chat_engine), by="gate"),
    Shape(
        "a function that makes an agent",
        made_anew(lambda retriever: FunctionAgent(tools=[sync_tool(retriever)], llm=Telling())),
        by="gate",
    ),
    Shape(
        "a function that makes a query engine and its retriever", all_anew, more=known_though_made_anew
    ),
)
