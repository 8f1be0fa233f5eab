"""A function that reads the events of the agent that it runs: the stream ends where a replay does."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest
from llama_index.core.workflow import StopEvent
from llama_index_rag_rule_explainer import RuleExplainer, recorded_replies

from rag_rule_explainer import InvalidInput
from tests.agents.zoo.asking import runs_end_early
from tests.agents.zoo.of_llama_index import agent_of
from tests.agents.zoo.shapes import PAYS, QUESTION
from tests.integrations.known import retention
from tests.integrations.llama_index.test_plain_functions_as_tools import Loop

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(200)]
NEXT: Any = {"source_kinds": ["tools"], "replay_of": "next_action", "rules": "retention"}
PAID_FOR = {frozenset({"search_inbox #1, item 2", "calendar #1"})}


async def of_its_last_event(handler: Any) -> str:
    async for event in handler.stream_events():
        if isinstance(event, StopEvent):
            return str(event.result)
    return ""


async def in_a_task(handler: Any) -> str:
    async def read() -> int:
        return len([each async for each in handler.stream_events(expose_internal=True)])

    reading = asyncio.ensure_future(read())
    try:
        return str(await handler)
    finally:
        assert await reading


async def of_its_first_event(handler: Any) -> str:
    """The run goes on."""
    async with aclosing(handler.stream_events()) as events:
        async for _ in events:
            break
    return str(await handler)


@pytest.mark.skipif(not runs_end_early(), reason="older workflows have no next action")
@pytest.mark.parametrize("reads", [of_its_last_event, in_a_task, of_its_first_event])
def test_the_next_action_of_an_agent_whose_events_are_read(
    reads: Callable[[Any], Awaitable[str]],
) -> None:
    agent = agent_of(ran := [], streaming=False)

    async def ask(question: str) -> str:
        return await reads(agent.run(user_msg=question))

    explanation = RuleExplainer(ask, PAYS, **NEXT).explain(QUESTION)
    assert retention(explanation) == PAID_FOR
    assert explanation.ended
    assert ran == ["search_inbox", "calendar", "pay"]


class TestOldWorkflows:
    """Their runs may wait for ever where a replay ends them."""

    @pytest.fixture(autouse=True)
    def old(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recorded_replies, "version", lambda _: "2.13.1")

    def test_are_refused_before_anything_runs(self) -> None:
        agent = agent_of(ran := [])

        async def ask(question: str) -> Any:
            return await agent.run(user_msg=question)

        with pytest.raises(InvalidInput, match=r"2\.26 or newer, and 2\.13\.1"):
            RuleExplainer(agent, PAYS, **NEXT)
        for made in (ask, lambda: agent):
            with pytest.raises(InvalidInput, match=r"2\.26 or newer, and 2\.13\.1"):
                RuleExplainer(made, PAYS, **NEXT).explain(QUESTION)
        assert ran == []

    def test_are_no_matter_where_none_runs(self) -> None:
        explanation = RuleExplainer(Loop(ran := []).ask, PAYS, **NEXT).explain(QUESTION)
        assert retention(explanation) == PAID_FOR
        assert ran == ["search_inbox", "calendar", "pay"]
