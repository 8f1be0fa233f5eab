"""Rules of a LangChain agent whose tool runs a workflow of LlamaIndex, against what the agent does."""

import asyncio
from itertools import chain, combinations
from typing import Any

import pytest

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from rag_rule_explainer import calls_tool
from tests.agents.reading import ASKED, Omitted, calls_in, cut, policy_for
from tests.agents.reading_agents import agent_of
from tests.integrations.known import omission, retention

ACCOUNTS = ["account 4711", "account 12"]


class Checking(Workflow):
    """A ``Checking`` keeps the accounts in its context, and answers with what it then reads there."""

    @step
    async def check(self, ctx: Context, event: StartEvent) -> StopEvent:
        await ctx.store.set("known", [*ACCOUNTS])
        state = await ctx.store.get_state()
        return StopEvent(result=policy_for({**state}))


def sync_tool(omitted: Omitted, ran: list[str]) -> Any:
    @tool
    def policy() -> str:
        """Policy."""
        ran.append("policy")

        async def found() -> str:
            return str(await Checking().run())

        return cut("policy #1", asyncio.run(found()), omitted)

    return agent_of(omitted, policy).invoke


def async_tool(omitted: Omitted, ran: list[str]) -> Any:
    @tool
    async def policy() -> str:
        """Policy."""
        ran.append("policy")
        return cut("policy #1", str(await Checking().run()), omitted)

    return agent_of(omitted, policy).ainvoke


def called(application: Any) -> bool:
    output = application(ASKED)
    return "block" in calls_in(asyncio.run(output) if asyncio.iscoroutine(output) else output)


def smallest(sets: set[frozenset[str]]) -> set[frozenset[str]]:
    return {one for one in sets if not any(other < one for other in sets)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [sync_tool, async_tool])
def test_rules_are_those_of_the_agent_and_the_workflow_runs_once(make: Any) -> None:
    ran: list[str] = []
    application = make((), ran)
    explainer = RuleExplainer(application, calls_tool("block"), source_kinds=["tools"], miner="exact")
    if make is async_tool:
        explanation = asyncio.run(explainer.aexplain(ASKED))
    else:
        explanation = explainer.explain(ASKED)
    assert ran == ["policy"]

    ids = frozenset(each.id for each in explanation.sources)
    subsets = list(map(frozenset, chain.from_iterable(combinations(ids, n) for n in range(len(ids) + 1))))
    holds = {kept: called(make(ids - kept, [])) for kept in subsets}
    keeping = {one for one in holds if all(holds[kept] for kept in holds if one <= kept)}
    lacking = {one for one in holds if not any(holds[kept] for kept in holds if not one & kept)}
    assert retention(explanation) == smallest(keeping)
    assert omission(explanation) == smallest(lacking)
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert not explanation.doubted
