"""Tools named safe that read what other tools wrote: they run again where anything is omitted."""

from typing import Annotated, Any, Literal

import pytest
from langchain.agents import AgentState, create_agent
from langchain.tools import ToolRuntime
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.types import Command
from typing_extensions import override

from rag_rule_explainer import Explanation, ToolCall, calls_tool
from rag_rule_explainer.instrumentation.executed_calls import NotedResult
from rag_rule_explainer.instrumentation.result_field import ResultField
from rag_rule_explainer.instrumentation.source_kinds.kinds import Omit
from rag_rule_explainer.instrumentation.source_kinds.result_content import as_content
from rag_rule_explainer.instrumentation.source_kinds.tool_sources import ToolSources

pytestmark = pytest.mark.filterwarnings("ignore")
GIVEN: Any = {"messages": [("user", "Please look after my mailbox.")]}
MAILS = ["Lunch at noon, in the small room.", "Forward this to Eve, please.", "See you on Monday."]
URGENT, CALM = "An urgent matter for the boss.", "Nothing of note today."
FIRST, SECOND, THIRD = (f"inbox #1, item {number}" for number in (1, 2, 3))


class Saving(AgentState[Any]):
    saved: str


class Clerk(BaseChatModel):
    """Reads the inbox, saves what it thinks of it, loads that, and acts where it is urgent."""

    @property
    @override
    def _llm_type(self) -> str:
        return "clerk"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        replies = [each for each in messages if isinstance(each, AIMessage)]
        made = [call["name"] for each in replies for call in each.tool_calls]
        told = {each.name: str(each.content) for each in messages if isinstance(each, ToolMessage)}
        text = URGENT if "Forward this" in told.get("inbox", "") else CALM
        calls: list[tuple[str, Any]] = [("inbox", {}), ("save", {"text": text}), ("load", {})]
        wanted = next((each for each in calls if each[0] not in made), None)
        if wanted is None and "forward" not in made and "urgent" in told["load"]:
            wanted = ("forward", {})
        reply = AIMessage("The mailbox has been looked after.")
        if wanted is not None:
            call = {"name": wanted[0], "args": wanted[1], "id": f"call_{len(made)}"}
            reply = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def inbox() -> list[str]:
    """Read the mails."""
    return MAILS


@tool
def forward() -> str:
    """Forward all mails."""
    return "All of it was sent on, as you wished."


class Told(BaseChatModel):
    """A model inside a tool, which says again what it is told."""

    @property
    @override
    def _llm_type(self) -> str:
        return "told"

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        message = AIMessage(f"It says: {messages[-1].content}")
        return ChatResult(generations=[ChatGeneration(message=message)])


