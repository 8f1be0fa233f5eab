"""What needs no model: the questions, and the brute force that rules are compared with."""

import json
from typing import Any

import pytest

from demos.paper_model.brute_force import minimal_rules, subsets_of
from demos.real_model.asked import FILE, question_in, read_questions

QUESTIONS = read_questions()


def test_the_right_document_alone_has_the_answer() -> None:
    for asked in QUESTIONS:
        having = [name for name, text in asked.documents.items() if asked.fact_in(text)]
        assert having == [asked.right], asked.question
        assert len(asked.documents) == 4


def test_no_two_documents_have_one_name() -> None:
    names = [name for asked in QUESTIONS for name in asked.documents]
    assert len(names) == len(set(names)) == 80
    assert sum(asked.fresh for asked in QUESTIONS) == 10


@pytest.mark.parametrize(
    "bad",
    [
        {"question": 5},
        {"question": "\ud800?"},
        {"accepted": [1]},
        {"accepted": [""]},
        {"documents": "policy-2024"},
        {"documents": ["policy-2024"]},
        {"documents": {"policy-2024": 5}},
        {"wrong": 5},
    ],
    ids=str,
)
def test_a_line_that_is_no_question_is_refused(bad: dict[str, Any]) -> None:
    """An empty text, for instance, would stand in every answer, and make it right."""
    line = json.loads(FILE.read_text(encoding="utf-8").splitlines()[0])
    assert question_in(json.dumps(line), "line 1").right == "policy-2024"
    with pytest.raises(ValueError, match="line 1: "):
        question_in(json.dumps({**line, **bad}), "line 1")


def test_an_answer_with_a_known_mistake_is_wrong() -> None:
    policy = next(asked for asked in QUESTIONS if asked.wrong)
    assert policy.is_right("They fly ECONOMY class.")
    assert not policy.is_right("Not economy, but business class.")
    assert not policy.is_right("They fly.")


def test_brute_force_finds_what_can_be_read_off() -> None:
    """It holds with the pair, or with the third one, so that one and one of the pair prevent it."""
    pair, third = frozenset("ab"), frozenset("c")
    holds = {frozenset(kept): pair <= set(kept) or third <= set(kept) for kept in subsets_of("abc")}
    assert minimal_rules(holds) == ({pair, third}, {frozenset("ac"), frozenset("bc")})


def test_a_subset_that_breaks_it_is_no_rule() -> None:
    """A document that prevents it when it stands beside the first one."""
    holds = {frozenset(kept): "a" in kept and "b" not in kept for kept in subsets_of("ab")}
    assert minimal_rules(holds) == (set(), {frozenset("a")})
    assert minimal_rules({**holds, frozenset("ab"): True})[0] == {frozenset("a")}
