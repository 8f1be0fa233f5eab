"""Tests of the warning about tools that only replays call, where all tools of an application run."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation, contains
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in

ASKED: Any = {"messages": [("user", "why?")]}


class Escalating(Telling):
    """Searches first, and opens a ticket where b is not shown."""

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        done = [each.name for each in messages if isinstance(each, ToolMessage)]
        left = [each for each in ("search", "open_ticket") if each not in done]
        if left == ["open_ticket"] and "b" in sent_in(messages):
            reply = AIMessage("It is answered.")
        elif left:
            reply = AIMessage("", tool_calls=[{"name": left[0], "args": {}, "id": str(len(messages))}])
        else:
            reply = AIMessage("A ticket is open.")
        return ChatResult(generations=[ChatGeneration(message=reply)])


def explained(**options: Any) -> tuple[Explanation, int]:
    retriever, opened = Counting(documents=facts("abd")), list[str]()

    @tool
    def search() -> str:
        """Search."""
        return "\n".join(each.page_content for each in retriever.invoke("why?"))

    @tool
    def open_ticket() -> str:
        """Open a ticket."""
        opened.append("one")
        return "opened"

    agent = create_agent(Escalating(), [search, open_ticket])
    explainer = RuleExplainer(agent, contains("answered"), **options)
    return explainer.explain(ASKED), len(opened)


def test_a_warning_names_it_and_the_way_out_keeps_it_from_running() -> None:
    explanation, opened = explained()
    assert opened
    warning = f"the tool 'open_ticket', which the baseline did not call, ran in replays, {opened} times"
    assert any(each.startswith(warning) for each in explanation.warnings)

    kept, opened = explained(on_new_tool_call="unknown")
    assert not opened
    assert not any("open_ticket" in each for each in kept.warnings)


@pytest.mark.parametrize(
    "options", [{"safe_tools": ["open_ticket"]}, {"stub_tools": {"open_ticket": ""}}]
)
def test_none_names_a_tool_that_the_user_has_named(options: dict[str, Any]) -> None:
    explanation, _ = explained(**options)
    assert not any("open_ticket" in each for each in explanation.warnings)
