"""Votes, rules and their scores, against the definitions."""

import random
from fractions import Fraction
from itertools import product
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.checking.figures import wilson
from rag_rule_explainer.experiments.rates import macro, micro
from rag_rule_explainer.experiments.scoring import (
    Score,
    expected,
    is_implied,
    mined,
    score,
    voted,
)
from rag_rule_explainer.lattice import Lattice, Subset
from rag_rule_explainer.mining.exhaustive import valid_rules
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN
RETENTION, OMISSION = RuleKind.RETENTION, RuleKind.OMISSION


def test_half_of_the_votes_or_more_hold() -> None:
    for votes in product((HOLDS, BREAKS), repeat=4):
        assert voted(votes) is Verdict.of(2 * votes.count(HOLDS) >= 4)
        assert voted(votes[:3]) is Verdict.of(2 * votes[:3].count(HOLDS) >= 3)
    assert voted([HOLDS, UNKNOWN]) is HOLDS
    assert voted([BREAKS, UNKNOWN]) is UNKNOWN
    assert voted([BREAKS, BREAKS, UNKNOWN]) is BREAKS
    assert voted([UNKNOWN]) is UNKNOWN


@given(st.lists(st.booleans(), min_size=16, max_size=16))
def test_the_rules_are_all_valid_ones(told: list[bool]) -> None:
    verdicts = tuple(map(Verdict.of, told))
    found = mined(verdicts)
    lattice = Lattice(4)
    by_mask = {Subset(mask): verdict for mask, verdict in enumerate(verdicts)}
    assert found.rules[RETENTION] == set(valid_rules(RETENTION, lattice, by_mask))
    turned = {mask: ~verdict for mask, verdict in by_mask.items()}
    assert found.rules[OMISSION] == set(valid_rules(OMISSION, lattice, turned))
    assert not found.unresolved


def test_a_verdict_that_is_missing_matters_where_the_miner_comes_by() -> None:
    lattice, pair = Lattice(5), 0b11000
    perfect = [Verdict.of(is_implied(pair, mask)) for mask in lattice.masks()]
    perfect[0b11010] = UNKNOWN
    assert mined(tuple(perfect)).unresolved == (0b11010,)
    # All sources break it, so nobody asks about others for retention; nor omission, which holds nowhere.
    nothing = [UNKNOWN] * 32
    nothing[0b11111], nothing[0] = BREAKS, HOLDS
    found = mined(tuple(nothing))
    assert found.unresolved == ()
    assert found.rules == {RETENTION: frozenset(), OMISSION: frozenset()}


def test_what_labels_lead_one_to_expect() -> None:
    lattice, pair = Lattice(5), 0b11000
    assert len(expected(RETENTION, lattice, pair)) == 8
    assert len(expected(OMISSION, lattice, pair)) == 24
    perfect = mined(tuple(Verdict.of(is_implied(pair, mask)) for mask in lattice.masks()))
    for kind in RuleKind:
        assert perfect.rules[kind] == expected(kind, lattice, pair)


def test_what_is_undefined_is_neither_0_nor_1() -> None:
    none = score(frozenset({1}), frozenset())
    assert (none, none.precision, none.recall) == (Score(1, 0, 0), None, 0.0)
    surplus = score(frozenset(), frozenset({1}))
    assert (surplus.precision, surplus.recall) == (0.0, None)
    assert micro([(0, 0)]) == macro([]) == macro([(0, 0), (0, 0)])
    assert micro([]).value is micro([]).low is None


def test_micro_counts_rules_and_macro_questions() -> None:
    shares = [(1, 1), (0, 0), (1, 4), (3, 3)]
    assert micro(shares).value == float(Fraction(5, 8))
    assert macro(shares).value == pytest.approx(float((1 + Fraction(1, 4) + 1) / 3))
    # As many cases as questions, or fewer where some have most of the rules.
    assert _ends(macro(shares)) == pytest.approx(wilson(2.25, 3))
    effective = Fraction(64, 1 + 16 + 9)
    assert _ends(micro(shares)) == pytest.approx(wilson(float(effective * 5 / 8), float(effective)))
    even = [(8, 8), (4, 8)] * 10
    assert isclose(micro(even).low or 0, macro(even).low or 0)


def _ends(rate: object) -> tuple[float, float]:
    return getattr(rate, "low"), getattr(rate, "high")  # noqa: B009 -- of a rate that is defined


def test_intervals_of_alike_rules_hold_the_true_share() -> None:
    # Whole questions stand or fall: as if each rule were a case of its own would miss it far too often.
    draw, held, naive = random.Random(3), 0, 0
    for _ in range(400):
        shares = [(8 * (draw.random() < 0.7), 8) for _ in range(30)]
        low, high = _ends(micro(shares))
        held += low <= 0.7 <= high
        low, high = wilson(sum(count for count, _ in shares), 8 * 30)
        naive += low <= 0.7 <= high
    assert held >= 0.92 * 400
    assert naive < 0.7 * 400
