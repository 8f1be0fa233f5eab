"""This module holds agents whose tool reads nothing that depends on a source."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

from langchain.agents.middleware import before_model
from langchain.tools import ToolRuntime
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.prebuilt import InjectedState, InjectedStore
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from tests.agents.reading import Omitted, cut, policy_for
from tests.agents.reading_agents import WithUser, agent_of, asking, innocent
from tests.agents.reading_objects import (
    Desk,
    Session,
    database_of,
    filling,
    keep_in_an_entry,
    of_a_context,
    storing,
)


class User(TypedDict):
    user: str


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
        user = "ann" if "user_id" in state else ""
        return cut("policy #1", policy_for(user + state.get("other", "4711")), omitted)

    return asking(agent_of(omitted, policy, state_schema=WithUser), user_id="ann")


@innocent
def entry_that_a_helper_reads(omitted: Omitted) -> Any:
    def user_of(runtime: Any) -> str:
        return runtime.state.get("user_id") or ""

    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(user_of(runtime)), omitted)

    return asking(agent_of(omitted, policy, state_schema=WithUser), user_id="ann 4711")


@innocent
def context_of_a_runtime(omitted: Omitted) -> Any:
    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(runtime.context["user"]), omitted)

    agent = agent_of(omitted, policy, context_schema=User)

    def asked(question: Any) -> Any:
        return agent.invoke(question, context={"user": "ann 4711"})

    return asked


@innocent
def other_field_of_a_context(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        @before_model
        def fill(state: Any, runtime: Any) -> None:
            runtime.context.seen = str(state["messages"])

        @tool
        def policy(runtime: ToolRuntime[Any, Any]) -> str:
            """Policy."""
            return cut("policy #1", policy_for(runtime.context.user), omitted)

        agent = agent_of(omitted, policy, fill, context_schema=Session)
        return agent.invoke(question, context=Session())

    return app


@innocent
def other_entry_of_a_context(omitted: Omitted) -> Any:
    def context() -> dict[str, str]:
        return {"user": "ann 4711"}

    def read(runtime: Any) -> str:
        return runtime.context["user"]

    return of_a_context(omitted, context, read, keep_in_an_entry)


@innocent
def id_of_the_call_in_a_runtime(omitted: Omitted) -> Any:
    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
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

    return agent_of(omitted, policy, storing(store), store=store)


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
    database = database_of(["account 4711"])

    @tool
    def policy() -> str:
        """Policy."""
        found = database.execute("select text from mails").fetchall()
        return cut("policy #1", policy_for(found), omitted)

    return agent_of(omitted, policy)


@innocent
def configuration(omitted: Omitted) -> Any:
    @tool
    def policy(config: RunnableConfig) -> str:
        """Policy."""
        user = config.get("configurable", {}).get("user", "ann 4711")
        return cut("policy #1", policy_for(f"{user} {config.get('tags')}"), omitted)

    return agent_of(omitted, policy)


@innocent
def large_constant(omitted: Omitted) -> Any:
    prices = dict.fromkeys(range(60_000), "4711")

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(prices[7]), omitted)

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
            desk.client = object()
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

    return agent_of(omitted, policy, filling(seen))


@innocent
def log_in_a_folder_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        folder = Path(tempfile.mkdtemp())

        @tool
        def policy() -> str:
            """Policy."""
            return cut("policy #1", policy_for(f"4711 {(folder / 'log').exists()}"), omitted)

        return agent_of(omitted, policy).invoke(question)

    return app
