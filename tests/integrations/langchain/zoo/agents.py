"""Agents: tools, middleware, and queries that they write themselves."""

from collections.abc import Callable
from itertools import count
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, dynamic_prompt
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import create_retriever_tool, tool

from rag_rule_explainer import Explanation
from rag_rule_explainer.probing.gating import Recording, going_on
from tests.integrations.langchain.chains import Scripted, sets
from tests.integrations.langchain.models import Telling, bad_with_b_and_d, facts
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
            assert probe.error == "a not delivered: the replay did not retrieve it"
    assert any("a not delivered" in each.reason for each in explanation.unresolved)


SHAPES = (
    Shape("agent: `@tool` that searches a vector store", searching_tool),
    Shape("agent: `create_retriever_tool`", retriever_tool),
    Shape("agent: `@dynamic_prompt`", prompted),
    Shape("agent: `before_model`", before_model),
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
