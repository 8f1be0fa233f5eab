"""This module holds agents whose tool reads a store, a variable or a database that the run filled."""

import sqlite3
import tempfile
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from langchain.agents.middleware import before_model
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langgraph.config import get_store
from langgraph.prebuilt import InjectedStore
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from tests.agents.reading import Omitted, cut, policy_for, told
from tests.agents.reading_agents import SEEN, agent_of, guilty

OPENED: list[sqlite3.Connection] = []


def opened(*args: Any, **kwargs: Any) -> sqlite3.Connection:
    """A connection that the test closes at its end."""
    OPENED.append(sqlite3.connect(*args, **kwargs))
    return OPENED[-1]


def storing(store: Any) -> Any:
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

    return agent_of(omitted, policy, storing(store), store=store)


@guilty
def store_of_a_runtime(omitted: Omitted) -> Any:
    store = InMemoryStore()

    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        found = runtime.store.search(("seen",)) if runtime.store else []
        return cut("policy #1", policy_for([each.value for each in found]), omitted)

    return agent_of(omitted, policy, storing(store), store=store)


@guilty
def store_of_the_graph(omitted: Omitted) -> Any:
    store = InMemoryStore()

    @tool
    def policy() -> str:
        """Policy."""
        item = get_store().get(("seen",), "all")
        return cut("policy #1", policy_for(item.value if item else ""), omitted)

    return agent_of(omitted, policy, storing(store), store=store)


def filling(seen: list[str]) -> Any:
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

        return agent_of(omitted, policy, filling(seen)).invoke(question)

    return app


@guilty
def list_of_all_runs(omitted: Omitted) -> Any:
    seen: list[str] = []

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(seen), omitted)

    return agent_of(omitted, policy, filling(seen))


@guilty
def global_variable(omitted: Omitted) -> Any:
    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(SEEN), omitted)

    return agent_of(omitted, policy, filling(SEEN))


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
        return agent_of(omitted, policy, filling(held)).invoke(question)

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


@dataclass
class Session:
    seen: str = ""
    user: str = "ann 4711"


def of_a_session(omitted: Omitted, reads: Callable[[Session], str]) -> Any:
    """An agent whose middleware fills a session, and whose tool reads it in this way."""

    def app(question: Any) -> Any:
        session = Session()

        @before_model
        def fill(state: Any, runtime: Any) -> None:
            session.seen = told(state["messages"])

        @tool
        def policy() -> str:
            """Policy."""
            return cut("policy #1", policy_for(reads(session)), omitted)

        return agent_of(omitted, policy, fill).invoke(question)

    return app


@guilty
def object_as_a_whole(omitted: Omitted) -> Any:
    return of_a_session(omitted, lambda session: f"{session}")


@guilty
def fields_as_a_dict(omitted: Omitted) -> Any:
    return of_a_session(omitted, lambda session: str(asdict(session)))


def of_a_context(omitted: Omitted, context: Any, reads: Callable[[Any], str], keeps: Any) -> Any:
    """An agent whose middleware fills the context of the run, and whose tool reads it in this way."""

    def app(question: Any) -> Any:
        own = context()

        @before_model
        def fill(state: Any, runtime: Any) -> None:
            keeps(runtime.context, told(state["messages"]))

        @tool
        def policy(runtime: ToolRuntime[Any, Any]) -> str:
            """Policy."""
            return cut("policy #1", policy_for(reads(runtime)), omitted)

        agent = agent_of(omitted, policy, fill, context_schema=type(own))
        return agent.invoke(question, context=own)

    return app


def keep_in_a_field(context: Any, text: str) -> None:
    context.seen = text


def keep_in_an_entry(context: Any, text: str) -> None:
    context["seen"] = text


@guilty
def context_as_a_whole(omitted: Omitted) -> Any:
    return of_a_context(omitted, Session, lambda runtime: str(runtime.context), keep_in_a_field)


@guilty
def entry_of_a_context(omitted: Omitted) -> Any:
    return of_a_context(
        omitted, lambda: {"seen": ""}, lambda runtime: str(runtime.context["seen"]), keep_in_an_entry
    )


@guilty
def field_of_a_context(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        @before_model
        def fill(state: Any, runtime: Any) -> None:
            runtime.context.seen = told(state["messages"])

        @tool
        def policy(runtime: ToolRuntime[Any, Any]) -> str:
            """Policy."""
            return cut("policy #1", policy_for(runtime.context.seen), omitted)

        agent = agent_of(omitted, policy, fill, context_schema=Session)
        return agent.invoke(question, context=Session())

    return app


def database_of(rows: list[str]) -> sqlite3.Connection:
    database = opened(":memory:", check_same_thread=False)
    database.execute("create table mails (text text)")
    database.executemany("insert into mails values (?)", [(each,) for each in rows])
    return database


@guilty
def database_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        database = database_of([])

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


def _writing(path: Path) -> Any:
    @before_model
    def write(state: Any, runtime: Any) -> None:
        path.write_text(told(state["messages"]), encoding="utf-8")

    return write


@guilty
def file_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        path = Path(tempfile.mkdtemp()) / "mails.txt"

        @tool
        def policy() -> str:
            """Policy."""
            return cut("policy #1", policy_for(path.read_text(encoding="utf-8")), omitted)

        return agent_of(omitted, policy, _writing(path)).invoke(question)

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
