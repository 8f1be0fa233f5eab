"""What is counted, what is asked, and what is said of it."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import (
    Answer,
    Case,
    InvalidInput,
    JudgeCheck,
    Judgement,
    JudgeRequest,
    LabelledCase,
    Limits,
    Price,
    Retries,
    Settings,
    Source,
    Store,
    Verdict,
    check_judge,
    cites,
    condition,
    consistent_with,
    contains,
    judged,
    mentions_source,
    same_answer,
)
from rag_rule_explainer.checking.trial import INTERRUPTED, JudgeTrial
from rag_rule_explainer.predicates import ConsistentWith
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import OfflineJudge
from tests.checking.ways import near_exactly

FAIL_AT_ONCE = Settings(retries=0)


def cases(
    *given: tuple[str, bool], question: str = "Who found radium?", **more: Any
) -> list[LabelledCase]:
    return [LabelledCase(question, answer, label, **more) for answer, label in given]


def counts(check: JudgeCheck) -> tuple[int, int, int, int, int]:
    return check.tp, check.fp, check.tn, check.fn, check.unknown


RADIUM = cases(
    ("Marie Curie.", True),
    ("Mme Curie", True),
    ("Pierre", False),
    ("marie  curie", False),
    truth="Marie Curie",
)


def test_each_case_counts_where_it_belongs() -> None:
    check = check_judge(RADIUM, consistent_with("Marie Curie"))
    assert counts(check) == (1, 1, 1, 1, 0)
    assert (check.cases, check.distinct, check.judge_requests) == (4, 4, 0)
    assert [(s.count, s.of) for s in (check.precision, check.recall, check.false_positive_rate)] == [
        (1, 2),
        (1, 2),
        (1, 2),
    ]
    assert [(each.id, each.label, each.verdict) for each in check.disagreements] == [
        ("case 2", True, Verdict.BREAKS),
        ("case 4", False, Verdict.HOLDS),
    ]


def test_the_shares_are_of_what_their_names_say() -> None:
    given = [("yes", True)] * 7 + [("no", True)] * 3 + [("yes", False)] * 2 + [("no", False)] * 18
    check = check_judge(cases(*given), contains("yes"))
    assert (check.precision.value, check.precision.of) == (7 / 9, 9)
    assert (check.recall.value, check.recall.of) == (0.7, 10)
    assert (check.false_positive_rate.value, check.false_positive_rate.of) == (0.1, 20)


def test_a_negation_turns_the_verdicts() -> None:
    plain = check_judge(RADIUM, contains("curie"))
    turned = check_judge(RADIUM, ~contains("curie"))
    assert (plain.tp, plain.fp, plain.tn, plain.fn) == (turned.fn, turned.tn, turned.fp, turned.tp)


def test_each_case_has_its_own_truth_where_it_brings_one() -> None:
    given = [
        LabelledCase("Who?", "Marie Curie", True, truth="marie curie", id="a"),
        LabelledCase("When?", "1898", True, truth="1898.", id="b"),
        LabelledCase("When?", "1898", False, truth="1910", id="c"),
    ]
    check = check_judge(given, predicate_of=near_exactly)
    assert counts(check) == (2, 0, 1, 0, 0)
    assert (
        check.condition == "the answer is consistent with 'marie curie'; of each case its own, 3 in all"
    )


def test_what_a_case_brings_reaches_the_predicate() -> None:
    sources = (Source("D1", "radium"), Source("D2", "tea", {"title": "On tea"}))
    shown = LabelledCase("Who?", "[D1]", True, sources=sources)
    assert counts(check_judge([shown], cites("D1"))) == (1, 0, 0, 0, 0)
    hidden = LabelledCase("Who?", "[D1]", False, sources=sources, kept=sources[1:])
    assert counts(check_judge([hidden], cites("D1"))) == (0, 0, 1, 0, 0)
    named = LabelledCase("Who?", "as On Tea says", True, sources=sources)
    assert counts(check_judge([named], mentions_source("D2"))) == (1, 0, 0, 0, 0)
    same = LabelledCase("Who?", Answer("Marie"), True, baseline="marie.")
    assert counts(check_judge([same], same_answer())) == (1, 0, 0, 0, 0)


def asking(judge: OfflineJudge) -> Callable[[LabelledCase], ConsistentWith]:
    return lambda case: consistent_with(str(case.truth), judge=judge)


class TestUnknown:
    def test_it_is_neither_right_nor_wrong(self) -> None:
        def judge(request: JudgeRequest) -> dict[str, object]:
            said = {"good": True, "bad": False}
            return {
                each.id: {"verdict": said.get(each.answer, "unsure"), "reason": f"it is {each.answer}"}
                for each in request.candidates
            }

        given = cases(("good", True), ("odd", True), ("bad", False), ("good", False), ("strange", False))
        check = check_judge(given, judged("is good", judge))
        assert counts(check) == (1, 1, 1, 0, 2)
        assert (check.precision.of, check.recall.of, check.false_positive_rate.of) == (2, 1, 2)
        assert [(each.id, each.reason) for each in check.undecided] == [
            ("case 2", "it is odd"),
            ("case 5", "it is strange"),
        ]
        assert [each.id for each in check.disagreements] == ["case 4"]
        said = str(check).splitlines()
        assert "UNKNOWN              2 of 5 have no verdict, and are in none of these figures" in said
        assert "labelled true                   1             0             1" in said
        assert "labelled false                  1             1             1" in said
        assert "  case 2: labelled true, no verdict: 'odd' (it is odd)" in said

    def test_a_predicate_that_fails_is_no_verdict(self) -> None:
        def fails(case: Any) -> bool:
            raise ValueError(f"cannot read {case.answer.text}")

        check = check_judge(cases(("a", True), ("b", False)), condition(fails))
        assert counts(check) == (0, 0, 0, 0, 2)
        assert "cannot read a" in check.undecided[0].reason
        assert check.stop_reason == ""

    def test_a_judge_that_always_fails_is_given_up(self) -> None:
        asked: list[JudgeRequest] = []

        def judge(request: JudgeRequest) -> dict[str, bool]:
            asked.append(request)
            raise ConnectionError("no route")

        given = [LabelledCase(f"question {n}", "answer", True) for n in range(100)]
        settings = Settings(retries=0, concurrency=1, limits=Limits(failures=3))
        check = check_judge(given, judged("is good", judge), settings=settings)
        assert len(asked) == 3
        assert check.unknown == 100
        assert "limits.failures" in check.stop_reason
        assert "no route" in check.stop_reason


class TestUndefined:
    @pytest.mark.parametrize(
        ("given", "undefined"),
        [
            ([("yes", True), ("no", True)], ["false_positive_rate"]),
            ([("yes", False), ("no", False)], ["recall"]),
            ([("no", False), ("no!", True)], ["precision"]),
            ([("no", False)], ["precision", "recall"]),
        ],
    )
    def test_a_share_of_nothing_is_said_to_be_none(
        self, given: Sequence[tuple[str, bool]], undefined: list[str]
    ) -> None:
        check = check_judge(cases(*given), contains("yes"))
        names = ("precision", "recall", "false_positive_rate")
        assert [name for name in names if getattr(check, name).value is None] == undefined
        said = str(check)
        assert said.count("undefined: no case") == len(undefined)
        assert all(getattr(check, name).undefined for name in undefined)


class TestAsking:
    def test_a_thousand_labels_with_forty_answers_cost_two_requests(self) -> None:
        judge = OfflineJudge(["1"])
        given = cases(*((f"answer {n % 40}", n % 40 == 1) for n in range(1000)))
        check = check_judge(given, judged("has a one", judge, batch=20))
        assert (check.judge_requests, len(judge.requests)) == (2, 2)
        assert len(judge.answers) == 40
        assert (check.cases, check.distinct) == (1000, 40)
        assert check.disagreements == ()
        assert check.tp + check.tn == 1000
        assert check.tokens["input_tokens"] > 0

    def test_opinions_are_asked_for_together(self) -> None:
        judge = OfflineJudge(["1"])
        given = cases(*((f"answer {n}", True) for n in range(40)))
        check_judge(given, judged("has a one", judge, batch=20, judge_samples=3))
        assert len(judge.requests) == 4  # two of three opinions agree

    def test_the_judge_is_asked_only_where_the_wording_differs(self) -> None:
        judge = OfflineJudge()
        check = check_judge(RADIUM, predicate_of=asking(judge))
        assert sorted(judge.answers) == ["Mme Curie", "Pierre"]
        assert check.judge_requests == 2

    def test_another_truth_is_another_matter(self) -> None:
        judge = OfflineJudge()
        given = [LabelledCase("Who?", "she did", True, truth=truth) for truth in ("Ada", "Eve", "Ada")]
        check = check_judge(given, predicate_of=asking(judge))
        assert (check.judge_requests, check.distinct) == (2, 2)
        assert {request.matter.truth for request in judge.requests} == {"Ada", "Eve"}

    @pytest.mark.waits
    def test_no_more_at_once_than_is_wanted(self) -> None:
        running: list[int] = []
        peak: list[int] = []
        three = asyncio.Event()

        async def slow(_: object) -> bool:
            running.append(1)
            peak.append(len(running))
            # Nobody is done before three are at it, and the others come only then.
            if max(peak) == 3:
                three.set()
            await three.wait()
            await asyncio.sleep(0)
            running.pop()
            return True

        check = check_judge(
            cases(*((f"{n}", True) for n in range(20))), slow, settings=Settings(concurrency=3)
        )
        assert check.tp == 20
        assert max(peak) == 3

    def test_what_failed_for_a_moment_is_asked_again(self) -> None:
        tries: list[int] = []

        def judge(request: JudgeRequest) -> dict[str, bool]:
            tries.append(1)
            if len(tries) == 1:
                raise ConnectionError("reset")
            return dict.fromkeys(request.ids, True)

        settings = Settings(retries=Retries(most=1, first_wait=0.0, longest_wait=0.0))
        assert check_judge(cases(("a", True)), judged("is a", judge), settings=settings).tp == 1
        assert len(tries) == 2

    def test_a_store_pays_once(self, tmp_path: Path) -> None:
        settings = Settings(store=Store(str(tmp_path / "a.db"), "labels"))
        judge = OfflineJudge(["Curie"])
        first = check_judge(RADIUM, judged("names a Curie", judge), settings=settings)
        again = check_judge(RADIUM, judged("names a Curie", judge), settings=settings)
        close_all()
        assert (first.judge_requests, again.judge_requests, len(judge.requests)) == (4, 0, 4)
        assert counts(again) == counts(first)
        assert [each.reason for each in again.disagreements] == [e.reason for e in first.disagreements]

    def test_a_store_keeps_what_a_function_of_that_name_said(self, tmp_path: Path) -> None:
        asked: list[object] = []

        def is_female(case: Case) -> bool:
            asked.append(case)
            return "Pierre" not in case.answer.text

        predicate = condition(is_female, "it is about her", remembered_as="names 1")
        settings = Settings(store=Store(str(tmp_path / "a.db"), "labels"))
        first, again = (check_judge(RADIUM, predicate, settings=settings) for _ in range(2))
        close_all()
        assert len(asked) == 4
        assert counts(first) == counts(again) == (2, 1, 1, 0, 0)

    def test_inside_a_running_loop(self) -> None:
        async def caller() -> JudgeCheck:
            return check_judge(RADIUM, judged("names a Curie", OfflineJudge(["curie"])))

        assert counts(asyncio.run(caller())) == (2, 1, 1, 0, 0)


class TestStopping:
    def test_a_limit_leaves_the_rest_unknown_and_what_was_paid_for_counted(self) -> None:
        judge = OfflineJudge(["1"])
        given = cases(*((f"answer {n}", n == 1) for n in range(40)))
        settings = Settings(concurrency=1, limits=Limits(cost=0.001), prices={"*": Price(1_000, 0)})
        check = check_judge(given, judged("has a one", judge, batch=10), settings=settings)
        assert len(judge.requests) == 1
        assert (check.unknown, check.tp + check.tn) == (30, 10)
        assert "0.001 in cost is reached" in check.stop_reason
        assert check.cost is not None
        assert check.cost > 0.001
        assert {each.reason for each in check.undecided} == {check.stop_reason}
        assert f"stopped: {check.stop_reason}" in str(check).splitlines()

    def test_an_interrupt_keeps_what_was_judged(self) -> None:
        trials: list[JudgeTrial] = []

        def judge(request: JudgeRequest) -> dict[str, bool]:
            trials[0].interrupt()
            return dict.fromkeys(request.ids, True)

        async def run() -> list[Judgement]:
            trials.append(JudgeTrial(Settings(concurrency=1)))
            predicate = judged("is good", judge)
            given = [(predicate, LabelledCase(f"question {n}", "a", True).case) for n in range(5)]
            return [item.judgement for item in await trials[0].judged(given)]

        verdicts = [judgement.verdict for judgement in asyncio.run(run())]
        assert verdicts.count(Verdict.HOLDS) == 1
        assert verdicts.count(Verdict.UNKNOWN) == 4
        assert trials[0].stop_reason == INTERRUPTED

    def test_a_store_that_fails_ends_it(self, tmp_path: Path) -> None:
        store = Store(str(tmp_path / "a.db"), "labels")

        def judge(request: JudgeRequest) -> dict[str, bool]:
            close_all()
            return dict.fromkeys(request.ids, True)

        given = [LabelledCase(f"question {n}", "a", True) for n in range(3)]
        check = check_judge(
            given,
            judged("is good", judge, judge_name="j"),
            settings=Settings(store=store, concurrency=1),
        )
        close_all()
        assert check.unknown == 3
        assert check.stop_reason.startswith("the store failed: ")


class TestProgress:
    def test_it_counts_up_to_all(self) -> None:
        told: list[tuple[int, int]] = []
        given = cases(("a", True), ("b", True), ("a", True))
        check_judge(given, contains("a"), progress=lambda done, of: told.append((done, of)))
        assert sorted(told) == told
        assert told[-1] == (3, 3)
        assert len(told) == 2

    def test_one_that_breaks_costs_nothing(self) -> None:
        told: list[int] = []

        def broken(done: int, _: int) -> None:
            told.append(done)
            raise RuntimeError("no terminal")

        assert check_judge(cases(("a", True), ("b", False)), contains("a"), progress=broken).tn == 1
        assert len(told) == 1


class TestWarnings:
    def test_labels_that_contradict_each_other(self) -> None:
        check = check_judge(cases(("a", True), ("b", True), ("a", False)), contains("a"))
        assert check.warnings[0] == (
            "answers that are labelled both true and false: 1, such as that of case 1 and case 3; "
            "no judge can agree with both"
        )
        assert counts(check) == (1, 1, 0, 1, 0)

    def test_cases_that_repeat_others(self) -> None:
        (warning,) = check_judge(cases(("a", True), ("a", True), ("b", False)), contains("a")).warnings
        assert warning.startswith("1 of the 3 cases repeat others; ")

    def test_none_without_a_reason(self) -> None:
        assert check_judge(cases(("a", True), ("b", False)), contains("a")).warnings == ()


class TestTelling:
    def test_json_and_back(self) -> None:
        check = check_judge(cases(("a", True), ("\udc80", False)), judged("is a", OfflineJudge(["a"])))
        assert JudgeCheck.model_validate_json(check.model_dump_json()) == check
        with pytest.raises(ValueError, match="extra"):
            JudgeCheck.model_validate({**check.model_dump(), "f1": 1.0})

    def test_as_many_as_are_wanted_in_the_order_of_the_cases(self) -> None:
        given = cases(*((f"wrong {n}", True) for n in range(30)))
        check = check_judge(given, contains("right"))
        for show in (0, 3, 10, 30):
            said = list(check.lines(show))
            shown = [line for line in said if line.startswith("  case ")]
            assert [line.split(":")[0].strip() for line in shown] == [
                f"case {n + 1}" for n in range(show)
            ]
            assert f"disagreements: 30{'' if show == 30 else f', {show} of them here'}" in said
        assert str(check).splitlines() == list(check.lines(10))
        assert (
            repr(check)
            == "<JudgeCheck of \"the answer contains 'right'\": 0 tp, 0 fp, 0 tn, 30 fn, 0 unknown>"
        )

    def test_hostile_text_cannot_touch_a_terminal(self) -> None:
        evil = "\x1b[31mred\n\u202e[bold]" + "x" * 10_000
        (case,) = [LabelledCase(evil, evil, True, id=evil)]
        said = list(check_judge([case], contains("right\x1b[0m")).lines())
        assert all(character.isprintable() for line in said for character in line)
        assert max(map(len, said)) < 1300


class TestBadInput:
    @pytest.mark.parametrize("label", [1, "true", None, "false"])
    def test_a_label_is_true_or_false(self, label: Any) -> None:
        with pytest.raises(InvalidInput, match="give True or False"):
            LabelledCase("Who?", "a", label)

    def test_a_question_and_an_answer(self) -> None:
        with pytest.raises(InvalidInput, match="empty question"):
            LabelledCase(" ", "a", True)
        with pytest.raises(InvalidInput, match="an answer is int"):
            LabelledCase("Who?", 7, True)  # type: ignore[arg-type] -- a mistake, on purpose

    def test_no_cases_and_doubled_ones(self) -> None:
        with pytest.raises(InvalidInput, match="no labelled cases"):
            check_judge([], contains("a"))
        with pytest.raises(InvalidInput, match="'x' stands for two cases"):
            check_judge(cases(("a", True), ("b", True), id="x"), contains("a"))
        with pytest.raises(InvalidInput, match="case 1 is str; give a LabelledCase"):
            check_judge(["a"], contains("a"))  # type: ignore[list-item] -- a mistake, on purpose

    def test_one_predicate(self) -> None:
        for given in ({}, {"predicate": contains("a"), "predicate_of": near_exactly}):
            with pytest.raises(InvalidInput, match="and not both"):
                check_judge(RADIUM, **given)  # type: ignore[arg-type] -- a mistake, on purpose
        with pytest.raises(InvalidInput, match=r"on case 2: .*None; give a str"):
            check_judge(
                [*RADIUM[:1], LabelledCase("Who?", "a", True)],
                # A mistake, on purpose.
                predicate_of=lambda case: consistent_with(case.truth),  # type: ignore[arg-type]
            )

    def test_settings(self) -> None:
        with pytest.raises(InvalidInput, match="give Settings"):
            # A mistake, on purpose.
            check_judge(RADIUM, contains("a"), settings={"retries": 0})  # type: ignore[arg-type]

    def test_a_function_that_returns_no_truth(self) -> None:
        asked: list[object] = []
        with pytest.raises(InvalidInput, match="return True, False"):
            check_judge(
                RADIUM,
                # A mistake, on purpose.
                lambda case: asked.append(case) or "yes",  # type: ignore[arg-type]
                settings=Settings(concurrency=1),
            )
        assert len(asked) == 1

    def test_a_cost_that_cannot_be_known(self) -> None:
        judge = OfflineJudge(["a"])
        given = cases(*((f"answer {n}", True) for n in range(5)))
        settings = Settings(concurrency=1, limits=Limits(cost=1), prices={"gpt": Price(1, 1)})
        with pytest.raises(InvalidInput, match="no price for every model"):
            check_judge(given, judged("is a", judge, batch=1), settings=settings)
        assert len(judge.requests) == 1


def test_nothing_is_left_running() -> None:
    before = {thread.name for thread in threading.enumerate()}
    check_judge(RADIUM, contains("a"))
    allowed = before | {"rag-rule-loop", "rag-rule-replay"}
    assert {thread.name for thread in threading.enumerate()} <= allowed
