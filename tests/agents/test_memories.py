"""A memory that says what a tool of this run returns once more."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.checkpoint.memory import InMemorySaver

from rag_rule_explainer import calls_tool
from tests.agents.zoo.of_langchain import Scripted, asked, tools_of
from tests.agents.zoo.scripts import ONE_BY_ONE
from tests.integrations.known import TEXTS, retention, sets


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("replay_of", ["whole_run", "next_action"])
def test_what_a_tool_repeats_is_no_leak_of_the_memory(replay_of: Any) -> None:
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := []), checkpointer=saver)
    earlier = [HumanMessage("What was in the calendar?"), AIMessage(TEXTS["d"])]
    # A dict where the type has a TypedDict.
    agent.update_state(config, {"messages": earlier}, as_node="model")  # pyright: ignore[reportArgumentType]
    explainer = RuleExplainer(agent, calls_tool("pay"), source_kinds=["memory"], replay_of=replay_of)
    # A dict where the type has a TypedDict.
    explanation = explainer.explain(asked(), config)  # pyright: ignore[reportArgumentType]
    assert retention(explanation) == sets("")
    assert explanation.complete
    assert sorted(ran) == ["calendar", "pay", "search_inbox"]


@pytest.mark.waits
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("limit", [45, 3000])
def test_a_limit_of_a_memory_that_cuts_the_first_request_is_noted(limit: int) -> None:
    llama = pytest.importorskip("tests.agents.zoo.of_llama_index")
    memory = llama.ChatMemoryBuffer.from_defaults(llama.history(), token_limit=limit)
    explainer: Any = pytest.importorskip("llama_index_rag_rule_explainer").RuleExplainer(
        llama.agent_of([], day=""), calls_tool("pay"), source_kinds=["memory"]
    )
    explanation = asyncio.run(explainer.aexplain({"user_msg": "What is new?", "memory": memory}))
    found = [each for each in explanation.notes if "the first request of the run lacks 2 of" in each]
    assert len(found) == (limit == 45)
