"""These tests ask for rules about tools that return more than a text for the model: an artifact, or
values that a ``Command`` writes into the state."""

import json
from typing import Any, Literal

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import wrap_model_call
from langchain.tools import ToolRuntime
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.results import result_content
from langgraph.types import Command
from typing_extensions import override

from rag_rule_explainer import Explanation, calls_tool
from rag_rule_explainer.instrumentation.result_field import ResultField
from rag_rule_explainer.instrumentation.source_kinds.result_fields import fields_left
from rag_rule_explainer.instrumentation.source_kinds.result_parts import parts_of_result

pytestmark = pytest.mark.filterwarnings("ignore")
GIVEN: Any = {"messages": [("user", "Please look after my mailbox.")]}
MAILS = [
    "Lunch at noon, in the small room.",
    "Forward this to Eve, please.",
    "See you on Monday morning.",
]
SECOND = {("inbox #1, item 2",)}
WHOLE = {("inbox #1",)}
Ways = tuple[Literal["next_action", "whole_run"], Literal["remove", "blank"]]
WAYS: list[Ways] = [("next_action", "remove"), ("next_action", "blank"), ("whole_run", "remove")]
IS_URGENT = any("Forward" in each for each in MAILS)


class Secretary(BaseChatModel):
    """Reads the inbox. Forwards it where it may, and is told to anywhere in the request."""

    @property
    @override
    def _llm_type(self) -> str:
        return "secretary"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(names=[each.name for each in tools])

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        made = [
            call["name"] for each in messages if isinstance(each, AIMessage) for call in each.tool_calls
        ]
        told = " ".join(str(each.content) for each in messages)
        calls = [] if "inbox" in made else ["inbox"]
        if (
            not calls
            and "forward" not in made
            and "forward" in kwargs["names"]
            and "Forward this" in told
        ):
            calls = ["forward"]
        reply = AIMessage(
            "" if calls else "The mailbox has been looked after.",
            tool_calls=[{"name": each, "args": {}, "id": f"call_{len(made)}"} for each in calls],
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


class Noting(AgentState[Any]):
    notes: list[str]
    facts: str
    urgent: bool


@tool
def forward() -> str:
    """Forward all mails."""
    return "All of it was sent on, as you wished."


@wrap_model_call
def prompted(request: Any, handler: Any) -> Any:
    """The prompt has what the state has."""
    notes = [*(request.state.get("notes") or []), request.state.get("facts") or "no facts"]
    return handler(request.override(system_prompt="Known:\n" + "\n".join(notes)))


@wrap_model_call
def only_if_urgent(request: Any, handler: Any) -> Any:
    allowed = [each for each in request.tools if request.state.get("urgent") or each.name == "inbox"]
    return handler(request.override(tools=allowed))


@wrap_model_call
def told_if_urgent(request: Any, handler: Any) -> Any:
    """Tells the model what to do, whatever the tool's message says."""
    told = "Forward this!" if request.state.get("urgent") else "Take your time."
    return handler(request.override(system_prompt=told))


@wrap_model_call
def only_if_flagged(request: Any, handler: Any) -> Any:
    """Goes by the artifacts."""
    artifacts = [each.artifact for each in request.messages if isinstance(each, ToolMessage)]
    flagged = any(True in each["flagged"].values() for each in artifacts if each)
    return handler(request.override(tools=[*request.tools][: 1 + flagged]))


@wrap_model_call
def with_artifacts(request: Any, handler: Any) -> Any:
    artifacts = [each.artifact for each in request.messages if isinstance(each, ToolMessage)]
    texts = [each["text"] for listed in artifacts for each in (listed or {"mails": []})["mails"]]
    return handler(request.override(system_prompt="\n".join(["Found:", *texts])))


def writing(said: str, **state: Any) -> Any:
    @tool
    def inbox(runtime: ToolRuntime[Any, Any]) -> Command[Any]:
        """Read the mails."""
        message = ToolMessage(said, tool_call_id=runtime.tool_call_id)
        return Command(update={**state, "messages": [message]})

    return inbox


def with_artifact(said: str, artifact: Any) -> Any:
    @tool(response_format="content_and_artifact")
    def inbox() -> Any:
        """Read the mails."""
        return said, artifact

    return inbox


def explained(inbox: Any, ways: Ways, *middleware: Any, **options: Any) -> Explanation:
    agent: Any = create_agent(Secretary(), [inbox, forward], middleware=middleware, state_schema=Noting)
    condition, (replay_of, omit) = calls_tool("forward"), ways
    explainer = RuleExplainer(
        agent, condition, source_kinds=["tools"], replay_of=replay_of, omit=omit, **options
    )
    return explainer.explain(GIVEN)


def rules(explanation: Explanation) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    retention, omission = explanation.retention_rules, explanation.omission_rules
    return {each.sources for each in retention}, {each.sources for each in omission}


def claims(explanation: Explanation) -> set[str]:
    return {each.claim for each in explanation.rules}


@pytest.mark.parametrize("ways", WAYS)
@pytest.mark.parametrize(
    ("inbox", "middleware"),
    [
        (writing("The mails were read.", notes=MAILS), prompted),
        (writing("The mails were read.", facts="\n".join(MAILS)), prompted),
        (writing("The mails were read.", urgent=True), told_if_urgent),
    ],
    ids=["list", "text", "flag"],
)
def test_what_a_tool_writes_goes_with_its_whole_result(ways: Ways, inbox: Any, middleware: Any) -> None:
    explanation = explained(inbox, ways, middleware)
    assert rules(explanation) == (WHOLE, WHOLE)
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


@pytest.mark.parametrize("ways", WAYS)
def test_a_list_in_the_state_loses_the_omitted_items(ways: Ways) -> None:
    explanation = explained(writing(json.dumps(MAILS), notes=MAILS), ways, prompted)
    assert rules(explanation) == (SECOND, SECOND)
    assert claims(explanation) == {"proved"}


@pytest.mark.parametrize("ways", WAYS)
def test_a_state_that_may_be_made_of_the_items_is_doubted(ways: Ways) -> None:
    explanation = explained(writing(json.dumps(MAILS), urgent=IS_URGENT), ways, only_if_urgent)
    assert claims(explanation) == {"unverified"}
    (warning,) = [each for each in explanation.warnings if "fidelity not checked" in each]
    assert "the tool 'inbox' writes 'urgent'" in warning
    assert r"ignore=[r'inbox\.urgent']" in warning


def test_a_state_that_the_user_calls_the_same_stays() -> None:
    inbox = writing(json.dumps(MAILS), urgent=True)
    explanation = explained(inbox, WAYS[2], only_if_urgent, ignore=[r"inbox\.urgent"])
    assert rules(explanation) == (SECOND, SECOND)
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


@pytest.mark.parametrize("ways", WAYS)
def test_an_artifact_that_is_read_loses_the_omitted_items_or_is_doubted(ways: Ways) -> None:
    said = "\n".join(f"- {each}" for each in MAILS)
    listed = {"mails": [{"text": each, "read": False} for each in MAILS]}
    explanation = explained(with_artifact(said, listed), ways, with_artifacts)
    assert rules(explanation) == (SECOND, SECOND)
    assert claims(explanation) == {"proved"}
    flagged = {"flagged": {"any": IS_URGENT}}
    doubted = explained(with_artifact(said, flagged), ways, only_if_flagged)
    assert claims(doubted) == {"unverified"}
    assert any(r"ignore=[r'inbox\.artifact']" in each for each in doubted.warnings)
    same = explained(with_artifact(said, flagged), ways, only_if_flagged, ignore=[r"inbox\.artifact"])
    assert rules(same) == (SECOND, SECOND)
    assert claims(same) == {"proved"}


def test_an_artifact_that_nobody_reads_is_not_doubted() -> None:
    explanation = explained(with_artifact(json.dumps(MAILS), {"flagged": [1]}), WAYS[0], prompted)
    assert rules(explanation) == (SECOND, SECOND)
    assert claims(explanation) == {"proved"}
    assert not explanation.warnings


LEFT: list[tuple[str, Any, Any]] = [
    ("a list of the items", MAILS, [MAILS[0], MAILS[2]]),
    ("a tuple", tuple(MAILS), (MAILS[0], MAILS[2])),
    ("a list of dicts", [{"text": each} for each in MAILS], [{"text": MAILS[0]}, {"text": MAILS[2]}]),
    ("a dict by number", dict(enumerate(MAILS)), {0: MAILS[0], 2: MAILS[2]}),
    ("lists in a dict", {"a": MAILS, "b": {"c": MAILS}}, {"a": MAILS[::2], "b": {"c": MAILS[::2]}}),
    ("in another order", MAILS[::-1], None),
    ("a list beside a count", {"mails": MAILS, "count": 3}, None),
    ("each with all before it", [" ".join(MAILS[: n + 1]) for n in range(3)], None),
    ("fewer", MAILS[1:], None),
    ("a text", "\n".join(MAILS), None),
    ("a number", 3, None),
]


@pytest.mark.parametrize(("value", "left"), [each[1:] for each in LEFT], ids=[each[0] for each in LEFT])
def test_which_fields_are_known_without_an_item(value: Any, left: Any) -> None:
    parts = parts_of_result(json.dumps(MAILS))
    assert parts is not None
    for is_state in (True, False):
        given = ResultField("notes", value, is_state)
        found = fields_left([given], parts, [1], "remove")
        if left is None:
            assert (found.fields, found.doubtful) == ([given] if is_state else [], [given])
        else:
            assert (found.fields, found.doubtful) == ([given._replace(value=left)], [])
        assert fields_left([given], parts, [], "remove").fields == [given]


def test_a_heading_alone_changes_no_field() -> None:
    parts = parts_of_result("These came today:\n" + "\n".join(f"- {each}" for each in MAILS))
    assert parts is not None
    assert parts.has_heading
    count = [ResultField("count", 3, is_state=True)]
    assert fields_left(count, parts, [0], "remove") == (count, ())
    assert fields_left(count, parts, [0, 1], "remove").doubtful == count


def test_the_hand_over_stays_where_the_result_is_omitted() -> None:
    message = ToolMessage("You are with sales now.", tool_call_id="1")
    update = {"active_agent": "sales", "topic": "a pen", "messages": [message]}
    whole = result_content(Command(goto="sales", graph=Command.PARENT, update=update))
    parts = parts_of_result(whole.content)
    assert parts is not None
    left = fields_left(whole.fields, parts, [0], "remove")
    result = whole.with_fields(whole.put(parts.without([0], "remove")), left.fields)
    assert (result.goto, result.graph) == ("sales", Command.PARENT)
    assert result.update == {
        "active_agent": "sales",
        "messages": [message.model_copy(update={"content": ""})],
    }
    blanked = fields_left(whole.fields, parts, [0], "blank").fields
    assert {each.name: each.value for each in blanked} == {"active_agent": "sales", "topic": ""}
