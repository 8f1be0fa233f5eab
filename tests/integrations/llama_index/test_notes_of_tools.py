"""Tests of LlamaIndex tools that read what another tool wrote to the context."""

import inspect
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.workflow import Context

from rag_rule_explainer import UntrueReplay
from tests.agents.reading import Omitted, cut, policy_for
from tests.integrations.llama_index.reading import application, explained

pytestmark = pytest.mark.filterwarnings("ignore")
BOTH = ["policy", "remember"]


def _application(omitted: Omitted, ran: list[str], remember: Any, path: str = "notes") -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        return cut("policy #1", policy_for(await ctx.store.get(path, default="")), omitted)

    return application(omitted, ran, policy, more=[remember])


def set_by_a_tool(omitted: Omitted, ran: list[str]) -> Any:
    async def remember(ctx: Context) -> str:
        """Keeps."""
        await ctx.store.set("notes", "account 4711")
        return cut("remember #1", "noted", omitted)

    return _application(omitted, ran, remember)


def set_in_a_dict_by_a_tool(omitted: Omitted, ran: list[str]) -> Any:
    async def remember(ctx: Context) -> str:
        """Keeps."""
        await ctx.store.set("state.notes", "account 4711")
        return cut("remember #1", "noted", omitted)

    return _application(omitted, ran, remember, "state")


def edited_by_a_tool(omitted: Omitted, ran: list[str]) -> Any:
    async def remember(ctx: Context) -> str:
        """Keeps."""
        async with ctx.store.edit_state() as state:
            state["notes"] = "account 4711"
        return cut("remember #1", "noted", omitted)

    return _application(omitted, ran, remember)


def edited_and_read_by_a_tool(omitted: Omitted, ran: list[str]) -> Any:
    async def remember(ctx: Context) -> str:
        """Keeps."""
        async with ctx.store.edit_state() as state:
            state["notes"] = [*state.get("notes", []), "account 4711"]
        return cut("remember #1", "noted", omitted)

    async def policy(ctx: Context) -> str:
        """Says."""
        async with ctx.store.edit_state() as state:
            return cut("policy #1", policy_for(state.get("notes")), omitted)

    return application(omitted, ran, policy, more=[remember])


GUILTY = [set_by_a_tool, edited_by_a_tool, edited_and_read_by_a_tool]
is_copied = "deepcopy" in inspect.getsource(AgentWorkflow)
if_state_is_copied = pytest.mark.skipif(not is_copied, reason="this release shares the state among runs")
IN_PROMPT = set_in_a_dict_by_a_tool
"""LlamaIndex shows the entry ``state`` to the model."""


def set_where_nobody_reads(omitted: Omitted, ran: list[str]) -> Any:
    async def remember(ctx: Context) -> str:
        """Keeps."""
        await ctx.store.set("others", "account 4711")
        return cut("remember #1", "noted", omitted)

    async def policy(ctx: Context) -> str:
        """Says."""
        return cut("policy #1", policy_for(await ctx.store.get("notes", default="4711")), omitted)

    return application(omitted, ran, policy, more=[remember])


@pytest.mark.asyncio
@pytest.mark.parametrize("make", GUILTY, ids=lambda make: make.__name__)
async def test_a_tool_that_reads_what_another_wrote_counts_after_the_same_calls(make: Any) -> None:
    explanation, untrue = await explained(make)

    assert untrue == []
    assert not explanation.doubted
    assert not explanation.complete
    assert explanation.rules
    assert f"safe_tools={BOTH}" in str(explanation)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "make", [*GUILTY, pytest.param(IN_PROMPT, marks=if_state_is_copied)], ids=lambda make: make.__name__
)
async def test_the_way_out_that_is_named_helps(make: Any) -> None:
    explanation, untrue = await explained(make, safe_tools=BOTH)

    assert untrue == []
    assert not explanation.doubted
    assert explanation.complete
    assert {rule.kind.value for rule in explanation.rules} == {"retention", "omission"}


@pytest.mark.asyncio
async def test_a_write_that_no_tool_reads_does_not_matter() -> None:
    explanation, untrue = await explained(set_where_nobody_reads)

    assert untrue == []
    assert explanation.complete
    assert not explanation.doubted


@if_state_is_copied
@pytest.mark.asyncio
async def test_a_write_that_the_model_is_shown_is_refused_with_the_tool_that_wrote() -> None:
    with pytest.raises(UntrueReplay, match=r"safe_tools=\['remember'\]"):
        await explained(IN_PROMPT)