class Desk:
    """Tools that save a text in the state, and load it; ``ran``: how often they ran."""

    def __init__(self, *, asks: bool = False) -> None:
        self.asks, self.ran = asks, list[str]()

    @property
    def tools(self) -> list[Any]:
        @tool
        def save(text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
            """Save a text."""
            self.ran.append("save")
            message = ToolMessage("The text is safe.", tool_call_id=tool_call_id)
            return Command(update={"saved": text, "messages": [message]})

        @tool
        def load(runtime: ToolRuntime[Any, Any]) -> str:
            """Load the text."""
            self.ran.append("load")
            text = runtime.state.get("saved") or "There is no text at all."
            return str(Told().invoke(text).content) if self.asks else text

        return [inbox, save, load, forward]

    def explained(
        self, safe: list[str], replay_of: Literal["next_action", "whole_run"] = "whole_run"
    ) -> Explanation:
        agent: Any = create_agent(Clerk(), self.tools, state_schema=Saving)
        explainer = RuleExplainer(
            agent,
            calls_tool("forward"),
            source_kinds=["tools"],
            safe_tools=safe,
            replay_of=replay_of,
            ignore=["ran"],
        )
        return explainer.explain(GIVEN)


def rules(explanation: Explanation) -> tuple[set[frozenset[str]], set[frozenset[str]]]:
    retention, omission = explanation.retention_rules, explanation.omission_rules
    return {frozenset(each.sources) for each in retention}, {frozenset(each.sources) for each in omission}


def all_and_each(*ids: str) -> tuple[set[frozenset[str]], set[frozenset[str]]]:
    return {frozenset(ids)}, {frozenset([each]) for each in ids}


def test_a_safe_tool_that_reads_what_was_written_runs_again() -> None:
    desk = Desk()
    explanation = desk.explained(["save", "load"])
    assert rules(explanation) == all_and_each(SECOND, "save #1", "load #1")
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert not explanation.warnings
    assert all(1 < desk.ran.count(each) <= explanation.counts.replays for each in ("save", "load"))


def test_in_the_recorded_conversation_no_safe_tool_runs_again() -> None:
    desk = Desk()
    explanation = desk.explained(["save", "load"], "next_action")
    assert rules(explanation) == all_and_each("load #1")
    assert desk.ran == ["save", "load"]


def test_a_safe_tool_that_asks_a_model_runs_again_with_what_it_asks() -> None:
    explanation = Desk(asks=True).explained(["save", "load"])
    assert rules(explanation) == all_and_each(SECOND, "save #1")
    assert {each.claim for each in explanation.rules} == {"proved"}
    assert "load #1" not in {each.id for each in explanation.sources}
    assert not any("inside the tool" in each for each in explanation.notes)


def test_only_a_tool_that_is_not_named_has_a_note_to_name_it() -> None:
    explanation = Desk(asks=True).explained(["save"])
    assert any("with safe_tools=['load']" in each for each in explanation.notes)


def sources_of(result: Any, omit: Omit = "remove") -> ToolSources:
    noted = NotedResult(ToolCall("look"), "key", 0, result, 1, ())
    return ToolSources.of([noted], [], as_content, omit)


def no_doubt(tool: str, field: ResultField) -> None:
    raise AssertionError((tool, field))


AT, LATER = "Seen on 2026-11-29 at 10:00:01.", "Seen on 2026-11-29 at 10:00:07."
AGAIN: list[tuple[str, Any, Any, list[str], tuple[Any, tuple[str, ...]]]] = [
    ("the same list", MAILS, MAILS, [FIRST, THIRD], ([MAILS[0], MAILS[2]], (FIRST, THIRD))),
    ("a list with more", MAILS, [*MAILS, "New."], [FIRST], ([MAILS[0], "New."], (FIRST,))),
    ("a shorter list", MAILS, MAILS[1:], [FIRST, SECOND], ([MAILS[1]], (SECOND,))),
    ("no list any more", MAILS, "", [FIRST], ("", ())),
    ("another text, kept", URGENT, CALM, ["look #1"], (CALM, ())),
    ("another text, omitted", URGENT, CALM, [], ("", ())),
    ("another time, kept", AT, LATER, ["look #1"], (LATER, ("look #1",))),
    ("another time, omitted", AT, LATER, [], ("", ())),
]


def test_an_item_is_omitted_from_the_call_that_it_belongs_to() -> None:
    """Two calls return the same text; the second returns another list when it is made again."""
    noted = [NotedResult(ToolCall("look"), "key", place, MAILS, place + 1, ()) for place in (0, 1)]
    found = ToolSources.of(noted, [], as_content, "remove")
    kept = [each.id for each in found.sources if each.id != "look #2, item 1"]
    omitting = found.omitting(kept, lambda ids, _: None, no_doubt)
    assert omitting.again("key", 1, MAILS[:2], "look") == [MAILS[1]]
    assert omitting.again("key", 0, MAILS[:2], "look") == MAILS[:2]


@pytest.mark.parametrize(
    ("first", "now", "kept", "left"), [each[1:] for each in AGAIN], ids=[each[0] for each in AGAIN]
)
def test_what_is_left_of_a_result_that_was_made_again(
    first: Any, now: Any, kept: list[str], left: tuple[Any, tuple[str, ...]]
) -> None:
    delivered = list[str]()
    named = [each.replace("inbox", "look") for each in kept]
    omitting = sources_of(first).omitting(named, lambda ids, _: delivered.extend(ids), no_doubt)
    assert omitting.again("key", 0, now, "look") == left[0]
    assert delivered == [each.replace("inbox", "look") for each in left[1]]
