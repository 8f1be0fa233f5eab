"""A workflow or a function that runs its tools itself, as plain functions: no replay runs them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.schema import TextNode
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import InvalidInput, ToolCall, contains
from tests.agents.zoo.asking import runs_end_early
from tests.agents.zoo.of_llama_index import Scripted, agent_of, tools_of
from tests.agents.zoo.scripts import ONE_BY_ONE, PAY, SEARCH, Script, Step
from tests.agents.zoo.shapes import PAYS, QUESTION
from tests.integrations.known import retention
from tests.integrations.llama_index.engines import Counting

pytestmark = pytest.mark.filterwarnings("ignore")

ALL = "'calendar', 'pay', 'search_inbox'"
ONCE = {"search_inbox": 1, "calendar": 1, "pay": 1}
ENTRIES = ("chat", "achat", "stream_chat", "astream_chat", "chat_with_tools", "achat_with_tools")
SEEN = "every replay would run 'pay' again"
UNSEEN = "nothing shows what became of the model's call of 'pay'"


async def asked(llm: Any, entry: str, messages: list[ChatMessage], tools: list[Any]) -> ChatResponse:
    """The reply to a request by one of the methods of models."""
    given = {"chat_history": messages} if entry.endswith("tools") else {"messages": messages}
    reply: Any = getattr(llm, entry)(tools=tools, **given)
    reply = await reply if entry.startswith("a") else reply
    if entry == "astream_chat":
        return [each async for each in reply][-1]
    return list(reply)[-1] if entry == "stream_chat" else reply


Runs = Callable[[Any, dict[str, Any]], Any]
"""Carries out a call of a tool."""


def plainly(tool: Any, given: dict[str, Any]) -> Any:
    """As by a function that the application keeps beside the tool: that of ``fn`` is recorded."""
    return object.__getattribute__(tool, "_fn")(**given)


def as_a_tool(tool: Any, given: dict[str, Any]) -> Any:
    return tool.call(**given)


class Loop:
    """A loop by hand. ``plain``: the tools that it runs as plain functions; ``ends_at``: at whose result
    it returns; ``says``: what it does with the last reply in place of running its calls."""

    def __init__(
        self,
        ran: list[str],
        plain: Sequence[str] = (),
        *,
        entry: str = "achat_with_tools",
        ends_at: str = "",
        script: Script = ONE_BY_ONE,
        says: Callable[[ChatResponse], Any] | None = None,
        system: str = "",
    ) -> None:
        self.tools = {each.metadata.name: each for each in tools_of(ran)}
        self.llm, self.plain, self.entry = Scripted(script_of=script), plain, entry
        self.ends_at, self.says, self.system = ends_at, says, system

    async def ask(self, question: str) -> Any:
        messages = [ChatMessage(role="system", content=self.system)] if self.system else []
        messages.append(ChatMessage(role="user", content=question))
        while True:
            response = await asked(self.llm, self.entry, messages, list(self.tools.values()))
            messages.append(response.message)
            calls = [each for each in response.message.blocks if isinstance(each, ToolCallBlock)]
            if not calls:
                return str(response.message.content)
            for each in calls:
                if self.says is not None and each.tool_name == self.ends_at:
                    return self.says(response)
                runs: Runs = plainly if each.tool_name in self.plain else as_a_tool
                given: Any = each.tool_kwargs
                said = str(runs(self.tools[each.tool_name], given))
                beside = {"tool_call_id": each.tool_call_id, "name": each.tool_name}
                messages.append(ChatMessage(role="tool", content=said, additional_kwargs=beside))
            if self.ends_at in [each.tool_name for each in calls]:
                return "That is all."


class Working(Workflow):
    """The loop in a workflow."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop

    @step
    async def go(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await self.loop.ask(ev.query))


def explained(loop: Loop, predicate: Any = PAYS, **options: Any) -> Any:
    options = {"source_kinds": ["tools"], **options}
    return RuleExplainer(loop.ask, predicate, **options).explain(QUESTION)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_tool_that_no_record_knows_is_refused_by_name(entry: str) -> None:
    loop = Loop(ran := [], tuple(ONCE), entry=entry)
    with pytest.raises(InvalidInput, match=rf"run {ALL} again.* safe_tools=\[{ALL}\]"):
        explained(loop)
    assert Counter(ran) == ONCE


def test_a_sync_function_and_a_workflow_are_refused_too() -> None:
    loop = Loop(ran := [], ["pay"])
    workflow = RuleExplainer(Working(loop), PAYS, source_kinds=["tools"])
    with pytest.raises(InvalidInput, match=SEEN):
        workflow.explain(QUESTION)
    sync = RuleExplainer(lambda asked: asyncio.run(loop.ask(asked)), PAYS, source_kinds=["tools"])
    with pytest.raises(InvalidInput, match=SEEN):
        sync.explain(QUESTION)
    assert Counter(ran) == dict.fromkeys(ONCE, 2)


