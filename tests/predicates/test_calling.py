"""Conditions about tool calls, against a naive reading of what they say."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import (
    Answer,
    Case,
    Explainer,
    Explanation,
    InvalidInput,
    Judgement,
    JudgeReply,
    JudgeRequest,
    Store,
    ToolCall,
    Verdict,
    calls_in_order,
    calls_tool,
    condition,
    contains,
    equals,
    json_path,
    judged,
    next_call,
    number_of_calls,
    same_answer,
)
from rag_rule_explainer.predicates import Predicate, negated, negation_of
from rag_rule_explainer.predicates.inside import juries_in
from rag_rule_explainer.predicates.only_calls import beside_calls, is_only_calls, reads_calls
from tests.predicates.cases import case, holds
from tests.predicates.cases import judged as judged_of

HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN
_VALUE = {BREAKS: 0, UNKNOWN: 1, HOLDS: 2}
_VERDICT = {value: verdict for verdict, value in _VALUE.items()}
NAMES = ("a", "b", "c")
ARGUMENTS: st.SearchStrategy[Any] = st.sampled_from(["no json", ""]) | st.dictionaries(
    st.sampled_from(["to", "n"]),
    st.sampled_from(["evil", "good", "evil and good", 1, 1.0, None, ["evil"]]),
)
CALLS = st.lists(st.tuples(st.sampled_from(NAMES), ARGUMENTS, st.booleans()), max_size=5)
TESTS = st.tuples(
    st.none() | st.sampled_from(NAMES), st.none() | st.sampled_from(["evil", "good"]), st.booleans()
)


def run(*calls: ToolCall, text: str = "done", baseline: Answer | None = None) -> Case:
    """The case of a run with these calls."""
    return case(Answer(text, calls=calls), baseline=baseline or Answer("done", calls=calls))


def drawn(calls: list[tuple[str, Any, bool]]) -> tuple[ToolCall, ...]:
    """Calls, each of which begins a new step or belongs to the last one."""
    step, made = 0, list[ToolCall]()
    for name, arguments, is_new in calls:
        step += is_new or not step
        made.append(ToolCall(name, arguments, step))
    return tuple(made)


def no_verdict(_: Any) -> None: ...


def is_large(value: float) -> bool:
    return value > 5


def condition_of(tool: str | None, word: str | None, exact: bool) -> Any:
    arguments: dict[str, Any] = {} if word is None else {"to": word if exact else contains(word)}
    return calls_tool(tool, **arguments)


def naive(call: ToolCall, tool: str | None, word: str | None, exact: bool) -> int:
    """What a reader would say of one call: 2 that it passes, 0 that it does not, 1 that nobody knows."""
    if tool is not None and call.name != tool:
        return 0
    if word is None:
        return 2
    if isinstance(call.arguments, str):
        return 1
    if "to" not in call.arguments:
        return 0
    value = call.arguments["to"]
    text = value if isinstance(value, str) else json.dumps(value)
    return 2 * ((value == word) if exact else (word in text))


class TestAgainstANaiveReading:
    @given(CALLS, TESTS)
    def test_a_call_anywhere_in_the_run(self, calls: Any, test: Any) -> None:
        made = drawn(calls)
        expected = max((naive(each, *test) for each in made), default=0)
        assert judged_of(condition_of(*test), run(*made)).verdict is _VERDICT[expected]

    @given(CALLS, TESTS)
    def test_the_next_action_is_the_first_step(self, calls: Any, test: Any) -> None:
        made = drawn(calls)
        expected = max((naive(each, *test) for each in made if each.step == 1), default=0)
        predicate = replace(condition_of(*test), is_next=True)
        assert judged_of(predicate, run(*made)).verdict is _VERDICT[expected]

    @given(CALLS, st.lists(TESTS, min_size=2, max_size=3))
    def test_calls_in_order_with_others_between(self, calls: Any, tests: Any) -> None:
        made = drawn(calls)
        expected = max(
            (
                min(naive(each, *test) for each, test in zip(chosen, tests, strict=True))
                for chosen in combinations(made, len(tests))
            ),
            default=0,
        )
        predicate = calls_in_order(*(condition_of(*each) for each in tests))
        verdict = judged_of(predicate, run(*made)).verdict
        asked = [each for each in made if {None, each.name} & {tool for tool, _, _ in tests}]
        pairs = [(a, b) for a, b in combinations(asked, 2) if a.step == b.step > 0 and a.name != b.name]
        if any(isinstance(a.arguments, str) != isinstance(b.arguments, str) for a, b in pairs):
            assert verdict is Verdict.UNKNOWN
        elif verdict is Verdict.UNKNOWN and expected != 1:
            assert len({isinstance(a.arguments, str) for pair in pairs for a in pair}) > 1
        else:
            assert verdict is _VERDICT[expected]

    @given(CALLS, st.none() | st.sampled_from(NAMES), st.integers(0, 3), st.integers(0, 3))
    def test_how_many(self, calls: Any, tool: str | None, least: int, more: int) -> None:
        made = drawn(calls)
        number = len([each for each in made if tool in (None, each.name)])
        predicate = number_of_calls(tool, at_least=least, at_most=least + more)
        assert holds(predicate, run(*made)) is (least <= number <= least + more)

    @given(CALLS, TESTS, TESTS)
    def test_they_combine_by_kleene(self, calls: Any, one: Any, other: Any) -> None:
        given_ = run(*(made := drawn(calls)))
        first, second = (max((naive(e, *t) for e in made), default=0) for t in (one, other))
        both, either = (
            condition_of(*one) & condition_of(*other),
            condition_of(*one) | condition_of(*other),
        )
        assert judged_of(both, given_).verdict is _VERDICT[min(first, second)]
        assert judged_of(either, given_).verdict is _VERDICT[max(first, second)]
        assert judged_of(~condition_of(*one), given_).verdict is _VERDICT[2 - first]

    @given(CALLS, CALLS, TESTS)
    def test_equal_memo_keys_have_equal_judgements(self, one: Any, other: Any, test: Any) -> None:
        predicates = [
            condition_of(*test),
            replace(condition_of(*test), is_next=True),
            calls_in_order(condition_of(*test), "a"),
            number_of_calls(test[0], at_least=1),
        ]
        cases = [run(*drawn(each), baseline=Answer("x", calls=())) for each in (one, other)]
        for predicate in predicates:
            keys = [predicate.memo_key(each) for each in cases]
            verdicts = [judged_of(predicate, each).verdict for each in cases]
            assert None not in keys
            assert keys[0] != keys[1] or verdicts[0] is verdicts[1]


class TestWhatIsNotKnown:
    @pytest.mark.parametrize(
        "predicate",
        [
            calls_tool(),
            ~calls_tool("a"),
            next_call("a"),
            calls_in_order("a", "b"),
            number_of_calls(at_most=0),
            ~number_of_calls(at_least=1),
        ],
        ids=str,
    )
    def test_an_answer_without_recorded_calls_is_never_no_call(self, predicate: Predicate) -> None:
        judgement = judged_of(predicate, case("done"))
        assert judgement == Judgement(UNKNOWN, "the tool calls of this run were not recorded")
        assert judged_of(predicate, run()).verdict is not UNKNOWN
        assert predicate.memo_key(case("done")) != predicate.memo_key(run(text="done"))

    def test_arguments_that_are_no_json(self) -> None:
        given_ = run(ToolCall("pay", '{"to": "evi'))
        assert holds(calls_tool("pay"), given_)
        assert "are no JSON" in judged_of(calls_tool("pay", to="evil"), given_).reason
        assert judged_of(calls_tool("pay", to="evil"), given_).verdict is UNKNOWN
        assert holds(~calls_tool("send", to="evil"), given_)


class TestArguments:
    def test_all_must_hold_for_one_and_the_same_call(self) -> None:
        given_ = run(ToolCall("pay", {"to": "evil", "sum": 1}), ToolCall("pay", {"to": "good", "sum": 9}))
        assert not holds(calls_tool("pay", to="evil", sum=9), given_)
        assert holds(calls_tool("pay", to="good", sum=9.0), given_)
        assert not holds(calls_tool("pay", to="good", sum=True), given_)

    def test_a_function_of_the_value(self) -> None:
        given_ = run(ToolCall("pay", {"sum": 9}))
        large = calls_tool("pay", sum=is_large)
        assert holds(large, given_)
        assert large.memo_key(given_) is None
        with pytest.raises(InvalidInput, match=r"returned None"):
            judged_of(calls_tool("pay", sum=no_verdict), given_)

    def test_predicates_see_the_value_as_an_answer(self) -> None:
        given_ = run(ToolCall("pay", {"order": {"to": "evil"}}))
        assert holds(calls_tool("pay", order=json_path("$.to", equals="evil")), given_)
        assert holds(calls_tool("pay", order=contains("evil") & ~contains("good")), given_)

    def test_the_baseline_of_a_value_is_that_of_the_first_such_call(self) -> None:
        baseline = Answer("done", calls=(ToolCall("see"), ToolCall("pay", {"to": "Ann"})))
        same = calls_tool("pay", to=same_answer())
        assert holds(same, run(ToolCall("pay", {"to": "ann"}), baseline=baseline))
        assert not holds(same, run(ToolCall("pay", {"to": "Bob"}), baseline=baseline))
        one, other = (
            run(ToolCall("pay", {"to": "Bob"}), baseline=each) for each in (baseline, Answer("x"))
        )
        assert same.memo_key(one) != same.memo_key(other)

    def test_a_judge_is_asked_about_the_value(self) -> None:
        asked = list[str]()

        async def judge(request: JudgeRequest) -> JudgeReply:
            asked.append(request.candidates[0].answer)
            return JudgeReply([{"id": each.id, "verdict": "yes"} for each in request.candidates])

        predicate = calls_tool("pay", to=judged("is a fraud", judge))
        assert len(list(juries_in(predicate))) == 1

        async def judgement() -> Judgement:
            outcome: Any = predicate(run(ToolCall("see"), ToolCall("pay", {"to": "evil"})))
            return await outcome

        assert anyio.run(judgement).verdict is HOLDS
        assert asked == ["evil"]

    def test_a_value_that_json_cannot_say_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="which JSON cannot say"):
            calls_tool("pay", to=object())


class TestWords:
    @pytest.mark.parametrize(
        ("predicate", "words", "opposite"),
        [
            (calls_tool(), "the run calls a tool", "the run calls no tool"),
            (
                calls_tool("send_email", to=contains("evil")),
                "the run calls 'send_email' where to contains 'evil'",
                "the run does not call 'send_email' where to contains 'evil'",
            ),
            (
                calls_tool("pay", to=~equals("Ann"), sum=5),
                "the run calls 'pay' where to is not 'Ann' and sum is 5",
                "the run does not call 'pay' where to is not 'Ann' and sum is 5",
            ),
            (
                calls_tool("pay", to=contains("a") | equals("b")),
                "the run calls 'pay' where of to (the answer contains 'a' or the answer is 'b')",
                "the run does not call 'pay' where of to (the answer contains 'a' or the answer is 'b')",
            ),
            (next_call("pay"), "the next action calls 'pay'", "the next action does not call 'pay'"),
            (
                calls_in_order("see", calls_tool("pay", sum=5)),
                "the run calls 'see', then 'pay' where sum is 5",
                "the run does not call 'see', then 'pay' where sum is 5",
            ),
            (
                number_of_calls("pay", at_most=1),
                "the run makes at most 1 tool call of 'pay'",
                "the run does not make at most 1 tool call of 'pay'",
            ),
            (
                number_of_calls(at_least=2, at_most=4),
                "the run makes 2 to 4 tool calls",
                "the run does not make 2 to 4 tool calls",
            ),
            (
                number_of_calls(at_least=2, at_most=2),
                "the run makes exactly 2 tool calls",
                "the run does not make exactly 2 tool calls",
            ),
        ],
    )
    def test_a_condition_and_its_opposite(self, predicate: Any, words: str, opposite: str) -> None:
        assert str(predicate) == words
        assert negation_of(predicate) == str(negated(predicate)) == opposite

    def test_reasons_name_the_calls_that_there_are(self) -> None:
        assert judged_of(calls_tool("pay"), run()).reason == "the run calls no tool"
        given_ = run(ToolCall("see", {"q": "x"}), ToolCall("stop"))
        assert judged_of(calls_tool("pay"), given_).reason == 'the run calls see(q="x"), then stop()'

    @pytest.mark.parametrize(
        ("make", "says"),
        [
            # A mistake, on purpose.
            (lambda: calls_tool(5), "the tool in a condition is 5"),  # pyright: ignore[reportArgumentType]
            (lambda: calls_in_order("a"), "needs at least two tools"),
            (lambda: calls_in_order("a", next_call("b")), "the tool in a condition is"),
            (lambda: number_of_calls("a"), "holds for every run"),
            (lambda: number_of_calls(at_least=3, at_most=2), "which no run meets"),
        ],
    )
    def test_bad_input(self, make: Any, says: str) -> None:
        with pytest.raises(InvalidInput, match=says):
            make()


class TestAnswersThatAreOnlyACall:
    CALL = Answer("", finish_reason="tool_calls", calls=(ToolCall("pay"),))

    @pytest.mark.parametrize(
        ("answer", "is_call"),
        [
            (CALL, True),
            (Answer("", calls=(ToolCall("pay"),)), True),
            (Answer("Let me see.", finish_reason="TOOL_USE", calls=(ToolCall("pay"),)), True),
            (Answer("Paid.", finish_reason="stop", calls=(ToolCall("pay"),)), False),
            (Answer("", {"x": 1}, calls=(ToolCall("pay"),)), False),
            (Answer("", finish_reason="tool_calls"), False),
            (Answer("", calls=()), False),
        ],
    )
    def test_which_are(self, answer: Answer, is_call: bool) -> None:
        assert is_only_calls(answer) is is_call

    def test_conditions_about_calls_alone_judge_them(self) -> None:
        text = contains("x")
        guarded = beside_calls(
            {"one": calls_tool("pay") & ~text, "other": text, "third": text | calls_tool()}
        )
        only, whole = case(self.CALL), run(ToolCall("pay"), text="x")
        assert [judged_of(each, only).verdict for each in guarded.values()] == [UNKNOWN, UNKNOWN, HOLDS]
        assert [judged_of(each, whole).verdict for each in guarded.values()] == [BREAKS, HOLDS, HOLDS]
        assert list(map(str, guarded.values()))[1] == str(text)
        assert guarded["other"].memo_key(only) != guarded["other"].memo_key(case(""))

    def test_without_a_condition_about_calls_nothing_changes(self) -> None:
        predicates = {"one": contains("x"), "other": ~contains("y")}
        assert beside_calls(predicates) == predicates

    def test_a_function_that_reads_calls_is_about_them(self) -> None:
        about = condition(
            lambda case: any(each.name == "pay" for each in case.answer.calls or ()), "it pays"
        )
        assert reads_calls(about)
        assert reads_calls(~about | contains("x"))
        assert not reads_calls(condition(lambda case: "x" in case, "it says x"))


@pytest.mark.parametrize("account", [2**63, -(2**64), 10**30, 10**599])
def test_large_numbers_are_told_apart_before_and_after_they_are_written(
    account: int, tmp_path: Path
) -> None:
    def replay(_: str, sources: Any) -> Answer:
        is_told = any(each.id == "D1" for each in sources)
        said = json.dumps({"account": account if is_told else account + 1})
        return Answer("", calls=(ToolCall.written("pay", said),))

    paying = calls_tool("pay", account=account)
    explained = [
        Explainer(replay, predicate=paying, store=Store(str(tmp_path / "a.db"), "a")).explain("?", ["a"])
        for _ in range(2)
    ]
    for each in (*explained, Explanation.model_validate_json(explained[0].to_json())):
        assert each.baseline.calls == (ToolCall("pay", {"account": account}),)
        assert [rule.sources for rule in each.rules] == [("D1",), ("D1",)]
    assert explained[1].counts.replays == 0


CALLED = [ToolCall("send_email", {"to": "evil", "subject": "x"}), ToolCall("read_inbox")]


@pytest.mark.parametrize(
    ("wanted", "notes"),
    [
        (calls_tool("send_email", to="evil"), []),
        (
            calls_tool("send_emial"),
            [
                (
                    "no call of 'send_emial' in any run; did you mean 'send_email'? tools seen: "
                    "'read_inbox' and 'send_email'"
                )
            ],
        ),
        (
            ~calls_tool("send_email", subjekt="x") & calls_in_order("read_inbox", "stop"),
            [
                (
                    "no call of 'send_email' has an argument 'subjekt'; did you mean 'subject'? "
                    "arguments seen: 'subject' and 'to'"
                ),
                "no call of 'stop' in any run; tools seen: 'read_inbox' and 'send_email'",
            ],
        ),
        (
            next_call(None, too=contains("x")),
            ["no call has an argument 'too'; did you mean 'to'? arguments seen: 'subject' and 'to'"],
        ),
        (number_of_calls("stop", at_most=0), []),
        (number_of_calls("a\x1bb", at_least=1), ["no call of 'a\\\\x1bb' in any run; tools seen: "]),
    ],
)
def test_names_that_no_call_has_are_noted(wanted: Any, notes: list[str]) -> None:
    def calling(_question: str, _sources: Any) -> Answer:
        return Answer("done", calls=tuple(CALLED))

    def answering(_question: str, _sources: Any) -> Answer:
        return Answer("done")

    found = Explainer(calling, predicate=wanted).explain("?", ["a"]).notes
    noted = [each for each in found if "no call" in each]
    assert len(noted) == len(notes)
    assert all(each.startswith(said) for each, said in zip(noted, notes, strict=True))
    unknown = Explainer(answering, predicate=wanted).explain("?", ["a"]).notes
    assert not [each for each in unknown if "no call" in each]


def test_the_place_of_a_call_without_readable_arguments_is_not_known() -> None:
    """LangChain lists calls whose arguments are no JSON apart from those of the same reply."""
    send, pay = ToolCall("send", {"n": 1}, step=1), ToolCall("pay", '{"to": ', step=1)
    for order in (("pay", "send"), ("send", "pay")):
        mixed = judged_of(calls_in_order(*order), run(send, pay))
        assert mixed.verdict is Verdict.UNKNOWN
        assert "the order of the calls of one reply is not known" in mixed.reason
    later = replace(pay, step=2)
    assert judged_of(calls_in_order("send", "pay"), run(send, later)).verdict is Verdict.HOLDS
    assert judged_of(calls_in_order("pay", "send"), run(send, later)).verdict is Verdict.BREAKS
    both = run(replace(send, arguments="{"), pay)
    assert judged_of(calls_in_order("send", "pay"), both).verdict is Verdict.HOLDS
    other = run(ToolCall("look", "{", step=1), send, replace(later, arguments={}))
    assert judged_of(calls_in_order("send", "pay"), other).verdict is Verdict.HOLDS
