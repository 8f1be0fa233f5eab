"""This module holds agents whose tool reads the state of the graph that the run made."""

from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import InjectedState, ToolNode
from pydantic import BaseModel

from tests.agents.reading import MAILS, Omitted, Scripted, cut, policy_for, told
from tests.agents.reading_agents import WithUser, agent_of, guilty, innocent


@guilty
def messages_of_the_state(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(told(state["messages"])), omitted)

    return agent_of(omitted, policy)


@guilty
def messages_as_an_argument(omitted: Omitted) -> Any:
    @tool
    def policy(messages: Annotated[list[Any], InjectedState("messages")]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(told(messages)), omitted)

    return agent_of(omitted, policy)


@guilty
def number_of_characters_in_a_runtime(omitted: Omitted) -> Any:
    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        size = sum(len(str(each.content)) for each in runtime.state["messages"])
        return cut("policy #1", "policy: block" if size > 50 else "policy: allow", omitted)

    return agent_of(omitted, policy)


def _all_of(state: Any) -> str:
    return told({**state}["messages"])


@guilty
def state_handed_to_a_helper(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(_all_of(state)), omitted)

    return agent_of(omitted, policy)


@guilty
def state_as_a_text(omitted: Omitted) -> Any:
    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(f"{runtime.state}"), omitted)

    return agent_of(omitted, policy)


@guilty
def entries_of_the_state(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        found = [each for name, each in state.items() if name == "messages"]
        return cut("policy #1", policy_for(told(found[0])), omitted)

    return agent_of(omitted, policy)


@guilty
def async_tool(omitted: Omitted) -> Any:
    @tool
    async def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(told(state["messages"])), omitted)

    agent = agent_of(omitted, policy)

    async def app(question: Any) -> Any:
        return await agent.ainvoke(question)

    return app


def _assessing() -> Any:
    @before_model(state_schema=WithUser)
    def assess(state: Any, runtime: Any) -> Any:
        return {"risk": "4711" if "4711" in told(state["messages"]) else "none"}

    return assess


@guilty
def entry_that_a_middleware_wrote(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(state.get("risk")), omitted)

    return agent_of(omitted, policy, _assessing())


@guilty
def state_by_the_configuration(omitted: Omitted) -> Any:
    @tool
    def policy() -> str:
        """Policy."""
        read = get_config().get("configurable", {})["__pregel_read"]
        return cut("policy #1", policy_for(told(read("messages", False))), omitted)

    return agent_of(omitted, policy)


def _graph_of_a_model(omitted: Omitted, policy: Any) -> Any:
    class State(BaseModel):
        messages: Annotated[list[Any], add_messages] = []
        user_id: str = "ann"

    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    model = Scripted()
    graph: Any = StateGraph(State)

    def asked(state: Any) -> dict[str, Any]:
        return {"messages": [model.invoke(state.messages)]}

    def following(state: Any) -> str:
        return "tools" if state.messages[-1].tool_calls else END

    graph.add_node("agent", asked)
    graph.add_node("tools", ToolNode([inbox, policy, block]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", following, ["tools", END])
    graph.add_edge("tools", "agent")
    return graph.compile()


@guilty
def state_that_is_a_model(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[Any, InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(told(state.messages)), omitted)

    return _graph_of_a_model(omitted, policy)


@innocent
def field_of_a_state_that_is_a_model(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[Any, InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(state.user_id + "4711"), omitted)

    return _graph_of_a_model(omitted, policy)


def _streaming(omitted: Omitted, inbox: Any, modes: list[str], keep: Any = None) -> Any:
    """Runs an agent, and then another one that blocks if the policy, or what was streamed, says so."""

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", "policy: check", omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    middleware = [] if keep is None else [keep]
    agent: Any = create_agent(Scripted(), [inbox, policy], middleware=middleware)
    blocking: Any = create_agent(Scripted(order=("block",)), [block])

    def app(question: Any) -> Any:
        streamed, output = list[str](), dict[str, Any]()
        for mode, each in agent.stream(question, stream_mode=modes):
            if mode == "custom":
                streamed.append(str(each))
            else:
                output = each
        if "4711" not in str(streamed) and "policy: check" not in told(output["messages"]):
            return output
        more = blocking.invoke(question)
        return {"messages": [*output["messages"], *more["messages"]]}

    return app


def _inbox_that_streams(omitted: Omitted) -> Any:
    @tool
    def inbox() -> list[str]:
        """Read."""
        get_stream_writer()("account 4711")
        return cut("inbox #1", MAILS, omitted)

    return inbox


@guilty
def stream_of_a_tool(omitted: Omitted) -> Any:
    return _streaming(omitted, _inbox_that_streams(omitted), ["custom", "values"])


@guilty
def stream_of_a_runtime(omitted: Omitted) -> Any:
    @tool
    def inbox(runtime: ToolRuntime[Any, Any]) -> list[str]:
        """Read."""
        runtime.stream_writer("account 4711")
        return cut("inbox #1", MAILS, omitted)

    return _streaming(omitted, inbox, ["custom", "values"])


@innocent
def stream_that_nobody_reads(omitted: Omitted) -> Any:
    return _streaming(omitted, _inbox_that_streams(omitted), ["values"])


@innocent
def stream_of_a_node(omitted: Omitted) -> Any:
    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @before_model
    def keep(state: Any, runtime: Any) -> None:
        get_stream_writer()(told(state["messages"]))

    return _streaming(omitted, inbox, ["custom", "values"], keep)


@innocent
def model_that_is_made_in_the_run(omitted: Omitted) -> Any:
    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", "policy: block", omitted)

    def app(question: Any) -> Any:
        return agent_of(omitted, policy).invoke(question)

    return app
