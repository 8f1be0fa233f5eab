"""The test behind a list of documents to blame, held against all draws that there could have been, and
the bound on false discoveries, held against its definition."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.audit.randomization import (
    MOST_REPETITIONS,
    PairTable,
    benjamini_yekutieli,
    repetitions_for,
    smallest_threshold,
    stratified_p_value,
)
from rag_rule_explainer.errors import InvalidInput

# The replays of a pair, in their order: whether each was bad; and which were made with the document.
Replays = tuple[tuple[bool, ...], frozenset[int]]


def table_of(replays: Replays) -> PairTable:
    bad, chosen = replays
    with_it = [each for place, each in enumerate(bad) if place in chosen]
    return PairTable(sum(with_it), len(with_it), sum(bad) - sum(with_it), len(bad) - len(with_it))


def by_all_draws(pairs: list[Replays]) -> Fraction:
    """The definition: of all draws, the share with as many bad replays with the document, or more."""
    seen = sum(table_of(each).bad_with for each in pairs)
    draws = [list(combinations(range(len(bad)), len(chosen))) for bad, chosen in pairs]
    totals = [
        sum(
            table_of((bad, frozenset(draw))).bad_with for (bad, _), draw in zip(pairs, drawn, strict=True)
        )
        for drawn in product(*draws)
    ]
    return Fraction(sum(total >= seen for total in totals), len(totals))


@st.composite
def a_pair(draw: st.DrawFn, most: int = 6) -> Replays:
    bad = tuple(draw(st.lists(st.booleans(), min_size=1, max_size=most)))
    return bad, frozenset(draw(st.sets(st.integers(0, len(bad) - 1))))


@given(st.lists(a_pair(), min_size=1, max_size=3))
def test_it_is_the_share_of_all_draws(pairs: list[Replays]) -> None:
    assert stratified_p_value(map(table_of, pairs)) == by_all_draws(pairs)


@given(st.lists(st.booleans(), min_size=2, max_size=8), st.integers(1, 7))
def test_over_all_draws_it_is_never_too_small_whatever_the_replays_showed(
    bad: list[bool], count: int
) -> None:
    """The answers stand, in whatever way they came about; only the draw is at random."""
    draws = list(combinations(range(len(bad)), min(count, len(bad))))
    found = [stratified_p_value([table_of((tuple(bad), frozenset(draw)))]) for draw in draws]
    for bound in {*found}:
        assert sum(each <= bound for each in found) <= bound * len(found)


@given(
    st.lists(
        st.tuples(*[st.integers(0, 3)] * 4, st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=2
    )
)
def test_what_is_not_known_is_counted_for_nobody(drawn: list[tuple[int, ...]]) -> None:
    """It is the largest of those that every way to fill in what is not known gives."""
    tables = [PairTable(a, a + b, c, c + d, x, y) for a, b, c, d, x, y in drawn]
    every = product(
        *(
            [
                PairTable(
                    t.bad_with + more,
                    t.of_with + t.unknown_with,
                    t.bad_without + others,
                    t.of_without + t.unknown_without,
                )
                for more in range(t.unknown_with + 1)
                for others in range(t.unknown_without + 1)
            ]
            for t in tables
        )
    )
    assert stratified_p_value(tables) == max(map(stratified_p_value, every))


def test_a_table_that_cannot_be_is_refused() -> None:
    for given_ in [(3, 2, 0, 2), (-1, 2, 0, 2), (0, 2, 3, 2), (0, 2, 0, 2, -1)]:
        with pytest.raises(InvalidInput, match="more bad replays than replays"):
            PairTable(*given_)


@given(st.lists(st.fractions(0, 1), max_size=8), st.sampled_from([0.01, 0.05, 0.2, 0.5]))
def test_the_bound_is_its_definition(p_values: list[Fraction], rate: float) -> None:
    count = len(p_values)
    harmonic = sum(1 / n for n in range(1, count + 1))
    ordered = sorted(p_values)
    passing = [n for n in range(1, count + 1) if ordered[n - 1] <= n * rate / (count * harmonic)]
    bound = ordered[max(passing) - 1] if passing else -1
    assert benjamini_yekutieli(p_values, rate) == [each <= bound for each in p_values]


def test_under_the_worst_dependence_the_rate_holds() -> None:
    """The least favourable p-values of the theorem's proof: exactly so many of them are small together
    that a rule without the harmonic factor rejects too often. All hypotheses are true."""
    count, rate, steps = 10, 0.2, 0
    harmonic = sum(1 / n for n in range(1, count + 1))
    # With the chance rate / n, n of the p-values are at most n / count * rate; each is uniform.
    expected_by_hochberg = sum(rate / n for n in range(1, count + 1))
    assert expected_by_hochberg > rate
    rejecting = 0.0
    for together in range(1, count + 1):
        value = Fraction(together) * Fraction(rate).limit_denominator() / count
        steps += 1
        p_values = [value] * together + [Fraction(1)] * (count - together)
        rejecting += rate / together * any(benjamini_yekutieli(p_values, rate))
    assert steps == count
    assert rejecting <= rate
    assert smallest_threshold(count, rate) == pytest.approx(rate / count / harmonic)


@pytest.mark.parametrize("pairs", [1, 2, 3])
@pytest.mark.parametrize("tested", [1, 30, 1_000])
def test_as_many_replays_are_planned_as_the_smallest_p_value_needs(tested: int, pairs: int) -> None:
    bound = smallest_threshold(tested, 0.05)
    sure = repetitions_for(bound, pairs, 0.0, 0.9)
    assert stratified_p_value([PairTable(sure, sure, 0, sure)] * pairs) <= bound
    if sure > 1:
        fewer = PairTable(sure - 1, sure - 1, 0, sure - 1)
        assert stratified_p_value([fewer] * pairs) > bound
    assert sure <= repetitions_for(bound, pairs, 0.1, 0.9) <= 4 * sure + 4 < MOST_REPETITIONS


def test_the_classic_table() -> None:
    """The lady tasting tea: three of four cups right (Fisher, 1935)."""
    assert stratified_p_value([PairTable(3, 4, 1, 4)]) == Fraction(17, 70)
