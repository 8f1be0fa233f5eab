"""Citations of an agent's last reply, checked in the recorded conversation."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import calls_tool
from tests.integrations.langchain.models import Telling

ASKED: Any = {"messages": [("user", "When does it open?")]}


class Citing(Telling):
    """Calls its tool, and then cites what that returned."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        made = super()._generate(messages, *args, **kwargs)
        if not any(isinstance(each, ToolMessage) for each in messages):
            calls: Any = [{"name": "search", "args": {}, "id": "1"}]
            made.generations[0].message = AIMessage("", tool_calls=calls)
        return made


@tool
def search() -> list[str]:
    """Search."""
    return ["The library opens at nine in the morning.", "The library has a green roof."]


def says(messages: Any) -> str:
    told = "\n".join(str(each.text) for each in messages if isinstance(each, ToolMessage))
    return "It opens at nine [search #1, item 1]." if "at nine" in told else "I do not know."


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("replay_of", ["next_action", "whole_run"])
@pytest.mark.parametrize("own", [None, calls_tool("search")], ids=["no condition", "its own condition"])
def test_a_check_says_whether_it_is_of_the_last_reply(replay_of: Any, own: Any) -> None:
    agent: Any = create_agent(Citing(says=says), [search])
    explainer = RuleExplainer(agent, own, source_kinds=["tools"], replay_of=replay_of)
    cited = explainer.cite(ASKED)
    (check,) = cited.checks
    assert check.faithful
    assert ("as its next action" in str(cited)) is (replay_of == "next_action")
    assert cited.text == "It opens at nine [search #1, item 1]."
