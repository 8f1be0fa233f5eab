"""The next action that is explained is the right reply, with all that belongs to it."""

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import (
    Case,
    Explanation,
    InvalidInput,
    NoSourcesCaptured,
    ToolCall,
    calls_in_order,
    calls_tool,
    contains,
    number_of_calls,
)
from tests.agents.reading import ASKED, Omitted, Scripted, calls_in, cut, false_rules
from tests.agents.zoo.of_langchain import delegating, of_a_human, opened, plain
from tests.agents.zoo.shapes import PAYS, Built
from tests.integrations.known import retention

NOBODY: Any = None
NEXT: Any = {"source_kinds": ["tools"], "replay_of": "next_action"}
PAID_FOR = frozenset({"search_inbox #1, item 2", "calendar #1"})


async def says_done(case: Case) -> bool:
    """Is awaited, as a judge is, and about the text."""
    return "done" in case.answer.text


async def pays(case: Case) -> bool:
    """Is awaited, and about calls."""
    return any(each.name == "pay" for each in case.answer.calls or ())


def explained(built: Built, predicate: Any, **options: Any) -> Explanation:
    options = {**NEXT, "rules": "retention", **built.options, **options}
    return RuleExplainer(built.application, predicate, **options).explain(built.given, built.config)


def pays_first(case: Case) -> bool:
    """Is called at once."""
    return bool(case.answer.calls) and case.answer.calls[0].name == "pay"


class TestAConditionThatIsAwaited:
    @pytest.mark.parametrize(
        ("predicate", "reply"),
        [(says_done, 4), (PAYS & pays, 3), (pays_first, 3)],
        ids=["of the text", "of one call", "a function that is not awaited"],
    )
    def test_is_about_the_one_reply_that_may_meet_it(self, predicate: Any, reply: int) -> None:
        explanation = explained(plain(NOBODY), predicate)
        assert f"request {reply} of 4" in explanation.notes[0]
        assert (PAID_FOR in retention(explanation)) == (reply == 3)

    def test_is_refused_where_several_may(self) -> None:
        with pytest.raises(InvalidInput, match=r"the condition is awaited.*calls_tool\('pay'\) &"):
            explained(plain(NOBODY), pays)


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        (calls_in_order("search_inbox", "pay"), "none meets the condition; the whole run does"),
        (number_of_calls(at_least=2), "none meets the condition; the whole run does"),
        (~PAYS, "the last one meets the condition; the whole run does not"),
        (number_of_calls("pay", at_most=0), "the last one meets the condition; the whole run does not"),
    ],
)
def test_a_condition_that_the_run_and_its_reply_answer_differently_is_refused(
    predicate: Any, told: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{told} .*leave replay_of out"):
        explained(plain(NOBODY), predicate)


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        (PAYS & ~contains("receipt"), r"only a tool call \(calls pay.*without a text to judge"),
        (PAYS & ~contains("done"), r"only a tool call \(calls pay.*without a text to judge"),
        (PAYS & contains("done"), "none meets the condition; the whole run does"),
        (contains("done") & ~PAYS, "the last one meets the condition; the whole run does not"),
    ],
    ids=str,
)
def test_a_call_beside_a_text_that_the_reply_does_not_have_is_refused(predicate: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=f"{told}.*leave replay_of out"):
        explained(plain(NOBODY), predicate)


@pytest.mark.parametrize(
    "predicate", [PAYS | contains("nothing of it"), contains("done") & ~calls_tool("never")], ids=str
)
def test_a_call_beside_a_text_that_one_reply_decides_is_explained(predicate: Any) -> None:
    explanation = explained(plain(NOBODY), predicate)
    assert explanation.rules
    assert explanation.warnings == ()


def test_what_neither_the_run_nor_a_reply_does_is_explained() -> None:
    explanation = explained(plain(NOBODY), ~calls_tool("never"))
    assert retention(explanation) == {frozenset[str]()}


def test_several_conditions_say_that_they_are_of_the_next_action() -> None:
    """It is the first reply that meets any of them, not the explainer's own."""
    built = plain(NOBODY)
    explainer = RuleExplainer(built.application, contains("done"), **NEXT)
    each = explainer.explain_each(built.given, [calls_tool("never"), PAYS])
    assert all("request 3 of 4" in one.notes[0] for one in each)
    assert PAID_FOR in retention(each[1])
    assert all("as its next action" in str(rule) for one in each for rule in one.rules)


