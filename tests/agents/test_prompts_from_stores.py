"""Tests of agents whose prompt shows what a tool wrote to a long-term store of LangGraph."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.store.memory import InMemoryStore

from rag_rule_explainer import UntrueReplay, calls_tool
from tests.agents.reading import ASKED, MAILS, Omitted, Scripted, calls_in, cut, false_rules, policy_for

SPACE = ("notes",)


def agent(omitted: Omitted) -> Any:
    """Returns an agent that keeps a mail with an account, and blocks iff its prompt then says so."""

    @tool
    def inbox() -> list[str]:
        """Read."""
        return cut("inbox #1", MAILS, omitted)

    @tool
    def remember(runtime: ToolRuntime[Any, Any]) -> str:
        """Remember."""
        store: Any = runtime.store
        store.put(SPACE, "first", {"text": "account 4711"})
        return cut("remember #1", "noted", omitted)

    @tool
    def block() -> str:
        """Block."""
        return cut("block #1", "blocked", omitted)

    @dynamic_prompt
    def prompt(request: Any) -> str:
        return policy_for([each.value for each in request.runtime.store.search(SPACE)])

    model = Scripted(order=("inbox",), noting=True, by_prompt=True)
    tools = [inbox, remember, block]
    return create_agent(model, tools, middleware=[prompt], store=InMemoryStore())


def explained(**options: Any) -> Any:
    return RuleExplainer(agent(()), calls_tool("block"), source_kinds=["tools"], **options).explain(ASKED)


@pytest.mark.parametrize("replay_of", ["whole_run", "next_action"])
def test_the_refusal_names_the_tool_that_writes_and_the_way_out(replay_of: str) -> None:
    with pytest.raises(UntrueReplay) as refused:
        explained(replay_of=replay_of)

    whole = "" if replay_of == "whole_run" else "replay_of='whole_run', "
    assert f"name the one that writes: {whole}safe_tools=['remember']" in str(refused.value)


def test_the_way_out_gives_the_rules() -> None:
    explanation = explained(safe_tools=["remember"])

    assert explanation.complete, str(explanation)
    assert not explanation.doubted
    assert {rule.kind.value: rule.sources for rule in explanation.rules} == {
        "retention": ("inbox #1, item 3",),
        "omission": ("inbox #1, item 3",),
    }
    assert (
        false_rules(explanation, lambda omitted: "block" in calls_in(agent(omitted).invoke(ASKED))) == []
    )
