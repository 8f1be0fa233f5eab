"""Agents: tools, middleware, and queries that they write themselves."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, dynamic_prompt
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver

from rag_rule_explainer import Explanation
from rag_rule_explainer.instrumentation.recording.current import going_on
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from tests.integrations.known import sets
from tests.integrations.langchain.chains import Scripted
from tests.integrations.langchain.models import Telling, bad_with_b_and_d, facts, sent_in
from tests.integrations.langchain.zoo.shapes import (
    Built,
    Shape,
    Store,
    asked,
    joined,
    model,
    retriever_of,
)

AT_FIRST = "what the baseline asks"
GIVEN = {"messages": [{"role": "user", "content": "why?"}]}


class Calling(Telling):
    """Calls its one tool with a query of its own, then answers from what it was shown."""

    tool: str
    query: Callable[[], str] = lambda: "why?"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        if not any(isinstance(message, ToolMessage) for message in messages):
            call = {"name": self.tool, "args": {"query": self.query()}, "id": "call"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
        return result

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        said: Any = self._generate(messages, *args, **kwargs).generations[0].message
        calls = [
            {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": place}
            for place, call in enumerate(said.tool_calls)
        ]
        for piece in said.text.split(" ")[:-1]:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{piece} "))
        last: Any = {"content": said.text.split(" ")[-1], "tool_call_chunks": calls}
        yield ChatGenerationChunk(message=AIMessageChunk(**last))


def searching_tool() -> Built:
    store = Store()

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the index."""
        found = store.similarity_search(query, k=4)
        return joined(found), found

    return Built(create_agent(Calling(tool="search"), [search]), GIVEN, lambda: store.searches)


def retriever_tool() -> Built:
    retriever = retriever_of()
    search = create_retriever_tool(retriever, "search", "Search the index.")
    return Built(create_agent(Calling(tool="search"), [search]), GIVEN, asked(retriever))


def prompted() -> Built:
    store = Store()

    @dynamic_prompt
    def with_context(request: Any) -> str:
        return "Answer from:\n" + joined(store.similarity_search("why?", k=4))

    return Built(create_agent(model(), [], middleware=[with_context]), GIVEN, lambda: store.searches)


class Retrieving(AgentMiddleware[Any, Any]):
    """Puts what it finds into the conversation, before the model is asked."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        found = self._store.similarity_search(state["messages"][-1].text, k=4)
        return {"messages": [SystemMessage("Context:\n" + joined(found))]}


def before_model() -> Built:
    store = Store()
    agent = create_agent(model(), [], middleware=[Retrieving(store)])
    return Built(agent, GIVEN, lambda: store.searches)


class Searching(AgentMiddleware[Any, Any]):
    """Shows the model what it finds, which no state keeps."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        found = self._store.similarity_search(request.messages[-1].text, k=4)
        return handler(self._showing(request, found))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        found = await self._store.asimilarity_search(request.messages[-1].text, k=4)
        return await handler(self._showing(request, found))

    def _showing(self, request: Any, found: list[Document]) -> Any:
        context = SystemMessage("Answer from:\n" + joined(found))
        return request.override(messages=[context, *request.messages])


def wrapped() -> Built:
    store = Store()
    agent = create_agent(model(), [], middleware=[Searching(store)])
    return Built(agent, GIVEN, lambda: store.searches)


def plain_tool() -> Built:
    retriever = retriever_of()

    @tool
    async def search(query: str) -> str:
        """Search the index."""
        return joined(await retriever.ainvoke(query))

    return Built(create_agent(Calling(tool="search"), [search]), GIVEN, asked(retriever))


def retriever_as_tool() -> Built:
    retriever = retriever_of()
    search = retriever.as_tool(name="search", description="Search the index.", arg_types={"query": str})
    return Built(create_agent(Calling(tool="search"), [search]), GIVEN, asked(retriever))