@pytest.mark.parametrize("conditions", [[~PAYS], [PAYS, ~PAYS, contains("done")]], ids=len)
def test_several_conditions_are_no_way_round_that(conditions: list[Any]) -> None:
    built = plain(NOBODY)
    explainer = RuleExplainer(built.application, contains("done"), **NEXT)
    with pytest.raises(InvalidInput, match="leave replay_of out"):
        explainer.explain_each(built.given, conditions)


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (
            [PAYS, contains("done")],
            r"only a tool call \(calls pay\(.*text \(the answer contains 'done'\)",
        ),
        ([PAYS, calls_tool("search_inbox")], r"nothing .* came before .* request 1 of 4 .*search_inbox"),
    ],
    ids=["a text", "an earlier call"],
)
def test_conditions_on_different_replies_are_refused_by_what_is_wrong(
    conditions: list[Any], told: str
) -> None:
    built = plain(NOBODY)
    with pytest.raises((InvalidInput, NoSourcesCaptured), match=told):
        RuleExplainer(built.application, **NEXT).explain_each(built.given, conditions)


class TestToolsInWhichOthersAreCalled:
    def test_are_closed(self) -> None:
        explanation = explained(delegating(NOBODY), PAYS, replay_of="whole_run")
        assert [each.id for each in explanation.sources] == ["ask_expert #1", "pay #1"]
        assert explanation.baseline.calls == (
            ToolCall("ask_expert", {"task": "read"}, 1),
            ToolCall("pay", {"to": "evil"}, 2),
        )
        assert any("models and tools inside the tool 'ask_expert'" in each for each in explanation.notes)

    @pytest.mark.spread(fast="each")
    @pytest.mark.parametrize("way", ["whole_run", "next_action"])
    @pytest.mark.parametrize(
        "predicate",
        [calls_tool("calendar"), ~calls_tool("calendar"), PAYS & calls_tool("calendar")],
        ids=str,
    )
    def test_are_no_part_of_what_is_said_of_calls(self, predicate: Any, way: Any) -> None:
        """The agent inside called it: no rule says that it was not called."""
        with pytest.raises(InvalidInput, match=r"inside the tool 'ask_expert'.*called 'calendar'.*safe_"):
            explained(delegating(NOBODY), predicate, replay_of=way)
        if way == "whole_run":
            explanation = explained(opened(NOBODY), predicate, replay_of=way)
            assert explanation.ended
            assert all(each.proved for each in explanation.rules)

    def test_are_opened_for_whole_runs_if_they_are_safe(self) -> None:
        explanation = explained(opened(NOBODY), PAYS, replay_of="whole_run")
        assert PAID_FOR in retention(explanation)
        assert [each.name for each in explanation.baseline.calls or ()] == [
            *("ask_expert", "search_inbox", "calendar", "pay")
        ]
        assert not any("models and tools inside" in each for each in explanation.notes)

    def test_stay_closed_for_what_comes_after_them(self) -> None:
        """What the other agent said is in the recorded conversation."""
        explanation = explained(opened(NOBODY), PAYS)
        assert retention(explanation) == {frozenset({"ask_expert #1"})}


def test_an_agent_that_waits_for_a_human_has_acted() -> None:
    assert retention(explained(of_a_human(NOBODY), PAYS)) == {PAID_FOR}


FOUND = [
    "alpha pays the bill of account 1111 today",
    "beta is a menu for lunch",
    "gamma is the policy: block account 4711 now",
]


@wrap_model_call
def the_longest_two(request: Any, handler: Any) -> Any:
    def shortened(each: Any) -> Any:
        is_list = isinstance(each, ToolMessage) and each.name == "search"
        found = sorted(json.loads(str(each.content)), key=len)[-2:] if is_list else []
        return each.model_copy(update={"content": json.dumps(found)}) if is_list else each

    return handler(request.override(messages=list(map(shortened, request.messages))))


def showing_two(omitted: Omitted) -> Any:
    @tool
    def search() -> list[str]:
        """Search."""
        return cut("search #1", FOUND, omitted)

    @tool
    def block() -> str:
        """Block."""
        return "blocked"

    return create_agent(Scripted(order=["search"]), [search, block], middleware=[the_longest_two])


def test_an_agent_that_is_shown_the_best_few_results_is_explained_as_the_warning_says() -> None:
    """The ids of its messages differ from run to run, and no replay gets all results of the search."""
    told = RuleExplainer(showing_two(()), calls_tool("block"), **NEXT).explain(ASKED)
    assert told.doubted
    assert 'Pass scope="retrieved"' in str(told.warnings)
    assert "ignore=" not in str(told.warnings)

    explanation = RuleExplainer(showing_two(()), calls_tool("block"), **NEXT, scope="retrieved").explain(
        ASKED
    )
    assert explanation.complete
    assert not explanation.doubted
    assert retention(explanation) == {frozenset({"search #1, item 3"})}
    assert not false_rules(
        explanation, lambda omitted: "block" in calls_in(showing_two(omitted).invoke(ASKED))
    )
