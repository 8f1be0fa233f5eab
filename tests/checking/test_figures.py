"""The interval: against published values, and against how often it holds the true share."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.checking.figures import Share, share, wilson


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_published_examples(count: int, of: int, low: float, high: float) -> None:
    """Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, method 3."""
    assert wilson(count, of) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("of", [20, 50, 200])
def test_it_holds_the_true_share_about_as_often_as_it_says(of: int) -> None:
    """By summing over all outcomes: on average 95 %, and nowhere in between far below that."""
    intervals = [wilson(count, of) for count in range(of + 1)]
    covered = [
        sum(
            comb(of, count) * true**count * (1 - true) ** (of - count)
            for count, (low, high) in enumerate(intervals)
            if low <= true <= high
        )
        for true in (step / 200 for step in range(10, 191))
    ]
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.9


@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_it_holds_what_was_observed_and_stays_a_share(counted: tuple[int, int]) -> None:
    count, of = counted
    low, high = wilson(count, of)
    assert 0 <= low <= count / of <= high <= 1
    assert low < high
    assert (low == 0) == (count == 0)
    assert (high == 1) == (count == of)
    assert wilson(of - count, of) == pytest.approx((1 - high, 1 - low))


def test_a_share_of_nothing_is_no_number() -> None:
    nothing = share(0, 0, "no case was judged true")
    assert nothing == Share(0, 0, None, None, None, "no case was judged true")
    assert str(nothing) == "undefined: no case was judged true"


@pytest.mark.parametrize(
    ("count", "of", "told"),
    [
        (3, 4, "0.750 (3 of 4; 95% interval 0.301 to 0.954)"),
        (10_000, 10_000, "1.000 (10,000 of 10,000; 95% interval >0.999 to 1.000)"),
        (9_999, 10_000, ">0.999 (9,999 of 10,000; 95% interval 0.999 to >0.999)"),
        (1, 10_000, "<0.001 (1 of 10,000; 95% interval <0.001 to 0.001)"),
    ],
)
def test_no_decimal_makes_all_of_almost_all(count: int, of: int, told: str) -> None:
    assert str(share(count, of, "")) == told
