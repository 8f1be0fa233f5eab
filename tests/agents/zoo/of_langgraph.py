"""Graphs of LangGraph, and tools over MCP."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.tools import InjectedState
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph import prebuilt as prebuilt_agents
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send

from rag_rule_explainer import InvalidInput, ToolCall
from tests.agents.zoo.of_langchain import Scripted, asked, tools_of
from tests.agents.zoo.scripts import AT_ONCE, LOOK, ONE_BY_ONE, PAY, SEARCH, WAYS, Script, Step
from tests.agents.zoo.shapes import DELEGATED, Built, Clients, Shape


def prebuilt(_: Clients) -> Built:
    make: Any = prebuilt_agents
    agent = make.create_react_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := []))
    return Built(agent, asked(), ran)


def goes_on(state: MessagesState) -> str:
    last: Any = state["messages"][-1]
    return "tools" if last.tool_calls else END


def graph_of(model: Any, tools: Any, goes: Any = goes_on) -> Any:
    """A node that asks the model, and one for the tools."""

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", tools)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", goes, ["tools", END])
    graph.add_edge("tools", "think")
    return graph.compile()


def by_hand(_: Clients) -> Built:
    tools = ToolNode(tools_of(ran := []))
    return Built(graph_of(Scripted(script=AT_ONCE), tools), asked(), ran)


def own_node(_: Clients) -> Built:
    """Its own node calls each tool, all of them at once."""
    ran = list[str]()
    by_name = {each.name: each for each in tools_of(ran)}

    def use(call: Any) -> Any:
        said = by_name[call["name"]].invoke(call["args"])
        return {"messages": [ToolMessage(str(said), tool_call_id=call["id"], name=call["name"])]}

    def goes(state: MessagesState) -> Any:
        last: Any = state["messages"][-1]
        return [Send("tools", each) for each in last.tool_calls] or END

    return Built(graph_of(Scripted(script=AT_ONCE), use, goes), asked(), ran)


def ending(_: Clients) -> Built:
    """Its last node pays, by a plain function."""
    *reading, paying = tools_of(ran := [])
    function: Any = paying.func
    model = Scripted(script=ONE_BY_ONE)

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def pay(state: MessagesState) -> Any:
        last: Any = state["messages"][-1]
        call = last.tool_calls[0]
        return {"messages": [ToolMessage(function(**call["args"]), tool_call_id=call["id"])]}

    def goes(state: MessagesState) -> str:
        last: Any = state["messages"][-1]
        return "pay" if last.tool_calls and last.tool_calls[0]["name"] == "pay" else goes_on(state)

    graph: Any = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(reading))
    graph.add_node("pay", pay)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", goes, ["tools", "pay", END])
    graph.add_edge("tools", "think")
    graph.add_edge("pay", END)
    return Built(graph.compile(), asked(), ran)


TRANSFER = ToolCall("transfer_to_payer")
HANDS_OVER = Script((Step((SEARCH,)), Step((TRANSFER,), ("b",)), Step((LOOK,)), Step((PAY,), ("bd",))))
"""One agent reads the inbox, another one looks and pays."""


def handing_over(tool_of: Any, **options: Any) -> Built:
    inbox, *others = tools_of(ran := [])
    model = Scripted(script=HANDS_OVER)
    reader = create_agent(model, [inbox, tool_of], name="reader")
    payer = create_agent(model, others, name="payer")
    graph: Any = StateGraph(MessagesState)
    graph.add_node("reader", reader, destinations=("payer",))
    graph.add_node("payer", payer)
    graph.add_edge(START, "reader")
    return Built(graph.compile(), asked(), ran, options=options)


@tool
def transfer_to_payer(
    state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]
) -> Any:
    """Hands over, with the conversation."""
    said = ToolMessage("Over to you.", tool_call_id=tool_call_id, name="transfer_to_payer")
    update = {"messages": [*state["messages"], said]}
    return Command(goto="payer", graph=Command.PARENT, update=update)


def with_conversation(_: Clients) -> Built:
    return handing_over(transfer_to_payer)


def named_safe(_: Clients) -> Built:
    return handing_over(transfer_to_payer, safe_tools=["transfer_to_payer"])


READS_ALL = Script((Step((SEARCH,)), Step((LOOK,))), quotes=True)
SUPERVISES = Script((Step((ToolCall("ask_expert", {"task": "read"}),)), Step((PAY,), ("bd",))))


def supervised(_: Clients) -> Built:
    """A supervisor's node, and the graph of another agent that its tool sends to."""
    *reading, paying = tools_of(ran := [])
    expert: Any = create_agent(Scripted(script=READS_ALL), reading, name="expert")

    @tool
    def ask_expert(task: str) -> str:
        """Asks another graph."""
        parts = list(expert.stream({"messages": [("user", task)]}, stream_mode="values"))
        return parts[-1]["messages"][-1].text

    agent = graph_of(Scripted(script=SUPERVISES), ToolNode([ask_expert, paying]))
    return Built(agent, asked(), ran)


class Lines(list[str]):
    """The lines of a file that another process writes."""

    def __init__(self, file: Path, others: list[str]) -> None:
        super().__init__()
        self._file, self._others = file, others

    def __iter__(self) -> Iterator[str]:
        yield from self._file.read_text().split()
        yield from self._others


@cache
def _server_tools(file: Path) -> list[BaseTool]:
    # Late: no other test is to wait for this import.
    from langchain_mcp_adapters.tools import load_mcp_tools

    server = str(Path(__file__).with_name("mailbox_server.py"))
    connection: Any = {"transport": "stdio", "command": sys.executable, "args": [server, str(file)]}
    return asyncio.run(load_mcp_tools(None, connection=connection))


def over_mcp(_: Clients) -> Built:
    file = Path(tempfile.mkdtemp(prefix="mailbox-")) / "ran"
    file.write_text("")
    *_others, paying = tools_of(ran := [])
    agent = create_agent(Scripted(script=ONE_BY_ONE), [*_server_tools(file), paying])
    return Built(agent, asked(), Lines(file, ran))


UNKEPT = r"returned messages of the conversation.*safe_tools=\['transfer_to_payer'\]"
SHAPES = (
    Shape("LangGraph: `create_react_agent`", prebuilt),
    Shape("LangGraph: nodes by hand, `ToolNode`", by_hand, script=AT_ONCE),
    Shape("LangGraph: nodes by hand, tools at once with `Send`", own_node, script=AT_ONCE),
    Shape("LangGraph: nodes by hand, the last one pays by a plain function", ending),
    Shape(
        "LangGraph: hand-over with the conversation",
        with_conversation,
        script=HANDS_OVER,
        refused=dict.fromkeys(WAYS, (InvalidInput, UNKEPT)),
    ),
    Shape("LangGraph: hand-over with the conversation, named safe", named_safe, script=HANDS_OVER),
    Shape("LangGraph: a supervisor and another graph", supervised, DELEGATED, SUPERVISES),
    Shape("`create_agent`: tools over MCP", over_mcp),
)
