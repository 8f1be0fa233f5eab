"""Tools that change an object in place. No replay runs them. Where other code reads the object, rules are
not proved."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolArg, StructuredTool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.prebuilt import InjectedState

from rag_rule_explainer import contains
from tests.integrations.langchain.test_tools_of_other_kinds import Payer

pytestmark = pytest.mark.filterwarnings("ignore")
TURNS = [("user", "Who has it?"), ("assistant", "Ann of Bonn."), ("user", "What is new?")]


class Adding(Payer):
    """Asks for ``add`` once."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(each, ToolMessage) for each in messages):
            return self._saying(AIMessage("All of it is done."))
        return self._saying(
            AIMessage("", tool_calls=[{"name": "add", "args": {"item": "tea"}, "id": "1"}])
        )


class Cart:
    def __init__(self) -> None:
        self.items = list[str]()

    def add(self, item: str) -> str:
        self.items.append(item)
        return "added"


class WithCart(AgentState[Any]):
    cart: list[str]


KEPT: ContextVar[list[str]] = ContextVar("kept")


def asked(messages: Any, function: Callable[..., str], **more: Any) -> Any:
    tool = StructuredTool.from_function(function, name="add", description="Adds.")
    options: Any = {"state_schema": WithCart} if more else {}
    agent: Any = create_agent(Adding(), [tool], **options)
    return agent.invoke({"messages": messages, **more})


def enclosed(messages: Any) -> object:
    cart = list[str]()

    def add(item: str) -> str:
        cart.append(item)
        return "added"

    asked(messages, add)
    return cart


def counted(messages: Any) -> object:
    count = 0

    def add(item: str) -> str:
        nonlocal count
        count += len(item)
        return "added"

    asked(messages, add)
    return count


def of_an_object(messages: Any) -> object:
    cart = Cart()
    asked(messages, cart.add)
    return cart.items


def in_the_state(messages: Any) -> object:
    def add(item: str, state: Annotated[Any, InjectedState]) -> str:
        state["cart"].append(item)
        return "added"

    return asked(messages, add, cart=[])["cart"]


def in_the_context(messages: Any) -> object:
    def add(item: str) -> str:
        KEPT.get().append(item)
        return "added"

    cart = list[str]()
    KEPT.set(cart)
    asked(messages, add)
    return cart


def given(messages: Any) -> object:
    def add(item: str, cart: Annotated[Any, InjectedToolArg]) -> str:
        cart.append(item)
        return "added"

    cart, model = list[str](), Adding()
    reply = model.invoke(messages)
    tool = StructuredTool.from_function(add, description="Adds.")
    result = tool.invoke({"item": "tea", "cart": cart})
    model.invoke([*messages, reply, ToolMessage(str(result), tool_call_id="1")])
    return cart


def unread(messages: Any) -> object:
    """A log, and an object that makes its connection when it is first used, which no other code reads."""
    cart, log = Cart(), list[str]()

    def add(item: str) -> str:
        log.append(item)
        return cart.add(item)

    asked(messages, add)
    return None


def only_read(messages: Any) -> object:
    def add(item: str, state: Annotated[Any, InjectedState]) -> str:
        return f"{item} is number {len(state['messages'])}, {len(state['cart'])}"

    return asked(messages, add, cart=[])["cart"]


def warnings_of(run: Callable[[Any], object]) -> tuple[str, bool]:
    def whole(messages: Any) -> str:
        read = run(messages)
        return "It is full." if "Bonn" in str(messages) or read else "It is empty."

    options: Any = {"source_kinds": ["turns"], "on_new_tool_call": "unknown"}
    explanation = RuleExplainer(RunnableLambda(whole), contains("full"), **options).explain(TURNS)
    assert explanation.rules
    return " ".join(explanation.warnings), any(each.proved for each in explanation.rules)


CHANGES = [enclosed, counted, of_an_object, in_the_state, in_the_context, given]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("run", CHANGES, ids=lambda each: each.__name__)
def test_what_other_code_reads_leaves_nothing_proved(run: Callable[[Any], object]) -> None:
    told, is_proved = warnings_of(run)
    assert "the tool 'add' changes in place" in told
    assert not is_proved


@pytest.mark.parametrize("run", [unread, only_read], ids=lambda each: each.__name__)
def test_what_no_other_code_reads_is_no_doubt(run: Callable[[Any], object]) -> None:
    assert warnings_of(run) == ("", True)
