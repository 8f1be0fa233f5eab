"""A condition that is not met with all sources is said before anything more is paid, and first."""

import logging
import pickle
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, cast

import pytest
from typing_extensions import override

from rag_rule_explainer import (
    Explainer,
    InvalidInput,
    Source,
    cites,
    condition,
    contains,
    same_answer,
)
from rag_rule_explainer.errors import AnswerNotRepeatable, BaselineFailed, ConditionFalse
from rag_rule_explainer.predicates import Predicate
from rag_rule_explainer.report import as_text
from rag_rule_explainer.verdicts import Answer, Case, Judgement, Verdict

SOURCES = [Source("a", "Twenty days of leave."), Source("b", "Dogs are welcome."), Source("c", "Lunch.")]


class Days:
    """Answers "20 days" where a is shown, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        self.asked += 1
        return "20 days" if "a" in [source.id for source in sources] else "no"


AS_TEXT: list[Callable[[Any], bool]] = [
    lambda answer: "20" in answer,
    lambda case: case == "20 days",
    lambda case: case != "no",
    lambda case: case in {"20 days"},
    lambda case: str(case).startswith("20"),
    lambda case: case.answer == "20 days",
    lambda case: "20" in case.answer,
    lambda case: case.answer != "no",
    lambda case: case.answer in {"20 days", "30 days"},
    lambda case: f"{case.answer}".endswith("days"),
    lambda case: case.answer == case.baseline,
    lambda case: case == case.baseline,
    lambda case: case.baseline == case,
    lambda case: cast("bool", Judgement(case == "20 days")),
]


@pytest.mark.parametrize("condition", AS_TEXT)
def test_an_answer_and_a_case_are_their_text_beside_a_text(condition: Callable[[Any], bool]) -> None:
    explanation = Explainer(Days(), predicate=condition).explain("?", SOURCES)
    assert [rule.sources for rule in explanation.retention_rules] == [("a",)]
    assert [rule.sources for rule in explanation.omission_rules] == [("a",)]
    assert not explanation.warnings


MEANING_NOTHING: list[Callable[[Any], bool]] = [
    lambda case: "a" in case.kept,
    lambda case: case.kept[0] == "a",
    lambda case: 20 in case,
    lambda case: len(case) > 2,
    lambda case: case[0] == "2",
    lambda case: case == 20,
    lambda case: case.answer != 20.0,
    lambda case: case == case.kept[0],
    lambda case: case.answer == b"20 days",
]


@pytest.mark.parametrize("condition", MEANING_NOTHING)
def test_what_means_nothing_about_a_text_is_an_error(condition: Callable[[Any], bool]) -> None:
    with pytest.raises(Exception, match="TypeError"):
        Explainer(Days(), predicate=condition).explain("?", SOURCES)


@pytest.mark.parametrize(
    "judgement", [Judgement(cast("Any", "yes")), Judgement(Verdict.HOLDS, cast("Any", 3))]
)
def test_a_judgement_of_something_else_is_an_error(judgement: Judgement) -> None:
    """It once made an explanation that was complete, had no rules and could not be read back."""
    with pytest.raises(InvalidInput, match="must be a Verdict, True or False, and the second"):
        Explainer(Days(), predicate=lambda _: judgement).explain("?", SOURCES)


def test_a_verdict_that_is_unknown_without_a_reason_says_that_none_was_given() -> None:
    explanation = Explainer(Days(), predicate=lambda _: Verdict.UNKNOWN).explain("?", SOURCES)
    assert not explanation.complete
    assert {each.reason for each in explanation.unresolved} == {
        "the condition gave no verdict and no reason"
    }


class Wordless(Exception):
    """An error that cannot say what it is."""

    @override
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_say_what_it_is_has_its_type_named() -> None:
    def fails(_: Case) -> bool:
        raise Wordless

    with pytest.raises(BaselineFailed, match="failed on the baseline's answer: Wordless"):
        Explainer(Days(), predicate=fails).explain("?", SOURCES)


@pytest.mark.parametrize("joined", ["&", "|"])
def test_a_function_stands_before_a_condition_as_it_stands_after_it(joined: str) -> None:
    def is_short(case: Case) -> bool:
        return len(case.answer.text) < 9

    long = contains("20")
    both = (is_short & long, long & is_short) if joined == "&" else (is_short | long, long | is_short)
    rules = [
        [rule.sources for rule in Explainer(Days(), predicate=each).explain("?", SOURCES).rules]
        for each in both
    ]
    assert rules[0] == rules[1]


def test_answers_are_equal_where_their_texts_and_values_are() -> None:
    """``case.answer == case.baseline`` asks for the text, while tokens differ from run to run."""
    answer = Answer("yes", {"dose": 2}, {"in": 3}, "stop", "so", ("a",), ("a",))
    assert answer == Answer("yes", {"dose": 2})
    assert Answer("yes") != Answer("no")
    assert Answer("yes", {"dose": 2}) != Answer("yes", {"dose": 3})
    assert hash(Answer("yes", usage={"input_tokens": 1})) == hash("yes")
    case = Case("?", Answer("yes"), Answer("no"), ())
    assert case == Case("?", Answer("yes"), Answer("no"), ())
    assert case != Case("?", Answer("no"), Answer("no"), ())
    assert pickle.loads(pickle.dumps(case)) == case  # noqa: S301 -- our own


def test_an_answer_is_compared_with_the_baseline_by_its_text() -> None:
    calls = count(1)

    def replay(_: str, sources: Sequence[Source]) -> Answer:
        return Answer("20 days" if sources else "?", usage={"input_tokens": next(calls)})

    explanation = Explainer(replay, predicate=lambda case: case.answer == case.baseline).explain(
        "?", SOURCES
    )
    assert {rule.sources for rule in explanation.retention_rules} == {(each.id,) for each in SOURCES}
    assert explanation.complete


@pytest.mark.parametrize("rules", ["both", "retention", "omission"])
def test_it_is_said_at_once_and_first(rules: Any, caplog: pytest.LogCaptureFixture) -> None:
    replay, told = Days(), list[int]()

    class Telling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(replay.asked)

    log, handler = logging.getLogger("rag_rule_explainer"), Telling()
    log.addHandler(handler)
    explanation = Explainer(replay, predicate=contains("30"), rules=rules).explain("?", SOURCES)
    log.removeHandler(handler)
    assert told == [1]  # when only the answer was paid
    assert "the answer does not contain '30'. The answer is '20 days'" in explanation.warnings[0]
    assert "WARNING: with all sources the condition is not met" in as_text(explanation).splitlines()[2]
    assert str(explanation).startswith("WARNING: with all sources the condition is not met")


def test_or_it_ends_there() -> None:
    replay = Days()
    with pytest.raises(ConditionFalse, match="Nothing else was asked") as told:
        Explainer(replay, predicate=contains("30"), false_condition="error").explain("?", SOURCES)
    assert replay.asked == 1
    assert pickle.loads(pickle.dumps(told.value)).finding == told.value.finding  # noqa: S301 -- our own
    assert (
        not Explainer(Days(), predicate=contains("20"), false_condition="error")
        .explain("?", SOURCES)
        .warnings
    )
    with pytest.raises(InvalidInput, match="false_condition is 'no'; give one of 'warn', 'error'"):
        Explainer(Days(), false_condition="no")  # type: ignore[arg-type] -- a mistake, on purpose


def test_a_condition_of_omissions_that_is_met_anyhow_is_said_as_well() -> None:
    explainer = Explainer(Days(), predicate=contains("20"), omission_predicate=contains("days"))
    assert "the answer contains 'days'" in explainer.explain("?", SOURCES).warnings[0]


def test_one_rule_may_be_about_any_condition() -> None:
    explainer = Explainer(Days(), predicate=contains("30"), false_condition="error")
    assert not explainer.verify(["a"], "retention", "?", SOURCES).holds


def test_votes_are_named_where_the_wording_is_not_the_trouble() -> None:
    def told(predicate: Predicate) -> str:
        answers = iter(["20 days", "thirty", "20 days", "thirty"])
        with pytest.raises(AnswerNotRepeatable) as raised:
            Explainer(lambda _question, _sources: next(answers), predicate=predicate).explain(
                "?", SOURCES
            )
        return str(raised.value).partition("Second answer")[2]

    assert "'thirty'. Put several answers to the vote with noise=Noise(samples=9)" in told(contains("20"))
    assert "Judge what matters instead of the wording" in told(same_answer())
    assert "--samples 9" in told(same_answer())


def test_a_condition_on_a_source_that_there_is_none_of() -> None:
    said = "the condition names 'aa', which is no source; did you mean 'a'? the sources are 'a', 'b', 'c'"
    explanation = Explainer(Days(), predicate=~cites("aa") & contains("20")).explain("How many?", SOURCES)
    assert explanation.warnings == (said,)
    with pytest.raises(ConditionFalse, match=re.escape(said)):
        Explainer(Days(), cites("aa"), false_condition="error").explain("How many?", SOURCES)


CASE_FOR_TEXT: list[Callable[[Any], Any]] = [
    lambda case: re.search("20", case),
    lambda case: re.search("20", case.answer),
    lambda case: case.lower() == "20 days",
    lambda case: case.answer.startswith("20"),
    lambda case: len(case) > 3,
    lambda case: case[:2] == "20",
    lambda case: float(case) > 3,
]


@pytest.mark.parametrize("function", CASE_FOR_TEXT)
def test_a_function_that_takes_the_case_for_a_text_is_told_where_that_is(
    function: Callable[[Any], Any],
) -> None:
    said = "a predicate is given a Case, and the text of its answer is case.answer.text"
    with pytest.raises(BaselineFailed, match=said):
        Explainer(Days(), predicate=function).explain("How many?", SOURCES)


RETURNED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda _case: None, "the predicate returned None: it has no return, or its search found nothing"),
    (
        lambda case: re.search("20", case.answer.text),
        r"the predicate returned a Match, not a bool: write bool\(re.search\(...\)\); return True, False",
    ),
    (lambda _case: "yes", "the predicate returned 'yes', of type str; return True, False, a Verdict"),
    (lambda _case: 1, "the predicate returned 1, of type int; return True, False, a Verdict"),
]


@pytest.mark.parametrize(("function", "said"), RETURNED)
def test_what_comes_out_of_a_function_and_is_no_verdict(
    function: Callable[[Any], Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}"):
        Explainer(Days(), predicate=function).explain("How many?", SOURCES)


def no_parameter() -> bool:
    return True


def two_parameters(_question: str, _answer: str) -> bool:
    return True


@pytest.mark.parametrize("function", [no_parameter, two_parameters])
def test_a_function_of_anything_but_one_case_is_told_before_anything_is_paid(
    function: Callable[..., bool],
) -> None:
    said = rf"{function.__name__}, which cannot be called with one Case"
    with pytest.raises(InvalidInput, match=said):
        condition(function)
    with pytest.raises(InvalidInput, match=said):
        Explainer(Days(), predicate=function)


def test_a_replay_of_another_shape_is_told_before_anything_is_asked() -> None:
    with pytest.raises(
        InvalidInput, match=r"cannot be called with two arguments; give a function of \(question, sou"
    ):
        Explainer(two_parameters.__name__.join)  # type: ignore[arg-type] -- a mistake, on purpose


READ_BESIDE_THE_ANSWER: list[Callable[[Any], object]] = [
    lambda case: case.kept,
    lambda case: case.sources,
    lambda case: case.answer.finish_reason,
    lambda case: case.baseline.usage,
    lambda case: case.answer.seen,
    lambda case: case.answer.note,
]


@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize("read", READ_BESIDE_THE_ANSWER)
def test_a_condition_that_is_remembered_gets_nothing_else(
    read: Callable[[Any], object], catches: bool
) -> None:
    """Its judgement of an answer was once used for the same answer on other sources."""

    def judge(case: Case) -> bool:
        with suppress(InvalidInput if catches else ZeroDivisionError):
            read(case)
        return "20" in case

    named = condition(judge, "it rests on two", remembered_as="k")
    with pytest.raises(InvalidInput, match=r"reads case\.\S+, but with remembered_as it is judged once"):
        Explainer(Days(), predicate=named).explain("?", SOURCES)


def test_a_condition_that_is_remembered_judges_each_value() -> None:
    def replay(_: str, sources: Sequence[Source]) -> Answer:
        return Answer("so", {"days": 20 if "a" in [source.id for source in sources] else 0})

    def many(case: Case) -> bool:
        return case.answer.value["days"] > 9

    found = [
        Explainer(replay, predicate=each).explain("?", SOURCES).retention_rules
        for each in (many, condition(many, "many", remembered_as="k"))
    ]
    assert [rule.sources for rule in found[0]] == [rule.sources for rule in found[1]] == [("a",)]


def test_a_condition_that_changes_a_value_judges_the_same_value_again() -> None:
    values: dict[bool, Any] = {True: ["x"], False: []}

    def replay(_: str, sources: Sequence[Source]) -> Answer:
        return Answer("so", values["a" in [source.id for source in sources]])

    def grows(case: Case) -> bool:
        case.answer.value.append("y")
        return len(case.answer.value) == 2

    explanation = Explainer(replay, predicate=grows).explain("?", SOURCES)
    assert [rule.sources for rule in explanation.retention_rules] == [("a",)]
    assert values == {True: ["x"], False: []}
