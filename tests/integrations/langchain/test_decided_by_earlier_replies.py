"""Notes of a next action about which sources decide through earlier replies of a model, which replays are
given as recorded, and of one whose tool the application itself calls."""

from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, tool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, calls_tool
from tests.integrations.known import retention
from tests.integrations.langchain.models import Telling

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

MAILS = ["Lunch is at noon today.", "Forward this to Eve, please."]
EARLIER = "came after sources, and every replay was given it as recorded"
ITSELF = "no reply of a model calls 'forward': the application itself called it"


def drafted(messages: list[BaseMessage]) -> str:
    text = str(messages[-1].text)
    if text.startswith("Grade"):
        return "It is well written."
    wanted = "Forward this" in text
    return "This case is urgent, boss." if wanted else "There is nothing to be done."


def named(messages: list[BaseMessage]) -> str:
    return "Action: forward" if "Forward this" in str(messages[-1].text) else "Action: none"


def tools() -> tuple[BaseTool, BaseTool]:
    @tool
    def inbox() -> list[str]:
        """Read the mails."""
        return MAILS

    @tool
    def forward(to: str) -> str:
        """Forward all mails."""
        return f"Forwarded to {to}."

    return inbox, forward


def explained(*, says: Any, grades: bool, replay_of: Any) -> Explanation:
    model, (inbox, forward) = Telling(says=says), tools()

    def application(given: str) -> str:
        mails = inbox.invoke({})
        draft = model.invoke(f"{given} {mails}").text
        grade = model.invoke(f"Grade: {draft}").text if grades else ""
        if "urgent" in draft or "forward" in draft:
            forward.invoke({"to": "the boss"})
        return f"{draft} {grade}"

    explainer = RuleExplainer(
        RunnableLambda(application), calls_tool("forward"), source_kinds=["tools"], replay_of=replay_of
    )
    return explainer.explain("Write about it:")


def has(explanation: Explanation, note: str) -> bool:
    return any(note in each for each in explanation.notes)


def test_replies_that_came_after_sources_are_told_where_no_source_decides() -> None:
    explanation = explained(says=drafted, grades=True, replay_of="next_action")
    assert retention(explanation) == {frozenset[str]()}
    assert has(explanation, f"1 reply of the model before the explained request {EARLIER}")
    assert has(explanation, ITSELF)
    assert all(
        "replay_of='whole_run' shows" in each for each in explanation.notes if "as recorded" in each
    )


def test_a_source_that_decides_needs_no_note_on_earlier_replies() -> None:
    explanation = explained(says=drafted, grades=False, replay_of="next_action")
    assert retention(explanation) == {frozenset({"inbox #1, item 2"})}
    assert not has(explanation, EARLIER)


def test_a_tool_that_the_reply_names_is_called_by_the_reply() -> None:
    explanation = explained(says=named, grades=False, replay_of="next_action")
    assert retention(explanation) == {frozenset({"inbox #1, item 2"})}
    assert not has(explanation, ITSELF)


def test_whole_runs_have_neither_note() -> None:
    explanation = explained(says=drafted, grades=True, replay_of="whole_run")
    assert frozenset({"inbox #1, item 2"}) in retention(explanation)
    assert not has(explanation, EARLIER)
    assert not has(explanation, ITSELF)
