"""Tests that the recorded result of a LlamaIndex tool counts only where the tool would read the same."""

from typing import Any

import pytest
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from tests.agents.reading import Omitted, cut, policy_for
from tests.integrations.llama_index.reading import application, explained

pytestmark = pytest.mark.filterwarnings("ignore")


def memory_of_the_context(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        scratchpad = str(await ctx.store.get("react_scratchpad", default=None))
        memory = str(await ctx.store.get("current_reasoning", default=scratchpad))
        return cut("policy #1", policy_for(memory), omitted)

    return application(omitted, ran, policy)


def state_of_the_context(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        state = await ctx.store.get_state()
        return cut("policy #1", policy_for({**state}), omitted)

    return application(omitted, ran, policy)


def edited_state_of_the_context(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        async with ctx.store.edit_state() as state:
            return cut("policy #1", policy_for({**state}), omitted)

    return application(omitted, ran, policy)


def edited_entry_that_the_run_made(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        async with ctx.store.edit_state() as state:
            told = f"{state.get('react_scratchpad')} {state.get('current_reasoning')}"
            return cut("policy #1", policy_for(told), omitted)

    return application(omitted, ran, policy)


def edited_keys_of_the_context(omitted: Omitted, ran: list[str]) -> Any:
    def keep_in(state: Any) -> None:
        if "4711" in str(state.get("current_reasoning")):
            state["seen.before"] = True

    async def policy(ctx: Context) -> str:
        """Says."""
        async with ctx.store.edit_state() as state:
            keep_in(state)
            return cut("policy #1", policy_for(4711 if "seen.before" in state else ""), omitted)

    return application(omitted, ran, policy)


def list_of_all_runs(omitted: Omitted, ran: list[str]) -> Any:
    seen: list[str] = []

    def policy() -> str:
        """Says."""
        return cut("policy #1", policy_for(seen), omitted)

    def keep(said: str) -> None:
        seen[:] = [said]

    return application(omitted, ran, policy, keep=keep)


class Desk:
    def __init__(self, omitted: Omitted) -> None:
        self.omitted = omitted
        self.seen = ""
        self.owner = "ann 4711"

    def keep(self, said: str) -> None:
        self.seen = said

    async def apolicy(self) -> str:
        """Says."""
        return cut("policy #1", policy_for(self.seen), self.omitted)

    def of_the_owner(self) -> str:
        """Says."""
        return cut("policy #1", policy_for(self.owner), self.omitted)


def attribute_of_an_object(omitted: Omitted, ran: list[str]) -> Any:
    desk = Desk(omitted)
    return application(
        omitted, ran, FunctionTool.from_defaults(async_fn=desk.apolicy, name="policy"), keep=desk.keep
    )


GUILTY: list[Any] = [
    memory_of_the_context,
    state_of_the_context,
    edited_state_of_the_context,
    edited_entry_that_the_run_made,
    edited_keys_of_the_context,
    list_of_all_runs,
    attribute_of_an_object,
]


def entry_of_the_context(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        state = await ctx.store.get("state", default={})
        return cut("policy #1", policy_for(state.get("user")), omitted)

    return application(omitted, ran, policy, state={"user": "ann 4711"})


def edited_entry_of_the_context(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        async with ctx.store.edit_state() as state:
            state["looks.made"] = state.get("looks.made", 0) + 1
            told = state["state"]["user"]
        assert await ctx.store.get("state") == {"user": "ann 4711"}
        return cut("policy #1", policy_for(told), omitted)

    return application(omitted, ran, policy, state={"user": "ann 4711"})


def context_that_is_not_read(omitted: Omitted, ran: list[str]) -> Any:
    async def policy(ctx: Context) -> str:
        """Says."""
        return cut("policy #1", policy_for(f"4711 {bool(ctx)}"), omitted)

    return application(omitted, ran, policy)


def attribute_that_stays(omitted: Omitted, ran: list[str]) -> Any:
    desk = Desk(omitted)
    return application(
        omitted, ran, FunctionTool.from_defaults(desk.of_the_owner, name="policy"), keep=desk.keep
    )


class Asking(Workflow):
    """An ``Asking`` keeps a text in its own context, and answers with what it then reads there."""

    def __init__(self, is_edited: bool) -> None:
        super().__init__(timeout=60)
        self.is_edited = is_edited

    @step
    async def ask(self, ctx: Context, event: StartEvent) -> StopEvent:
        await ctx.store.set("user", "ann 4711")
        if self.is_edited:
            async with ctx.store.edit_state() as state:
                return StopEvent(result=str({**state}))
        return StopEvent(result=str({**await ctx.store.get_state()}))


def _of_an_inner_workflow(omitted: Omitted, ran: list[str], *, is_edited: bool) -> Any:
    async def policy() -> str:
        """Says."""
        return cut("policy #1", policy_for(await Asking(is_edited).run()), omitted)

    return application(omitted, ran, policy)


def state_of_an_inner_workflow(omitted: Omitted, ran: list[str]) -> Any:
    return _of_an_inner_workflow(omitted, ran, is_edited=False)


def edited_state_of_an_inner_workflow(omitted: Omitted, ran: list[str]) -> Any:
    return _of_an_inner_workflow(omitted, ran, is_edited=True)


INNOCENT: list[Any] = [
    entry_of_the_context,
    edited_entry_of_the_context,
    context_that_is_not_read,
    attribute_that_stays,
    state_of_an_inner_workflow,
    edited_state_of_an_inner_workflow,
]


@pytest.mark.asyncio
@pytest.mark.parametrize("make", GUILTY, ids=lambda make: make.__name__)
async def test_no_false_rule_about_a_tool_that_reads_what_the_run_made(make: Any) -> None:
    explanation, untrue = await explained(make)

    assert untrue == []
    assert not explanation.complete
    assert "safe_tools=['policy']" in str(explanation)


@pytest.mark.asyncio
async def test_a_tool_that_reads_the_whole_state_is_said_to() -> None:
    explanation, _ = await explained(state_of_the_context)

    assert "policy() reads the whole of the state of the context" in str(explanation)


@pytest.mark.asyncio
@pytest.mark.parametrize("make", INNOCENT, ids=lambda make: make.__name__)
async def test_a_tool_that_reads_what_no_source_changes_gets_its_recorded_result(make: Any) -> None:
    explanation, untrue = await explained(make)

    assert untrue == []
    assert explanation.complete
    assert not explanation.doubted
