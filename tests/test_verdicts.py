"""What comes back from a replay."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import eq, ne

import pytest
from pydantic import BaseModel, ConfigDict

from rag_rule_explainer import Answer, Case, Explainer, Source
from rag_rule_explainer.errors import BaselineFailed


class Accessor(str):
    """As LangChain's messages have it."""

    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError("code of a subclass was run")


def test_a_text_is_a_str_and_nothing_more() -> None:
    for given in (Accessor("yes"), Answer(Accessor("yes"), finish_reason="stop")):
        answer = Answer.of(given)
        assert type(answer.text) is str
        assert answer.text == "yes"
    assert Answer.of(Answer(Accessor("yes"), finish_reason="stop")).finish_reason == "stop"


class Verdicted(BaseModel):
    """What a structured answer is parsed to."""

    verdict: str


@dataclass(frozen=True)
class Parsed:
    """The same as a dataclass."""

    verdict: str


@dataclass(frozen=True)
class Record:
    """A record of a user's, whose answer may be missing."""

    answer: Answer | None


class Recorded(BaseModel):
    """The same with pydantic."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    answer: Answer | None


class Expected(dict[str, str]):
    """A dict of a user's, which knows what it equals."""

    def __eq__(self, other: object) -> bool:
        return str(other) == "yes"

    __hash__ = None


ANSWER = Answer("yes", value={"verdict": "yes"})
CASE = Case("q", ANSWER, ANSWER, ())
OTHERS: list[object] = [
    *({"verdict": "yes"}, ["yes"], ("yes",), {"yes"}, frozenset({"yes"}), {}, [], 1, 1.0, True, b"yes"),
    *(Verdicted(verdict="yes"), Parsed("yes"), Source("d", "yes")),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: type(other).__name__)
@pytest.mark.parametrize("answer", [ANSWER, CASE], ids=["answer", "case"])
def test_an_answer_is_not_compared_with_what_no_answer_equals(answer: object, other: object) -> None:
    for compared in (eq, ne):
        for first, second in ((answer, other), (other, answer)):
            with pytest.raises(
                TypeError, match=r"not with \w+; write case\.answer\.text == .*\.value =="
            ):
                compared(first, second)


def test_an_answer_is_compared_with_answers_texts_and_objects_that_know_answers() -> None:
    assert Answer("yes", value={"verdict": "yes"}, note="else") == ANSWER
    assert Answer("yes") != ANSWER
    assert ANSWER == "yes" == ANSWER
    assert CASE == ANSWER == CASE
    assert ANSWER == Expected() == ANSWER
    assert object() != ANSWER
    assert ANSWER in {"yes", None, 1, ("yes",)}
    assert {ANSWER: 1}["yes"] == 1  # pyright: ignore[reportArgumentType] -- by its text
    assert hash(ANSWER) == hash("yes") == hash(CASE)


def test_records_are_compared_and_answers_searched_for_none() -> None:
    assert Record(None) != Record(ANSWER) != Record(None)
    assert Record(ANSWER) == Record(ANSWER)
    assert Recorded(answer=None) != Recorded(answer=ANSWER) != Recorded(answer=None)
    assert (ANSWER == None) is False  # noqa: E711 -- as users write it
    assert ANSWER != None  # noqa: E711 -- as users write it
    assert None not in (ANSWER,)


FUNCTIONS: list[Callable[[Case], bool]] = [
    lambda case: case.answer != None,  # noqa: E711 -- as users write it
    lambda case: case.answer == None,  # noqa: E711 -- a value may define == otherwise
    lambda case: case != None,  # noqa: E711 -- a value may define == otherwise
    lambda case: case.answer != {"verdict": "yes"},
    lambda case: case.answer == Parsed("yes"),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_condition_that_compares_an_answer_with_none_or_a_dict_is_told_what_to_compare(
    function: Callable[[Case], bool],
) -> None:
    async def later(case: Case) -> bool:
        return function(case)

    for given in (function, later):
        explainer = Explainer(lambda _, kept: ", ".join(each.id for each in kept), predicate=given)
        with pytest.raises(BaselineFailed, match=r"compared with .*case\.answer\.value"):
            explainer.explain("q", [Source("a", "A."), Source("b", "B.")])
    assert ANSWER != None  # noqa: E711 -- outside conditions a check for None is right


def test_a_condition_compares_what_was_parsed_with_anything() -> None:
    explainer = Explainer(
        lambda _, kept: Answer("yes" if kept else "no", value={"kept": [each.id for each in kept]}),
        # A value may define == otherwise.
        predicate=lambda case: case.answer.value != None and case.answer.value == {"kept": ["a", "b"]},  # noqa: E711
    )
    explanation = explainer.explain("q", [Source("a", "A."), Source("b", "B.")])
    assert [set(rule.sources) for rule in explanation.retention_rules] == [{"a", "b"}]
