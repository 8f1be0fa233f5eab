"""Kinds of sources that were asked for and cannot be varied, and answers that a tool gives."""

from inspect import signature
from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from pydantic import BaseModel
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, NoSourcesCaptured, calls_tool, contains
from tests.agents.paying import MAILS, Paying
from tests.integrations.known import omission, retention
from tests.integrations.langchain.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
TURNS = [
    {"role": "user", "content": "What is the capital of France?"},
    {"role": "assistant", "content": "It is Paris, as you know."},
] * 4
ASKED = {"role": "user", "content": "What is new in my mailbox?"}
ITEM = frozenset({"inbox #1, item 2"})


def says(messages: list[BaseMessage]) -> str:
    return "They talked about the capital of France."


def mails(*middleware: Any, is_direct: bool = False) -> Any:
    @tool(return_direct=is_direct)
    def inbox() -> list[str]:
        """Reads the mails."""
        return list(MAILS)

    @tool
    def pay() -> str:
        """Pays the bill."""
        return "Here is the receipt of the sum that was paid."

    model = Paying(obeys=lambda told: "bill of Ann Lee" in told)
    return create_agent(model, [inbox, pay], middleware=list(middleware))


def explained(agent: Any, given: list[Any], *kinds: Any) -> Any:
    explainer = RuleExplainer(
        agent, calls_tool("pay"), source_kinds=kinds, replay_of="next_action", miner="exact"
    )
    return explainer.explain({"messages": given})


@pytest.mark.skipif(
    "trigger" not in signature(SummarizationMiddleware).parameters, reason="this release counts tokens"
)
def test_nothing_is_proved_where_turns_were_asked_for_and_are_in_a_summary() -> None:
    summary = SummarizationMiddleware(
        model=Telling(says=says), trigger=("messages", 9), keep=("messages", 1)
    )
    explanation = explained(mails(summary), [*TURNS, ASKED], "tools", "turns")
    assert "no earlier turn of the conversation in the application's input" in explanation.warnings[0]
    assert {each.claim for each in explanation.rules} == {"unverified"}
    with pytest.raises(NoSourcesCaptured, match=r"SummarizationMiddleware"):
        explained(mails(summary), [*TURNS, ASKED], "turns")


@pytest.mark.parametrize("kinds", [("tools", "turns"), ("tools",)])
def test_turns_that_are_messages_or_not_asked_for_are_no_doubt(kinds: Any) -> None:
    explanation = explained(mails(), [*TURNS[:2], ASKED], *kinds)
    assert retention(explanation) == {ITEM}
    assert not explanation.warnings
    assert not any("no source of the kind" in each for each in explanation.notes)


def test_a_kind_without_a_source_is_named() -> None:
    explanation = explained(mails(), [ASKED], "tools", "memory")
    told = [each for each in explanation.notes if "no source of the kind 'memory'" in each]
    assert len(told) == 1
    assert not explanation.warnings


def test_rules_about_an_answer_that_a_tool_gives() -> None:
    agent = mails(is_direct=True)
    explainer = RuleExplainer(agent, contains("bill"), source_kinds=["tools"], miner="exact")
    explanation = explainer.explain({"messages": [ASKED]})
    assert (retention(explanation), omission(explanation)) == ({ITEM}, {ITEM})
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert not explanation.warnings
    explainer = RuleExplainer(agent, contains("bill"), source_kinds=["tools"], replay_of="next_action")
    with pytest.raises(NoSourcesCaptured, match=r"return_direct=True.*leave replay_of out"):
        explainer.explain({"messages": [ASKED]})


class Ticket(BaseModel):
    """A ticket."""

    urgency: str


class Ticketing(Paying):
    """Reads the mails, and then gives a structured answer by a call."""

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        is_told = any(isinstance(each, ToolMessage) for each in messages)
        name, given = ("Ticket", {"urgency": "high"}) if is_told else ("inbox", {})
        message = AIMessage("", tool_calls=[{"name": name, "args": given, "id": name}])
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_a_reply_that_is_a_structured_answer_is_asked_about_as_a_call() -> None:
    @tool
    def inbox() -> list[str]:
        """Reads the mails."""
        return list(MAILS)

    model = Ticketing(obeys=lambda _: True)
    agent: Any = create_agent(model, [inbox], response_format=ToolStrategy(Ticket))
    explainer = RuleExplainer(
        agent, contains("high"), source_kinds=["tools"], replay_of="next_action", safe_tools=["inbox"]
    )
    with pytest.raises(BaselineFailed, match=r"calls_tool\('Ticket', \.\.\.\)"):
        explainer.explain({"messages": [ASKED]})
