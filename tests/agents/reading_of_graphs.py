"""This module holds agents of LangGraph whose tool reads what the run made, or does not."""

import sqlite3
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentState, before_model
from langchain.tools import ToolRuntime
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.config import get_config, get_store
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from tests.agents.reading import ASKED, MAILS, Omitted, Scripted, cut, policy_for, told

GUILTY: list[Callable[[Omitted], Any]] = []
INNOCENT: list[Callable[[Omitted], Any]] = []
SEEN: list[str] = []


def guilty(make: Callable[[Omitted], Any]) -> Callable[[Omitted], Any]:
    GUILTY.append(make)
    return make


def innocent(make: Callable[[Omitted], Any]) -> Callable[[Omitted], Any]:
    INNOCENT.append(make)
    return make


class WithUser(AgentState[Any]):
    user_id: str
    risk: str


def agent_of(omitted: Omitted, policy: Any, *middleware: Any, more: Any = (), **options: Any) -> Any:
    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    model = Scripted(noting=bool(more))
    return create_agent(model, [inbox, policy, block, *more], middleware=list(middleware), **options)


def asking(agent: Any, **given: Any) -> Callable[[Any], Any]:
    return lambda question: agent.invoke({**question, **given})


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
    def policy(runtime: ToolRuntime) -> str:
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
    def policy(runtime: ToolRuntime) -> str:
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
        read = get_config()["configurable"]["__pregel_read"]
        return cut("policy #1", policy_for(told(read("messages", False))), omitted)

    return agent_of(omitted, policy)


class OfAModel(BaseModel):
    messages: Annotated[list[Any], lambda one, more: [*one, *more]] = []
    user_id: str = "ann"