class CallingTwice(Calling):
    """Calls its tool with two queries in one message."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        message = result.generations[0].message
        if message.tool_calls:
            calls = [
                {"name": self.tool, "args": {"query": query}, "id": query}
                for query in ("first", "second")
            ]
            result.generations[0].message = AIMessage("", tool_calls=calls)
        return result


def two_calls() -> Built:
    queries: list[str] = []

    def script(query: str) -> list[Document]:
        queries.append(query)
        return facts("ab" if query == "first" else "cd")

    search = create_retriever_tool(Scripted(script=script), "search", "Search the index.")
    return Built(create_agent(CallingTwice(tool="search"), [search]), GIVEN, lambda: len(queries))


def agent_in_a_tool() -> Built:
    retriever = retriever_of()
    search = create_retriever_tool(retriever, "search", "Search the index.")

    def quoting(messages: list[BaseMessage]) -> str:
        return joined(facts(sent_in(messages))) or "I have found nothing."

    expert = create_agent(Calling(tool="search", says=quoting), [search])

    @tool
    def ask_expert(query: str) -> str:
        """Ask somebody who can search the index."""
        return expert.invoke({"messages": [{"role": "user", "content": query}]})["messages"][-1].text

    return Built(create_agent(Calling(tool="ask_expert"), [ask_expert]), GIVEN, asked(retriever))


def on_a_thread() -> Built:
    retriever = retriever_of()
    search = create_retriever_tool(retriever, "search", "Search the index.")
    agent = create_agent(Calling(tool="search"), [search], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    return Built(agent, GIVEN, asked(retriever), config=config)


def rewriting(script: Callable[[str], list[Document]]) -> Built:
    """An agent that asks other words each time it is run."""
    numbers, queries = count(1), list[str]()

    def query() -> str:
        return AT_FIRST if isinstance(going_on(), Recording) else f"attempt {next(numbers)}"

    def found(query: str) -> list[Document]:
        queries.append(query)
        return script(query)

    search = create_retriever_tool(Scripted(script=found), "search", "Search the index.")
    agent = Calling(tool="search", query=query, says=bad_with_b_and_d)
    return Built(create_agent(agent, [search]), GIVEN, lambda: len(queries))


def finding_all(_: str) -> list[Document]:
    return facts("abcd")


def finding_a_once(query: str) -> list[Document]:
    return facts("abcd" if query == AT_FIRST else "bcd")


def was_filtered(explanation: Explanation) -> None:
    assert any("made live" in note for note in explanation.notes)


def a_was_not_delivered(explanation: Explanation) -> None:
    for probe in explanation.probes:
        if "a" in probe.kept and probe.error:
            assert probe.error.startswith(
                "a not delivered: the replay did not retrieve it, as it searched"
            )
    assert any("a not delivered" in each.reason for each in explanation.unresolved)


SHAPES = (
    Shape("agent: `@tool` that searches a vector store", searching_tool),
    Shape("agent: `create_retriever_tool`", retriever_tool),
    Shape("agent: `@dynamic_prompt`", prompted),
    Shape("agent: `before_model`", before_model),
    Shape("agent: `wrap_model_call`", wrapped),
    Shape("agent: async `@tool` that asks a retriever", plain_tool),
    Shape("agent: `retriever.as_tool()`", retriever_as_tool),
    Shape("agent: two calls of a tool at once", two_calls, live=2),
    Shape("agent: an agent in a tool", agent_in_a_tool),
    Shape("agent: checkpointer and thread", on_a_thread),
    Shape(
        "agent: another query in every replay",
        lambda: rewriting(finding_all),
        live=None,
        more=was_filtered,
    ),
    Shape(
        "agent: another query, which misses a document",
        lambda: rewriting(finding_a_once),
        # What does not rest on the document that is no longer found is still known.
        retention=sets("bcd"),
        omission=sets("ab", "ad"),
        complete=False,
        live=None,
        more=a_was_not_delivered,
    ),
)
