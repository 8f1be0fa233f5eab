"""Functions of tools that the application calls although no model asked for it: by ``tool.func``, in a
middleware, in a callback, at the end whatever happens. No replay runs them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation, calls_tool, contains
from tests.integrations.known import retention
from tests.integrations.langchain.test_plain_functions_as_tools import GIVEN, Calling, agent

BOTH = frozenset({"read #1, item 2", "read #1, item 3"})
PAYS = calls_tool("pay")


class Bound(Calling):
    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


class World:
    """Its tools count their runs. ``write``: stands for one that changes something."""

    def __init__(self) -> None:
        self.ran = Counter[str]()

        def read() -> str:
            """Reads the mails."""
            self.ran["read"] += 1
            return '["mail a", "mail b", "mail c", "mail d"]'

        def pay(to: str) -> str:
            """Pays."""
            self.ran["pay"] += 1
            return "done"

        def warn() -> str:
            """Warns."""
            self.ran["warn"] += 1
            return "warned"

        def write(what: str) -> str:
            """Writes."""
            self.ran["write"] += 1
            return f"written: {what}"

        async def awrite(what: str) -> str:
            """Writes."""
            return write(what)

        self.tools = [tool(each) for each in (read, pay, warn)]
        self.write: Any = StructuredTool.from_function(write, awrite)


def in_a_middleware(world: World) -> Any:
    class Writes(AgentMiddleware[Any, Any]):
        def after_model(self, state: Any, runtime: Any) -> None:
            world.write.func(what="a reply was there")

        async def aafter_model(self, state: Any, runtime: Any) -> None:
            await world.write.coroutine(what="a reply was there")

    return create_agent(Bound(), world.tools, middleware=[Writes()])


def around_a_tool(world: World) -> Any:
    class Writes(AgentMiddleware[Any, Any]):
        def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> ToolMessage:
            result: ToolMessage = handler(request)
            world.write._run(what=str(result.name), config={})
            return result

        async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> ToolMessage:
            result: ToolMessage = await handler(request)
            await world.write._arun(what=str(result.name), config={})
            return result

    return create_agent(Bound(), world.tools, middleware=[Writes()])


def in_a_callback(world: World) -> Any:
    class Writes(BaseCallbackHandler):
        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            world.write.func(what="a reply was there")

    return create_agent(Bound(callbacks=[Writes()]), world.tools)


class Finally:
    """It writes at its end, whatever happens."""

    def __init__(self, world: World) -> None:
        self.world, self.inner = world, create_agent(Bound(), world.tools)

    def invoke(self, given: Any) -> Any:
        try:
            return self.inner.invoke(given)
        finally:
            self.world.write.func(what="at the end")

    async def ainvoke(self, given: Any) -> Any:
        try:
            return await self.inner.ainvoke(given)
        finally:
            await self.world.write.coroutine(what="at the end")


SHAPES: tuple[Callable[[World], Any], ...] = (in_a_middleware, around_a_tool, in_a_callback, Finally)


def explained(application: Any, condition: Any, entry: str, **options: Any) -> Explanation:
    given = getattr(application, entry) if isinstance(application, Finally) else application
    explainer = RuleExplainer(given, condition, source_kinds=["tools"], rules="retention", **options)
    return explainer.explain(GIVEN) if entry == "invoke" else asyncio.run(explainer.aexplain(GIVEN))


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("entry", ["invoke", "ainvoke"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["whole_run", "next_action"])
def test_no_replay_runs_it(shape: Any, entry: str, way: Any) -> None:
    world = World()
    application = shape(world)
    asyncio.run(application.ainvoke(GIVEN)) if entry == "ainvoke" else application.invoke(GIVEN)
    once = Counter(world.ran)
    world.ran.clear()
    explanation = explained(application, PAYS, entry, replay_of=way)
    assert retention(explanation) == {BOTH}
    assert world.ran == once


def test_what_it_wrote_is_a_source_if_a_model_is_shown_it() -> None:
    """It is recorded as any other tool."""
    ran = Counter[str]()
    application = agent(ran, dict.fromkeys(("read", "pay", "warn"), "func"))
    explanation = RuleExplainer(application, contains("done"), source_kinds=["tools"]).explain(GIVEN)
    assert [each.id for each in explanation.sources] == [
        *(f"read #1, item {number}" for number in range(1, 5)),
        "pay #1",
    ]
    assert ran["pay"] == 1


def test_a_stub_stands_in_for_it() -> None:
    ran = Counter[str]()
    application = agent(ran, dict.fromkeys(("read", "pay", "warn"), "func"))
    explainer = RuleExplainer(application, PAYS, source_kinds=["tools"], stub_tools={"pay": "ok"})
    assert explainer.explain(GIVEN).rules
    assert ran["pay"] == 0


def test_the_framework_and_the_tool_itself_get_the_function() -> None:
    """What asks a tool for its function to describe it gets the same object as without an explanation."""
    world, seen = World(), list[Any]()
    own = vars(world.write)["func"]

    class Twice(BaseTool):
        name: str = "twice"
        description: str = "Writes."
        func: Any = own

        def _run(self, what: str) -> Any:
            seen.append(self.func is own)
            return self.func(what=what)

    twice = Twice()

    def answer(given: Any) -> str:
        twice.invoke({"what": "x"})
        return str(create_agent(Bound(), world.tools).invoke(given)["messages"][-1].text)

    assert RuleExplainer(answer, PAYS, source_kinds=["tools"]).explain(GIVEN).rules
    assert seen == [True]
    assert world.write.func is own
