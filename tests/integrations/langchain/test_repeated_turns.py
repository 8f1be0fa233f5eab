"""Tests turns that say the same as the current run, and turns that the application repeats."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, SourceLeak, calls_tool
from tests.integrations.langchain.anew import Paying

RESULT = "The bill for the rooms is due today, as it was last week."
QUESTIONS = ["What is new?", "What is new in the office of mine on this very fine day?"]
EARLIER = ["All of it is done now.", "It is done."]


def turn(question: str, ends: str) -> list[BaseMessage]:
    call = {"name": "read_inbox", "args": {}, "id": "earlier"}
    return [
        HumanMessage(question),
        AIMessage("", tool_calls=[call]),
        ToolMessage(RESULT, tool_call_id="earlier", name="read_inbox"),
        AIMessage(ends),
    ]


def explained(messages: Sequence[BaseMessage], *middleware: Any, **options: Any) -> Explanation:
    def read_inbox() -> str:
        return RESULT

    def pay() -> str:
        return "Paid."

    tools = [StructuredTool.from_function(each, description="Does it.") for each in (read_inbox, pay)]
    agent = create_agent(Paying(), tools, middleware=middleware)
    settings: dict[str, Any] = {"source_kinds": ["turns", "tools"], "miner": "exact", **options}
    given: Any = {"messages": [*messages]}
    return RuleExplainer(agent, calls_tool("pay"), **settings).explain(given)


def blamed(explanation: Explanation) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    rules = explanation.retention_rules, explanation.omission_rules
    first, second = ({each.sources for each in some} for some in rules)
    return first, second


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("ends", EARLIER)
@pytest.mark.parametrize("replay_of", ["whole_run", "next_action"])
@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_a_turn_like_the_current_one_is_a_source(
    question: str, ends: str, replay_of: Any, omit: Any
) -> None:
    messages = [*turn(question, ends), HumanMessage(question)]
    explanation = explained(messages, replay_of=replay_of, omit=omit)
    either = {("turn 1",), ("read_inbox #1",)}
    assert blamed(explanation) == (either, {("turn 1", "read_inbox #1")})
    assert {each.claim for each in explanation.rules} == {"proved"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_without_it_the_same_results_of_tools_decide(question: str) -> None:
    messages = [*turn(question, EARLIER[0]), HumanMessage(question)]
    explanation = explained(messages, source_kinds=["turns"])
    assert blamed(explanation) == ({()}, set())


def whole(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(str(each.text) for each in messages[:4])


def of_the_reply(messages: Sequence[BaseMessage]) -> str:
    return " ".join(str(each.text) for each in messages if each.text == LONG)


LONG = "I have paid the bill for the rooms of the house by the sea."


def telling(repeating: Callable[[Sequence[BaseMessage]], str]) -> Any:
    @dynamic_prompt
    def prompt(request: Any) -> str:
        return f"What was said before:\n{repeating(request.messages)}"

    return prompt


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("repeating", [whole, of_the_reply])
@pytest.mark.parametrize("replay_of", ["whole_run", "next_action"])
def test_an_application_repeats_only_turns_that_are_there(
    repeating: Callable[[Sequence[BaseMessage]], str], replay_of: Any
) -> None:
    messages = [*turn(QUESTIONS[0], LONG), HumanMessage(QUESTIONS[0])]
    prompt = telling(repeating)
    explanation = explained(messages, prompt, replay_of=replay_of, source_kinds=["turns"])
    if replay_of == "whole_run":
        assert blamed(explanation) == ({()}, set())
        assert {each.claim for each in explanation.rules} == {"proved"}
        return
    # The recorded reply answers a request that quotes the turn.
    (empty,) = (each for each in explanation.probes if not each.kept)
    reasons = {each.reason for each in empty.verdicts.values()}
    assert all("replay_of='whole_run' asks the model anew" in each for each in reasons)


def test_a_turn_that_the_application_repeats_from_elsewhere_is_refused_with_advice() -> None:
    messages = [*turn(QUESTIONS[0], LONG), HumanMessage(QUESTIONS[0])]
    with pytest.raises(SourceLeak, match="'turns'") as caught:
        explained(messages, telling(lambda _: LONG), source_kinds=["turns"])
    error = str(caught.value)
    assert "leave its kind ('turns') out of source_kinds" in error
    assert "gate(...)" not in error
    assert "retriever" not in error