def _graph_of_a_model(omitted: Omitted, policy: Any) -> Any:
    from langgraph.graph.message import add_messages

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
    graph = StateGraph(State)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state.messages)]})
    graph.add_node("tools", ToolNode([inbox, policy, block]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges(
        "agent", lambda state: "tools" if state.messages[-1].tool_calls else END, ["tools", END]
    )
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


def _storing(store: Any) -> Any:
    @before_model
    def keep(state: Any, runtime: Any) -> None:
        store.put(("seen",), "all", {"text": told(state["messages"])})

    return keep


@guilty
def store_as_an_argument(omitted: Omitted) -> Any:
    store = InMemoryStore()

    @tool
    def policy(store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Policy."""
        item = store.get(("seen",), "all")
        return cut("policy #1", policy_for(item.value if item else ""), omitted)

    return agent_of(omitted, policy, _storing(store), store=store)


@guilty
def store_of_a_runtime(omitted: Omitted) -> Any:
    store = InMemoryStore()

    @tool
    def policy(runtime: ToolRuntime) -> str:
        """Policy."""
        found = runtime.store.search(("seen",)) if runtime.store else []
        return cut("policy #1", policy_for([each.value for each in found]), omitted)

    return agent_of(omitted, policy, _storing(store), store=store)


@guilty
def store_of_the_graph(omitted: Omitted) -> Any:
    store = InMemoryStore()

    @tool
    def policy() -> str:
        """Policy."""
        item = get_store().get(("seen",), "all")
        return cut("policy #1", policy_for(item.value if item else ""), omitted)

    return agent_of(omitted, policy, _storing(store), store=store)


def _filling(seen: list[str]) -> Any:
    @before_model
    def fill(state: Any, runtime: Any) -> None:
        seen[:] = [told(state["messages"])]

    return fill


@guilty
def list_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        seen: list[str] = []

        @tool
        def policy() -> str:
            """Policy."""
            return cut("policy #1", policy_for(seen), omitted)

        return agent_of(omitted, policy, _filling(seen)).invoke(question)

    return app


@guilty
def list_of_all_runs(omitted: Omitted) -> Any:
    seen: list[str] = []

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(seen), omitted)

    return agent_of(omitted, policy, _filling(seen))


@guilty
def global_variable(omitted: Omitted) -> Any:
    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(SEEN), omitted)

    return agent_of(omitted, policy, _filling(SEEN))


@guilty
def enclosed_text(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        seen = ""

        @tool
        def policy() -> str:
            """Policy."""
            return cut("policy #1", policy_for(seen), omitted)

        @before_model
        def fill(state: Any, runtime: Any) -> None:
            nonlocal seen
            seen = told(state["messages"])

        return agent_of(omitted, policy, fill).invoke(question)

    return app


_HELD: ContextVar[list[str]] = ContextVar("held")


@guilty
def context_variable(omitted: Omitted) -> Any:
    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(_HELD.get()), omitted)

    def app(question: Any) -> Any:
        held: list[str] = []
        _HELD.set(held)
        return agent_of(omitted, policy, _filling(held)).invoke(question)

    return app


class Desk:
    """A ``Desk`` has a method that is a tool."""

    def __init__(self, omitted: Omitted) -> None:
        self.omitted = omitted
        self.seen = ""
        self.owner = "ann 4711"
        self.calls: list[str] = []
        self.count = 0
        self.client: Any = None

    def note(self, state: Any) -> None:
        self.seen = told(state["messages"])

    def policy(self) -> str:
        """Policy."""
        return cut("policy #1", policy_for(self.seen), self.omitted)

    def of_the_owner(self) -> str:
        """Policy."""
        self.calls.append("policy")
        self.count += 1
        return cut("policy #1", policy_for(self.owner), self.omitted)


@guilty
def attribute_of_an_object(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        desk = Desk(omitted)

        @before_model
        def fill(state: Any, runtime: Any) -> None:
            desk.note(state)

        return agent_of(omitted, tool("policy")(desk.policy), fill).invoke(question)

    return app


def _database(rows: list[str]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table mails (text text)")
    database.executemany("insert into mails values (?)", [(each,) for each in rows])
    return database


@guilty
def database_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        database = _database([])

        @tool
        def policy() -> str:
            """Policy."""
            found = database.execute("select text from mails").fetchall()
            return cut("policy #1", policy_for(found), omitted)

        @before_model
        def fill(state: Any, runtime: Any) -> None:
            database.execute("insert into mails values (?)", (told(state["messages"]),))

        return agent_of(omitted, policy, fill).invoke(question)

    return app


@guilty
def list_that_another_tool_fills(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        seen: list[str] = []

        @tool
        def remember() -> str:
            """Remember."""
            seen.append("account 4711")
            return cut("remember #1", "noted", omitted)

        @tool
        def policy() -> str:
            """Policy."""
            return cut("policy #1", policy_for(seen), omitted)

        return agent_of(omitted, policy, more=[remember]).invoke(question)

    return app


# The tools below read nothing that depends on a source.


@innocent
def entry_that_stays(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(state["user_id"]), omitted)

    return asking(agent_of(omitted, policy, state_schema=WithUser), user_id="ann 4711")


@innocent
def entry_that_is_missing(omitted: Omitted) -> Any:
    @tool
    def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        user = state["user_id"] if "user_id" in state else ""
        return cut("policy #1", policy_for(user + state.get("other", "4711")), omitted)

    return asking(agent_of(omitted, policy, state_schema=WithUser), user_id="ann")


@innocent
def entry_that_a_helper_reads(omitted: Omitted) -> Any:
    def user_of(runtime: Any) -> str:
        return runtime.state.get("user_id") or ""

    @tool
    def policy(runtime: ToolRuntime) -> str:
        """Policy."""
        return cut("policy #1", policy_for(user_of(runtime)), omitted)

    return asking(agent_of(omitted, policy, state_schema=WithUser), user_id="ann 4711")


@innocent
def context_of_a_runtime(omitted: Omitted) -> Any:
    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(runtime.context["user"]), omitted)

    agent = agent_of(omitted, policy, context_schema=dict[str, str])
    return lambda question: agent.invoke(question, context={"user": "ann 4711"})


@innocent
def id_of_the_call_in_a_runtime(omitted: Omitted) -> Any:
    @tool
    def policy(runtime: ToolRuntime) -> str:
        """Policy."""
        return cut("policy #1", policy_for(f"4711 {bool(runtime.tool_call_id)}"), omitted)

    return agent_of(omitted, policy)


@innocent
def id_of_the_call(omitted: Omitted) -> Any:
    @tool
    def policy(call: Annotated[str, InjectedToolCallId]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(f"4711 {bool(call)}"), omitted)

    return agent_of(omitted, policy)


@innocent
def async_tool_that_reads_an_entry(omitted: Omitted) -> Any:
    @tool
    async def policy(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(state["user_id"]), omitted)

    agent = agent_of(omitted, policy, state_schema=WithUser)

    async def app(question: Any) -> Any:
        return await agent.ainvoke({**question, "user_id": "ann 4711"})

    return app


@innocent
def item_that_stays(omitted: Omitted) -> Any:
    store = InMemoryStore()
    store.put(("users",), "ann", {"account": "4711"})

    @tool
    def policy(store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Policy."""
        item = store.get(("users",), "ann")
        return cut("policy #1", policy_for(item.value if item else ""), omitted)

    return agent_of(omitted, policy, _storing(store), store=store)


@innocent
def list_that_stays(omitted: Omitted) -> Any:
    known, seen = ["account 4711"], list[str]()

    @tool
    def policy() -> str:
        """Policy."""
        seen.append("policy")
        return cut("policy #1", policy_for(known), omitted)

    return agent_of(omitted, policy)


@innocent
def database_that_stays(omitted: Omitted) -> Any:
    database = _database(["account 4711"])

    @tool
    def policy() -> str:
        """Policy."""
        found = database.execute("select text from mails").fetchall()
        return cut("policy #1", policy_for(found), omitted)

    return agent_of(omitted, policy)


@innocent
def attribute_that_stays(omitted: Omitted) -> Any:
    desk = Desk(omitted)
    return agent_of(omitted, tool("policy")(desk.of_the_owner))


@innocent
def attribute_that_stays_of_an_object_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        desk = Desk(omitted)

        @before_model
        def fill(state: Any, runtime: Any) -> None:
            desk.note(state)

        return agent_of(omitted, tool("policy")(desk.of_the_owner), fill).invoke(question)

    return app


@innocent
def object_that_counts_the_calls_of_all_tools(omitted: Omitted) -> Any:
    desk = Desk(omitted)

    @tool
    def remember() -> str:
        """Remember."""
        desk.calls.append("remember")
        desk.count += 1
        return cut("remember #1", "noted", omitted)

    return agent_of(omitted, tool("policy")(desk.of_the_owner), more=[remember])


@innocent
def client_that_is_made_late(omitted: Omitted) -> Any:
    desk = Desk(omitted)

    def client() -> Any:
        if desk.client is None:
            desk.client = iter(())
        return desk.client

    @tool
    def remember() -> str:
        """Remember."""
        return cut("remember #1", "noted" if client() else "", omitted)

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for("4711" if client() else ""), omitted)

    return agent_of(omitted, policy, more=[remember])


@innocent
def cache_of_the_tool(omitted: Omitted) -> Any:
    cache: dict[str, str] = {}

    @tool
    def policy() -> str:
        """Policy."""
        if "ann" not in cache:
            cache["ann"] = "4711"
        return cut("policy #1", policy_for(cache["ann"]), omitted)

    return agent_of(omitted, policy)


@innocent
def list_that_the_model_fills(omitted: Omitted) -> Any:
    """The list is filled by a middleware, and no tool reads it."""
    seen: list[str] = []

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", "policy: block", omitted)

    return agent_of(omitted, policy, _filling(seen))


__all__ = ["ASKED", "GUILTY", "INNOCENT", "MessagesState"]
