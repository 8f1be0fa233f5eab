"""The costs of explanations of an agent, as the page of agents says them."""

import re
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from pydantic import Field
from typing_extensions import override

from rag_rule_explainer import calls_tool

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "agents.md"
ROW = re.compile(r"\| (\d+) \| (next action|whole run) \| (\d+) \| (\d+) \| (\d+) \|")
WORDS = 50
"""The words of each result of a tool."""


class Counting(BaseChatModel):
    """Reads the inbox, pays where a mail says so, looks at the receipt, and is done. It counts what it is
    asked: a request, and its words as tokens."""

    asked: list[int] = Field(default_factory=list[int])

    @property
    @override
    def _llm_type(self) -> str:
        return "counting"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked.append(sum(len(str(each.text).split()) for each in messages))
        told = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
        calls = [] if told else [{"name": "read_inbox", "args": {}, "id": "1"}]
        if len(told) == 1 and "pay the bill" in told[0]:
            calls = [{"name": "pay", "args": {}, "id": "2"}]
        message = AIMessage("" if calls else "All of it is done.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def figures(mails: int, replay_of: Any) -> tuple[int, int, int]:
    """The replays, the requests and the thousands of tokens of one explanation."""

    @tool
    def read_inbox() -> list[str]:
        """Read."""
        said = [f"Mail {number}." + " word" * (WORDS - 2) for number in range(mails)]
        said[mails // 3] = "Please pay the bill." + " word" * (WORDS - 4)
        return said

    @tool
    def pay() -> str:
        """Pay."""
        return "Here is your receipt for it."

    model = Counting()
    agent: Any = create_agent(model, [read_inbox, pay])
    explainer = RuleExplainer(
        agent, calls_tool("pay"), source_kinds=["tools"], replay_of=replay_of, concurrency=1
    )
    explanation = explainer.explain({"messages": [("user", "What is new?")]})
    (rule,) = explanation.retention_rules
    assert rule.sources == (f"read_inbox #1, item {mails // 3 + 1}",)
    return explanation.counts.replays, len(model.asked), round(sum(model.asked) / 1000)


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("mails", [10, 20, 40])
@pytest.mark.parametrize("way", ["next action", "whole run"])
def test_the_page_says_what_it_costs(mails: int, way: str) -> None:
    said = {(int(row[1]), row[2]): row for row in ROW.finditer(PAGE.read_text("utf-8"))}
    replays, requests, tokens = figures(mails, way.replace(" ", "_"))
    row = said[mails, way]
    assert (replays, requests, tokens) == (int(row[3]), int(row[4]), int(row[5]))
    assert replays <= 120
