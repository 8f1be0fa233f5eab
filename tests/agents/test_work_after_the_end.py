"""Tools that tasks, threads and pools of a replay call after its end, and after that of the explanation:
none of them runs."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.interception import interception
from typing_extensions import override

from rag_rule_explainer import calls_tool
from tests.integrations.known import retention

pytestmark = pytest.mark.waits

BOTH = frozenset({"read #1, item 2", "read #1, item 3"})
GIVEN = "What is to be done?"


class Paying(BaseChatModel):
    """It pays to evil if two mails say so, else to good. In the same reply, it notes something first."""

    @property
    @override
    def _llm_type(self) -> str:
        return "paying"

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        told = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
        to = "evil" if told and "mail b" in told[0] and "mail c" in told[0] else "good"
        calls: list[Any] = [] if told else [{"name": "read", "args": {}, "id": "1"}]
        if len(told) == 1:
            calls = [
                {"name": "pay", "args": {"to": to}, "id": "2"},
                {"name": "note", "args": {}, "id": "3"},
            ]
        reply = AIMessage("" if calls else "All of it is done.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


class Agent:
    """It runs the tools of a reply at the same time; one that notes something begins late. ``leaves``:
    what it leaves behind at its end; ``own``: it calls the tools' own functions."""

    def __init__(self, leaves: Callable[["Agent"], None] | None = None, *, own: bool = False) -> None:
        self.ran, self.leaves, self.own = list[str](), leaves, own
        self.tools: dict[str, Any] = {each: self._tool(each) for each in ("read", "pay", "note", "write")}
        self.awaited = asyncio.Event()
        self.released, self.pool, self.begun = threading.Event(), ThreadPoolExecutor(), list[Any]()
        self.called = list[asyncio.Future[None]]()
        """Of each callback, whether it was called."""

    def _tool(self, name: str) -> StructuredTool:
        def run(to: str = "") -> list[str] | str:
            self.ran.append(name)
            return ["mail a", "mail b", "mail c"] if name == "read" else f"{name} is done"

        async def arun(to: str = "") -> list[str] | str:
            return run(to)

        return StructuredTool.from_function(run, arun, name=name, description=name)

    async def _result(self, call: Any) -> ToolMessage:
        for _ in range(200 if call["name"] == "note" else 0):
            await asyncio.sleep(0)
        tool = self.tools[call["name"]]
        said = await (tool.coroutine(**call["args"]) if self.own else tool.ainvoke(call["args"]))
        return ToolMessage(said, tool_call_id=call["id"])

    async def answer(self, given: str) -> str:
        messages: list[Any] = [("user", given)]
        while True:
            reply = await Paying().ainvoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                if self.leaves is not None:
                    self.leaves(self)
                return str(reply.content)
            messages += await asyncio.gather(*map(self._result, reply.tool_calls))


def in_a_task(agent: Agent) -> None:
    async def write() -> None:
        await agent.awaited.wait()
        await agent.tools["write"].ainvoke({})

    agent.begun.append(asyncio.ensure_future(write()))


def in_a_thread(agent: Agent) -> None:
    def write() -> None:
        agent.released.wait()
        agent.tools["write"].invoke({})

    threading.Thread(target=write).start()


def in_a_pool(agent: Agent) -> None:
    def write() -> None:
        agent.released.wait()
        agent.tools["write"].func()

    agent.pool.submit(write)


def write_once(agent: Agent) -> Callable[[], None]:
    called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    agent.called.append(called)

    def write() -> None:
        called.set_result(None)
        agent.tools["write"].invoke({})

    return write


def in_the_next_turn(agent: Agent) -> None:
    asyncio.get_running_loop().call_soon(write_once(agent))


def after_a_while(agent: Agent) -> None:
    asyncio.get_running_loop().call_later(0.001, write_once(agent))


def when_all_is_over(agent: Agent) -> None:
    """The callback asks for itself again until the explanation has ended."""
    loop, write = asyncio.get_running_loop(), write_once(agent)

    def wait() -> None:
        if agent.awaited.is_set():
            write()
        else:
            loop.call_later(0.001, wait)

    wait()


async def over(agent: Agent) -> None:
    """Lets everything go on that was left behind, and waits for its end."""
    agent.released.set()
    agent.awaited.set()
    await asyncio.gather(*agent.called)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)
    for each in threading.enumerate():
        if each.name.endswith("(write)"):
            await asyncio.to_thread(each.join)
    await asyncio.to_thread(agent.pool.shutdown)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("own", [False, True])
def test_a_call_beside_one_that_ended_its_replay_does_not_run(own: bool) -> None:
    async def explained() -> None:
        agent = Agent(own=own)
        explainer = RuleExplainer(agent.answer, calls_tool("pay", to="evil"), source_kinds=["tools"])
        explanation = await explainer.aexplain(GIVEN)
        await over(agent)
        assert retention(explanation) == {BOTH}
        assert sorted(agent.ran) == ["note", "pay", "read"]

    asyncio.run(explained())


LEAVES = (in_a_task, in_a_thread, in_a_pool, in_the_next_turn, after_a_while, when_all_is_over)


# The fast tests ask the loop of another package once: it need not be installed.
@pytest.mark.parametrize(
    ("leaves", "loop"),
    [
        pytest.param(
            leaves, loop, marks=() if loop == "asyncio" or leaves is in_a_task else pytest.mark.slow
        )
        for loop in ("asyncio", "uvloop")
        for leaves in LEAVES
    ],
)
def test_what_goes_on_after_the_explanation_runs_no_tool(
    leaves: Callable[[Agent], None], loop: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = asyncio.run if loop == "asyncio" else pytest.importorskip("uvloop").run

    async def explained() -> None:
        agent = Agent(leaves)
        explainer = RuleExplainer(agent.answer, calls_tool("pay", to="evil"), source_kinds=["tools"])
        await explainer.aexplain(GIVEN)
        await over(agent)
        assert agent.ran.count("write") == 1, "more than the first run's own"
        assert not interception.active, "nothing stays replaced after the last of it"
        assert not caplog.records, "no callback is told of as one that failed"

    run(explained())
