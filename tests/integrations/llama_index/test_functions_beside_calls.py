"""Functions of tools that the application calls although no model asked for it: by ``tool.fn`` and the
like. No replay runs them."""

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index_rag_rule_explainer import RuleExplainer

from tests.agents.zoo.of_llama_index import Scripted, agent_of
from tests.agents.zoo.shapes import PAYS, QUESTION
from tests.integrations.known import retention
from tests.integrations.llama_index.test_plain_functions_as_tools import Loop, asked

pytestmark = pytest.mark.filterwarnings("ignore")

BOTH = frozenset({"search_inbox #1, item 2", "calendar #1"})
ONCE = {"search_inbox": 1, "calendar": 1, "pay": 1}


class Writing:
    """It writes before its agent begins, and at its end, whatever happens. ``how``: by which function."""

    def __init__(self, how: str) -> None:
        self.ran = list[str]()

        def write(what: str) -> str:
            """Writes."""
            self.ran.append("write")
            return f"written: {what}"

        async def awrite(what: str) -> str:
            return write(what)

        self.how, self.tool = how, FunctionTool.from_defaults(write, async_fn=awrite)

    async def write(self, what: str) -> None:
        ways: dict[str, Callable[[], Any]] = {
            "vars": lambda: vars(self.tool)["_fn"],
            "object": lambda: object.__getattribute__(self.tool, "_fn"),
            "unwrap": lambda: inspect.unwrap(self.tool.fn),
            "fget": lambda: inspect.getattr_static(FunctionTool, "fn").fget(self.tool),
        }
        function: Any = ways.get(self.how, lambda: getattr(self.tool, self.how))()
        said = function(what=what)
        if self.how == "async_fn":
            await said

    async def ask(self, question: str) -> Any:
        await self.write("at the beginning")
        try:
            return str(await agent_of(self.ran).run(question))
        finally:
            await self.write("at the end")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("how", ["fn", "async_fn", "real_fn", "_fn", "vars", "object", "unwrap", "fget"])
def test_no_replay_runs_it(how: str) -> None:
    application = Writing(how)
    explanation = RuleExplainer(application.ask, PAYS, source_kinds=["tools"]).explain(QUESTION)
    assert BOTH in retention(explanation)
    assert Counter(application.ran) == {**ONCE, "write": 2}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("how", ["fn", "real_fn"])
def test_the_functions_of_a_tool_are_the_tool(how: str) -> None:
    class OwnLoop(Loop):
        """It carries out all calls so."""

        async def ask(self, question: str) -> Any:
            messages = [ChatMessage(role="user", content=question)]
            while True:
                response = await asked(self.llm, "achat_with_tools", messages, list(self.tools.values()))
                messages.append(response.message)
                calls = Scripted().get_tool_calls_from_response(response)
                for each in calls:
                    said = str(getattr(self.tools[each.tool_name], how)(**each.tool_kwargs))
                    beside = {"tool_call_id": each.tool_id, "name": each.tool_name}
                    messages.append(ChatMessage(role="tool", content=said, additional_kwargs=beside))
                if not calls:
                    return str(response.message.content)

    for way in ("whole_run", "next_action"):
        loop = OwnLoop(ran := [])
        options: Any = {"source_kinds": ["tools"], "replay_of": way}
        explanation = RuleExplainer(loop.ask, PAYS, **options).explain(QUESTION)
        assert retention(explanation) == {BOTH}
        assert Counter(ran) == ONCE


def test_outside_of_an_explanation_it_is_the_function() -> None:
    application = Writing("fn")
    RuleExplainer(application.ask, PAYS, source_kinds=["tools"]).explain(QUESTION)
    assert application.tool.fn is vars(application.tool)["_fn"]
    application.ran.clear()
    asyncio.run(application.ask(QUESTION))
    assert application.ran.count("write") == 2
