"""This module holds agents with one tool that writes to a long-term store of LangGraph and another that
reads what it wrote."""

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import before_model
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.stores import InMemoryStore as KeyValueStore
from langchain_core.tools import tool
from langgraph.store.memory import InMemoryStore

from tests.agents.reading import Omitted, Scripted, cut, policy_for, told
from tests.agents.reading_agents import agent_of, guilty, innocent
from tests.agents.reading_notes import agent_with_notes

NOTE = {"text": "account 4711"}
NOTES = ("notes", "today")


def _agent(omitted: Omitted, read: Callable[[Any], object], *middleware: Any, first: Any = None) -> Any:
    """Returns an agent that calls ``remember`` after a mail with an account, and then ``policy``.
    ``first``: what the store holds before the run."""
    store = InMemoryStore()
    if first is not None:
        store.put(NOTES, "first", first)

    @tool
    def remember(runtime: ToolRuntime[Any, Any]) -> str:
        """Remember."""
        memory: Any = runtime.store
        memory.put(NOTES, "first", NOTE)
        return cut("remember #1", "noted", omitted)

    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        return cut("policy #1", policy_for(read(runtime.store)), omitted)

    return agent_of(omitted, policy, *middleware, more=[remember], store=store)


def _value(item: Any) -> object:
    return item and item.value


@guilty
def an_item_that_a_tool_puts(omitted: Omitted) -> Any:
    return _agent(omitted, lambda store: _value(store.get(NOTES, "first")))


@guilty
def a_search_for_items_that_a_tool_puts(omitted: Omitted) -> Any:
    return _agent(omitted, lambda store: [each.value for each in store.search(("notes",))])


@guilty
def an_item_that_a_tool_replaces(omitted: Omitted) -> Any:
    return _agent(omitted, lambda store: _value(store.get(NOTES, "first")), first={"text": "nothing"})


@guilty
def namespaces_that_a_tool_makes(omitted: Omitted) -> Any:
    return _agent(omitted, lambda store: "4711" if store.list_namespaces() else "")


@guilty
def an_item_that_a_middleware_puts_too(omitted: Omitted) -> Any:
    @before_model
    def keep(state: Any, runtime: Any) -> None:
        if "4711" in str(state["messages"]):
            runtime.store.put(NOTES, "first", NOTE)

    return _agent(omitted, lambda store: _value(store.get(NOTES, "first")), keep)


@innocent
def items_that_no_tool_reads(omitted: Omitted) -> Any:
    return _agent(omitted, lambda store: _value(store.get(("rules",), "first")) or "4711")


@innocent
def an_item_that_a_tool_always_puts(omitted: Omitted) -> Any:
    store = InMemoryStore()

    @tool
    def remember(runtime: ToolRuntime[Any, Any]) -> str:
        """Remember."""
        memory: Any = runtime.store
        memory.put(NOTES, "first", NOTE)
        return cut("remember #1", "noted", omitted)

    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        memory: Any = runtime.store
        return cut("policy #1", policy_for(_value(memory.get(NOTES, "first"))), omitted)

    model = Scripted(order=("inbox", "remember", "policy"))
    return agent_of(omitted, policy, more=[remember], model=model, store=store)


class Telling(Scripted):
    """A ``Telling`` tells ``remember`` the texts that ``texts`` returns for the mails, one in a reply."""

    texts: Callable[[str], list[str]]

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        asked = [each for each in messages if isinstance(each, AIMessage) and each.tool_calls]
        texts = self.texts(told(messages))
        if asked and len(asked) <= len(texts):
            text = texts[len(asked) - 1]
            call: Any = {"name": "remember", "args": {"text": text}, "id": f"c{len(messages)}"}
            reply = AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=reply)])
        return super()._generate(messages, *args, **kwargs)


def _told(omitted: Omitted, texts: Callable[[str], list[str]]) -> Any:
    """Returns an agent that tells ``remember`` the texts before it asks for the policy, which is by the
    last one."""
    store = InMemoryStore()

    @tool
    def remember(text: str, runtime: ToolRuntime[Any, Any]) -> str:
        """Remember."""
        memory: Any = runtime.store
        memory.put(NOTES, "first", {"text": text})
        return "noted"

    @tool
    def policy(runtime: ToolRuntime[Any, Any]) -> str:
        """Policy."""
        memory: Any = runtime.store
        return cut("policy #1", policy_for(_value(memory.get(NOTES, "first"))), omitted)

    return agent_of(omitted, policy, more=[remember], model=Telling(texts=texts), store=store)


@guilty
def items_that_are_put_in_another_order(omitted: Omitted) -> Any:
    texts = ["nothing", "account 4711"]
    return _told(omitted, lambda said: texts if "lunch" in said else texts[::-1])


def an_item_that_depends_on_the_mails(omitted: Omitted) -> Any:
    return _told(omitted, lambda said: ["account 4711" if "lunch" in said else "nothing"])


def _of_keys(omitted: Omitted, store: Any, read: Callable[[], object]) -> Any:
    """Returns an agent whose ``remember`` writes to a key-value store of LangChain."""
    return agent_with_notes(omitted, lambda text: store.mset([("first", text)]), read)


@guilty
def a_key_that_a_tool_sets(omitted: Omitted) -> Any:
    store = KeyValueStore()
    return _of_keys(omitted, store, lambda: store.mget(["first"]))


@guilty
def keys_of_which_a_tool_sets_one(omitted: Omitted) -> Any:
    store = KeyValueStore()
    return _of_keys(omitted, store, lambda: ["4711" for _ in store.yield_keys()])


@innocent
def a_key_that_no_tool_sets(omitted: Omitted) -> Any:
    store = KeyValueStore()
    store.mset([("rule", "4711")])
    return _of_keys(omitted, store, lambda: store.mget(["rule"]))