ENDINGS: dict[str, dict[str, Any]] = {
    "in the last turn": {"plain": ["pay"], "ends_at": "pay"},
    "in the last turn, and before as a tool": {
        "plain": ["pay"],
        "ends_at": "pay",
        "script": Script((Step((SEARCH,)), Step((SEARCH,)), Step((PAY,), ("b",)))),
    },
    "in the only turn": {
        "plain": ["pay"],
        "ends_at": "pay",
        "script": Script((Step((SEARCH, PAY)),)),
    },
}


@pytest.mark.parametrize("how", ENDINGS.values(), ids=ENDINGS)
def test_a_tool_after_which_no_model_is_asked_is_refused_by_name(how: dict[str, Any]) -> None:
    """What decides this condition comes after the call."""
    ran = list[str]()
    with pytest.raises(InvalidInput, match=f"{UNSEEN}.*safe_tools="):
        explained(Loop(ran, **how), contains("That is all"))
    assert ran.count("pay") == 1


@pytest.mark.parametrize("how", list(ENDINGS.values())[:2], ids=list(ENDINGS)[:2])
def test_replays_end_at_a_call_of_such_a_tool_where_it_decides(how: dict[str, Any]) -> None:
    explanation = explained(Loop(ran := [], **how))
    assert retention(explanation)
    assert ran.count("pay") == 1


def test_a_tool_that_runs_as_a_tool_at_last_is_replayed_from_the_record() -> None:
    explanation = explained(Loop(ran := [], ends_at="pay"))
    assert retention(explanation) == {frozenset({"search_inbox #1, item 2", "calendar #1"})}
    assert Counter(ran) == ONCE


def test_calls_that_the_application_returns_were_not_carried_out() -> None:
    for says in (
        lambda response: response,
        lambda response: response.message,
        lambda response: Scripted().get_tool_calls_from_response(response),
    ):
        read = {"answer_of": lambda _: "Somebody else pays."}
        explanation = explained(Loop(ran := [], ends_at="pay", says=says), **read)
        assert retention(explanation) == {frozenset({"search_inbox #1, item 2", "calendar #1"})}
        assert Counter(ran) == {"search_inbox": 1, "calendar": 1}


def test_the_next_action_ends_before_anything_runs() -> None:
    for ends_at in ("", "pay"):
        loop = Loop(ran := [], ["pay"], ends_at=ends_at)
        explanation = explained(loop, replay_of="next_action")
        assert retention(explanation) == {frozenset({"search_inbox #1, item 2", "calendar #1"})}
        assert Counter(ran) == ONCE


def test_a_function_that_only_a_replay_calls_does_not_run() -> None:
    """The search is omitted, and the model asks for it again, and then for what it did not ask before."""
    script = Script((Step((SEARCH,)), Step((PAY,), ("b",)), Step((SEARCH,), ("d",))))
    loop = Loop(ran := [], ["calendar"], script=script)
    explanation = explained(loop)
    assert explanation.rules
    assert ran.count("pay") == 1
    assert "calendar" not in ran


def test_a_tool_that_is_named_safe_runs() -> None:
    assert explained(Loop(ran := [], ["pay"], ends_at="pay"), safe_tools=["pay"]).rules
    assert ran.count("pay") > 1
    assert ran.count("search_inbox") == 1


@pytest.mark.parametrize("ends_at", ["", "pay"])
def test_a_stub_that_cannot_stand_in_is_told(ends_at: str) -> None:
    with pytest.raises(InvalidInput, match="whose stub was not used"):
        explained(Loop([], ["pay"], ends_at=ends_at), stub_tools={"pay": "ok"})


def test_a_condition_about_text_warns_where_documents_are_the_sources() -> None:
    loop, retriever = (
        Loop(ran := [], ["pay"]),
        Counting([TextNode(text="Ducks of all kinds swim on lakes.")]),
    )

    async def application(question: str) -> Any:
        await retriever.aretrieve(question)
        return await loop.ask(question)

    warnings = RuleExplainer(application, contains("done")).explain(QUESTION).warnings
    assert any("calls 'pay' as a plain function" in each for each in warnings)
    assert ran.count("pay") > 1
    ran.clear()
    loop = Loop(ran, ["pay"], system="# Tone\nBe kind.\n# Facts\nThere are none.\n")
    with pytest.raises(InvalidInput, match=SEEN):
        RuleExplainer(loop.ask, contains("done"), source_kinds=["instructions"]).explain(QUESTION)
    assert ran.count("pay") == 1


@pytest.mark.skipif(not runs_end_early(), reason="older workflows do not show who answered a call")
def test_a_tool_that_does_not_exist_did_not_run() -> None:
    """LlamaIndex's agent tells its model so."""
    script = Script((Step((ToolCall("unknown", {}),)), *ONE_BY_ONE.steps))
    for ends in ONE_BY_ONE, Script((*ONE_BY_ONE.steps, Step((ToolCall("unknown", {}),)))):
        script = Script((*script.steps[:1], *ends.steps))
        explanation = RuleExplainer(
            agent_of(ran := [], script), PAYS, source_kinds=["tools"], rules="retention"
        ).explain(QUESTION)
        assert retention(explanation) == {frozenset({"search_inbox #1, item 2", "calendar #1"})}
        assert Counter(ran) == ONCE
