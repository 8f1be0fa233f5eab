"""Two conditions on the same questions."""

import random
from math import inf

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.experiments.paired import paired_comparison
from tests.drawing import drawn, examples


def test_the_exact_chance_of_few_questions() -> None:
    first = {f"q{n}": 1.0 for n in range(5)}
    found = paired_comparison(first, dict.fromkeys(first, 0.0))
    assert (found.difference, found.questions) == (1, 5)
    assert found.p == 2 / 2**5  # all one way, or all the other
    assert (found.low, found.high) == (-inf, inf)  # the smallest p is above 5 %
    same = paired_comparison(first, first)
    assert (same.difference, same.p, same.differ) == (0, 1, 0)


def test_mcnemars_exact_test_is_the_same_for_yes_and_no() -> None:
    # 8 questions are right only under the first, 2 only under the second: 2 * P(at most 2 of 10).
    first = {f"q{n}": float(n < 8) for n in range(30)}
    second = {f"q{n}": float(8 <= n < 10) for n in range(30)}
    assert paired_comparison(first, second).p == pytest.approx(2 * (1 + 10 + 45) / 2**10)


def test_it_sees_what_intervals_of_each_hide() -> None:
    draw = random.Random(0)
    hard = {f"q{n}": draw.random() for n in range(40)}
    better = {name: value + 0.02 + 0.01 * draw.random() for name, value in hard.items()}
    found = paired_comparison(better, hard)
    assert found.p < 0.001
    assert 0.02 < found.low < found.difference < found.high < 0.03


def test_the_interval_has_the_differences_that_the_test_would_not_reject() -> None:
    changes = {"a": 0.0, "b": 0.25, "c": 0.5, "d": 0.0, "e": -0.25, "f": 1.0, "g": 0.75}
    found = paired_comparison(changes, dict.fromkeys(changes, 0.0))
    for true, kept in (
        (found.low - 0.01, False),
        (found.low + 0.01, True),
        (found.high - 0.01, True),
        (found.high + 0.01, False),
    ):
        assert (paired_comparison(changes, dict.fromkeys(changes, true)).p > 0.05) is kept


def test_an_interval_that_ends_at_0_holds_it() -> None:
    """Also if the floats do not: 0.9 - 0.8 is less than 0.1."""
    first = dict(zip("abcdefgh", [0.9, 0.9, 0.9, 0.9, 0.2, 0.3, 0.4, 0.0], strict=True))
    second = dict(zip("abcdefgh", [0.8, 0.8, 0.8, 0.8, 0.1, 0.2, 0.3, 0.1], strict=True))
    for one, other in ((first, second), (second, first)):
        found = paired_comparison(one, other)
        assert found.p > 0.05
        assert found.low <= 0 <= found.high
        assert "-0.000" not in str(found)


def test_where_few_questions_differ_no_difference_is_possible() -> None:
    first = {f"q{n}": 0.25 * (n < 4) for n in range(40)}
    found = paired_comparison(first, dict.fromkeys(first, 0.0))
    assert found.p == 2 / 2**4
    assert found.low == 0 < found.high


@drawn
def test_the_interval_holds_the_true_difference_as_often_as_it_says() -> None:
    """By drawing questions with replacement, it would in 87 % of the cases."""
    draw, names = random.Random(2), [f"q{n}" for n in range(8)]
    found = [
        paired_comparison({name: draw.gauss(0.5, 1) for name in names}, dict.fromkeys(names, 0.0))
        for _ in range(examples(400))
    ]
    held = sum(each.low <= 0.5 <= each.high for each in found)
    assert held >= 0.92 * len(found)


@drawn
def test_without_a_difference_it_errs_as_seldom_as_it_says() -> None:
    draw = random.Random(1)
    names = [f"q{n}" for n in range(20)]
    chances = [
        paired_comparison(
            {name: draw.gauss(0, 1) for name in names}, {name: draw.gauss(0, 1) for name in names}
        ).p
        for _ in range(examples(60))
    ]
    assert sum(p < 0.05 for p in chances) <= 0.15 * len(chances)  # a third of that in the mean


def test_questions_without_a_value_are_left_out() -> None:
    found = paired_comparison({"a": 1.0, "b": None, "c": 1.0}, {"a": 0.0, "b": 1.0})
    assert found.questions == 1
    with pytest.raises(InvalidInput, match="no question was measured under both"):
        paired_comparison({"a": 1.0}, {"b": 1.0})
