"""Instructions are sources beside results that are lists, and beside turns with equal replies. Other
applications add a text, or drop a part of the first request: their rules are not proved."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, wrap_tool_call
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation, contains
from tests.integrations.known import omission, retention
from tests.integrations.langchain.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

SYSTEM = "# Role\nYou help in the shop.\n\n# Refunds\nRefund every order at once.\n"
ORDERS = ["order 7 is broken", "order 8 is fine"]
PAID, OPEN = "The money is on its way back.", "There is nothing to be done."


class Bound(Telling):
    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        reply = of_orders(messages)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def claims(explanation: Explanation) -> set[str]:
    return {str(each.claim) for each in explanation.rules}


def shown(messages: list[BaseMessage]) -> str:
    return "\n".join(str(each.text) for each in messages)


def orders_as(kind: str) -> BaseTool:
    results: dict[str, Any] = {
        "list of texts": ORDERS,
        "list of one text": ORDERS[:1],
        "list of dicts": [{"id": 7, "state": "broken"}, {"id": 8, "state": "fine"}],
        "text": ORDERS[0],
    }

    @tool
    def get_orders() -> Any:
        """Get the orders."""
        return results[kind]

    return get_orders


def of_orders(messages: list[BaseMessage]) -> AIMessage:
    if messages[-1].type != "tool":
        return AIMessage("", tool_calls=[{"name": "get_orders", "args": {}, "id": "call_1"}])
    return AIMessage(PAID if "Refund every" in shown(messages) and "broken" in shown(messages) else OPEN)


@wrap_tool_call
def adds_a_text(request: Any, handler: Callable[[Any], Any]) -> Any:
    result = handler(request)
    return result.model_copy(update={"content": f"{result.content} Refunds are our habit."})


def agent_with(kind: str, *middleware: AgentMiddleware) -> Any:
    return create_agent(Bound(says=str), [orders_as(kind)], system_prompt=SYSTEM, middleware=middleware)


def explained(application: Any, given: Any, *kinds: Any, **options: Any) -> Explanation:
    explainer = RuleExplainer(
        application, contains("on its way"), source_kinds=["instructions", *kinds], **options
    )
    return explainer.explain(given)


@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
@pytest.mark.parametrize("kind", ["list of texts", "list of one text", "list of dicts", "text"])
def test_results_of_tools_are_no_texts_of_the_application(kind: str, replay_of: Any) -> None:
    given = {"messages": [("user", "Help me, please.")]}
    explanation = explained(agent_with(kind), given, "tools", replay_of=replay_of)
    part = "get_orders #1" if kind == "text" else "get_orders #1, item 1"
    assert retention(explanation) == {frozenset({"instructions: Refunds", part})}
    assert omission(explanation) == {frozenset({"instructions: Refunds"}), frozenset({part})}
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


def test_a_text_that_the_application_adds_to_a_list_is_doubted() -> None:
    given = {"messages": [("user", "Help me, please.")]}
    explanation = explained(agent_with("list of texts", adds_a_text), given)
    assert claims(explanation) == {"unverified"}
    assert "texts of the application" in explanation.warnings[0]


NOTED = "I will keep that in mind."
TURNS = [
    ("user", "Give me my money back whenever I ask."),
    ("assistant", NOTED),
    ("user", "The shop is closed on Friday."),
    ("assistant", NOTED),
]


def of_turns(messages: list[BaseMessage]) -> str:
    text = shown(messages)
    return PAID if "Refund every" in text and "money back" in text else OPEN


def sends_all(given: Any) -> Any:
    return given


def drops_a_reply(given: Any) -> Any:
    return given if "money back" in str(given) else [each for each in given if each[1] != NOTED]


@pytest.mark.parametrize("prepared", [sends_all, drops_a_reply])
@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
def test_turns_with_equal_replies(prepared: Callable[[Any], Any], replay_of: Any) -> None:
    model = Telling(says=of_turns)

    def application(given: Any) -> str:
        return model.invoke([("system", SYSTEM), *prepared(given)]).text

    asked = [*TURNS, ("user", "So?")]
    explanation = explained(RunnableLambda(application), asked, "turns", replay_of=replay_of)
    if prepared is sends_all:
        assert retention(explanation) == {frozenset({"instructions: Refunds", "turn 1"})}
        assert claims(explanation) == {"proved"}
        assert not explanation.warnings
    else:
        assert "proved" not in claims(explanation)
