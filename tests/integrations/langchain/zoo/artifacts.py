"""Agents whose tools bring documents beside their text, and what is done with these."""

from importlib import import_module
from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain.tools import InjectedState, InjectedToolCallId
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import trim_messages
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.agents import Calling
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made

MESSAGES = {"messages": [("user", QUESTION)]}


def of_langgraph(name: str) -> Any:
    """What LangGraph ships to build agents of. Some releases warn of it when it is imported."""
    return getattr(import_module("langgraph.prebuilt"), name)


class Papers(AgentState[Any], total=False):
    documents: list[Document]


def search_of(names: str) -> Any:
    retriever = retriever_of(names)

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the index."""
        found = retriever.invoke(query)
        return "\n\n".join(
            f"Source: {each.metadata}\nContent: {each.page_content}" for each in found
        ), found

    return search


def written_from_artifacts(names: str) -> Made:
    """The tool's text is a count; who answers is shown the documents that came beside it."""
    retriever, llm = retriever_of(names), Telling()

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the index."""
        found = retriever.invoke(query)
        return f"Found {len(found)} documents.", found

    def respond(state: MessagesState) -> Any:
        return {"messages": [Calling(tool="search").bind_tools([search]).invoke(state["messages"])]}

    def generate(state: MessagesState) -> Any:
        brought = [each.artifact for each in state["messages"] if isinstance(each, ToolMessage)]
        context = "\n\n".join(joined(documents) for documents in brought)
        asked = [each for each in state["messages"] if isinstance(each, HumanMessage)]
        return {"messages": [llm.invoke([SystemMessage(f"Use only this: {context}"), *asked])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("respond", respond)
    graph.add_node("tools", of_langgraph("ToolNode")([search]))
    graph.add_node("generate", generate)
    graph.add_edge(START, "respond")
    graph.add_conditional_edges("respond", of_langgraph("tools_condition"), {END: END, "tools": "tools"})
    graph.add_edge("tools", "generate")
    graph.add_edge("generate", END)
    return Made(graph.compile(), MESSAGES)


def put_into_the_state(names: str) -> Made:
    """A tool that writes its documents into the state, and one that reads them from there."""
    retriever = retriever_of(names)

    @tool
    def search(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Search the index."""
        found = retriever.invoke(query)
        told = ToolMessage(f"Found {len(found)} documents.", tool_call_id=tool_call_id)
        return Command(update={"documents": found, "messages": [told]})

    @tool
    def read(state: Annotated[Papers, InjectedState]) -> str:
        """Read what was found."""
        return joined(state.get("documents", [])) or "nothing"

    class Reading(Calling):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            result = super()._generate(messages, *args, **kwargs)
            if sum(isinstance(each, ToolMessage) for each in messages) == 1:
                call: Any = {"name": "read", "args": {}, "id": "read"}
                result.generations[0].message = AIMessage("", tool_calls=[call])
            return result

    return Made(create_agent(Reading(tool="search"), [search, read], state_schema=Papers), MESSAGES)


def prebuilt(names: str) -> Made:
    """LangGraph's own agent, which trims what it shows its model."""

    def trimmed(state: Any) -> Any:
        kept = trim_messages(
            state["messages"], strategy="last", token_counter=len, max_tokens=20, start_on="human"
        )
        return {"llm_input_messages": kept}

    agent = of_langgraph("create_react_agent")(
        Calling(tool="search"), [search_of(names)], prompt="Use the tool.", pre_model_hook=trimmed
    )
    return Made(agent, MESSAGES)


class Verdict(BaseModel):
    verdict: str
    sure: bool


class Structured(Calling):
    """Says what it has to say by calling the tool of a schema, as models do."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        message = result.generations[0].message
        if not getattr(message, "tool_calls", None):
            given = {"verdict": message.text, "sure": True}
            call: Any = {"name": "Verdict", "args": given, "id": "verdict"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
        return result


def structured(names: str) -> Made:
    return Made(
        create_agent(Structured(tool="search"), [search_of(names)], response_format=Verdict), MESSAGES
    )


def supervised(names: str) -> Made:
    """A supervisor hands over to a researcher, then to a writer, who sees what was found."""
    researcher = create_agent(Calling(tool="search"), [search_of(names)], name="researcher")
    plan = Telling(
        says=lambda messages: "writer" if any(m.name == "researcher" for m in messages) else "researcher"
    )
    writer = Telling()

    def supervise(state: MessagesState) -> Any:
        return Command(goto=plan.invoke(state["messages"]).text)

    def research(state: MessagesState) -> Any:
        done = researcher.invoke({"messages": [*state["messages"]]})
        found = [each for each in done["messages"] if isinstance(each, ToolMessage)]
        told = HumanMessage(found[-1].text or "nothing", name="researcher")
        return Command(update={"messages": [told]}, goto="supervisor")

    def write(state: MessagesState) -> Any:
        return {"messages": [writer.invoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("supervisor", supervise, destinations=("researcher", "writer"))
    graph.add_node("researcher", research, destinations=("supervisor",))
    graph.add_node("writer", write)
    graph.add_edge(START, "supervisor")
    graph.add_edge("writer", END)
    return Made(graph.compile(), MESSAGES)


def handed_over(names: str) -> Made:
    """A swarm: the first agent's tool goes to another node of the parent graph."""

    @tool
    def transfer(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Hand over to the librarian."""
        told = ToolMessage("Transferred.", tool_call_id=tool_call_id)
        return Command(goto="librarian", update={"messages": [told]}, graph=Command.PARENT)

    class Second(Calling):
        """Heeds only what it has called itself."""

        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            own = [each for each in messages if getattr(each, "tool_call_id", "") != "front"]
            return super()._generate(own, *args, **kwargs)

    class First(Calling):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            result = super()._generate(messages, *args, **kwargs)
            call: Any = {"name": "transfer", "args": {"query": "why?"}, "id": "front"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
            return result

    front = create_agent(First(tool="transfer"), [transfer], name="front")
    librarian = create_agent(Second(tool="search"), [search_of(names)], name="librarian")
    graph: Any = StateGraph(MessagesState)
    graph.add_node("front", front, destinations=("librarian",))
    graph.add_node("librarian", librarian)
    graph.add_edge(START, "front")
    graph.add_edge("librarian", END)
    return Made(graph.compile(), MESSAGES)


SHAPES = (
    Public("artifacts: the answer is written from them", written_from_artifacts),
    Public("artifacts: put into the state, and read by a tool", put_into_the_state, warns=("read",)),
    Public("artifacts: LangGraph's own agent, with messages trimmed", prebuilt),
    Public("artifacts: an agent with a structured answer", structured),
    Public("artifacts: a supervisor, a researcher and a writer", supervised),
    Public("artifacts: an agent that hands over to another", handed_over, warns=("transfer",)),
)
