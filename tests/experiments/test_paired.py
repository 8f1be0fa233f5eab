"""Two conditions on the same questions."""

import random

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.experiments.paired import paired_comparison
from tests.drawing import drawn, examples


def test_the_exact_chance_of_few_questions() -> None:
    first = {f"q{n}": 1.0 for n in range(5)}
    found = paired_comparison(first, dict.fromkeys(first, 0.0))
    assert (found.difference, found.low, found.high, found.questions) == (1, 1, 1, 5)
    assert found.p == 2 / 2**5  # all one way, or all the other
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
