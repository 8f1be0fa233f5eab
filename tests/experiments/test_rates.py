"""Intervals over questions."""

import random

import pytest

from rag_rule_explainer.checking.figures import wilson
from rag_rule_explainer.experiments.rates import Rate, rate_of


def test_of_nothing_there_is_no_share() -> None:
    assert rate_of([]) == rate_of([(0, 0)] * 3) == Rate(None, None, None, 0, 0, 0)


def test_questions_that_count_once_are_wilsons_cases() -> None:
    found = rate_of([(1, 1)] * 7 + [(0, 1)] * 13 + [(0, 0)] * 5)
    assert (found.count, found.of, found.questions, found.value) == (7, 20, 20, 0.35)
    assert (found.low, found.high) == pytest.approx(wilson(7, 20))


def test_replies_that_are_all_alike_within_a_question_are_no_more_cases_than_questions() -> None:
    alike = rate_of([(23, 23)] * 7 + [(0, 23)] * 13)
    assert (alike.low, alike.high) == pytest.approx(wilson(7 * 19 / 20, 19))
    assert (alike.count, alike.of) == (161, 460)


@pytest.mark.parametrize("count", [0, 8])
def test_where_nothing_varies_each_question_is_one_case(count: int) -> None:
    found = rate_of([(count, 8)] * 30)
    assert (found.low, found.high) == wilson(30 * count / 8, 30)


def test_what_is_seen_on_few_questions_is_no_surer_than_what_is_seen_on_none() -> None:
    never, once = rate_of([(0, 20)] * 100), rate_of([(1, 20)] + [(0, 20)] * 99)
    assert never.high is not None
    assert once.high is not None
    assert once.high > never.high
    always, but_once = rate_of([(20, 20)] * 100), rate_of([(19, 20)] + [(20, 20)] * 99)
    assert always.low is not None
    assert but_once.low is not None
    assert but_once.low < always.low


def test_one_question_is_one_case() -> None:
    found = rate_of([(3, 8)])
    assert (found.low, found.high) == pytest.approx(wilson(3 / 8, 1))


def test_there_are_never_more_cases_than_were_counted() -> None:
    same = rate_of([(4, 8)] * 30)
    assert (same.low, same.high) == pytest.approx(wilson(120, 240))


@pytest.mark.parametrize("clustered", [0.0, 0.4, 1.0])
def test_as_many_intervals_hold_the_true_share_as_they_say(clustered: float) -> None:
    """``clustered``: how many of the replies to a question are copies of its first one."""
    draw, true, held, naive, runs = random.Random(5), 0.3, 0, 0, 400
    for _ in range(runs):
        pairs = list[tuple[int, int]]()
        for _ in range(50):
            of = draw.choice((8, 23))
            first = draw.random() < true
            copies = [first if draw.random() < clustered else draw.random() < true for _ in range(of - 1)]
            pairs.append((first + sum(copies), of))
        found = rate_of(pairs)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= true <= found.high
        low, high = wilson(found.count, found.of)
        naive += low <= true <= high
    assert 0.92 <= held / runs <= 0.98
    if clustered:
        # What it would be to take replies for independent.
        assert naive / runs < 0.75
