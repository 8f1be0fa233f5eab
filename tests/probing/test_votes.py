"""Votes are counted as if all of them were in, with no more samples than it takes."""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil
from typing import TypeAlias

import pytest

from rag_rule_explainer import InvalidInput, Noise
from rag_rule_explainer.probing.vote_rules import Count, Majority, Sequential
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples

HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN


def counted(count: Count, votes: Sequence[Verdict]) -> tuple[Verdict, int]:
    """The outcome, and how many of the votes were drawn for it, in the blocks that are asked for."""
    drawn = 0
    while True:
        seen = votes[:drawn]
        tally = [seen.count(verdict) for verdict in (HOLDS, BREAKS, UNKNOWN)]
        outcome = count.outcome(*tally)
        if outcome is not None:
            return outcome, drawn
        block = count.soonest(*tally)
        assert 1 <= block <= count.most - drawn
        drawn += block


def one_by_one(count: Count, votes: Sequence[Verdict]) -> int:
    """How many are drawn by who stops as soon as the rest cannot change the outcome."""
    return next(
        drawn
        for drawn in range(len(votes) + 1)
        if count.outcome(*(votes[:drawn].count(verdict) for verdict in (HOLDS, BREAKS, UNKNOWN)))
    )


@pytest.mark.parametrize("most", range(1, 12))
def test_a_curtailed_majority_is_the_full_one(most: int) -> None:
    for votes in product((HOLDS, BREAKS), repeat=most):
        outcome, drawn = counted(Majority(most), votes)
        assert outcome is Verdict.of(2 * votes.count(HOLDS) >= most)
        assert drawn == one_by_one(Majority(most), votes)


@pytest.mark.parametrize("most", range(1, 8))
def test_who_says_nothing_could_have_said_either(most: int) -> None:
    for votes in product((HOLDS, BREAKS, UNKNOWN), repeat=most):
        outcome, _ = counted(Majority(most), votes)
        filled = {
            Verdict.of(2 * (votes.count(HOLDS) + more) >= most)
            for more in range(votes.count(UNKNOWN) + 1)
        }
        assert outcome is (filled.pop() if len(filled) == 1 else UNKNOWN)


@pytest.mark.parametrize("most", [2, 4, 6, 8, 10])
def test_a_tie_holds_and_its_negation_breaks(most: int) -> None:
    half = [HOLDS, BREAKS] * (most // 2)
    assert counted(Majority(most), half)[0] is HOLDS


@drawn
@pytest.mark.parametrize(("mostly", "at_most"), [(HOLDS, 0.53), (BREAKS, 0.64)])
def test_about_half_of_the_samples_are_spared(mostly: Verdict, at_most: float) -> None:
    draw = random.Random(0)
    drawn = [
        counted(Majority(10), [mostly if draw.random() < 0.95 else ~mostly for _ in range(10)])[1]
        for _ in range(examples(20_000))
    ]
    assert sum(drawn) / len(drawn) / 10 <= at_most


@drawn
@pytest.mark.parametrize("share", [0.8, 0.2])
def test_a_sequential_test_errs_no_more_often_than_it_may(share: float) -> None:
    test, draw = Sequential(10_000, 0.02, 0.02, 0.3), random.Random(1)
    outcomes = [
        counted(test, [Verdict.of(draw.random() < share) for _ in range(200)])[0]
        for _ in range(examples(5000))
    ]
    wrong = outcomes.count(Verdict.of(share < 0.5)) / len(outcomes)
    assert UNKNOWN not in outcomes
    # Wald's bound: the wrong verdict with a chance of at most 0.02 / 0.98.
    assert wrong <= 0.02 / 0.98


Tally: TypeAlias = tuple[int, int, int]


def tallies(count: Count) -> Iterator[Tally]:
    """Those after which it is still open."""
    most = range(count.most + 1)
    for tally in product(most, most, most):
        if count.outcome(*tally) is None:
            yield tally


def more(tally: Tally, samples: int) -> Iterator[Tally]:
    """What so many more samples may make of a tally."""
    holds, breaks, unknown = tally
    for first, second in product(range(samples + 1), repeat=2):
        if first + second <= samples:
            yield holds + first, breaks + second, unknown + samples - first - second


@pytest.mark.parametrize(
    "count",
    [
        *(Majority(most) for most in range(1, 9)),
        *(Sequential(most, 0.01, 0.01, 0.3) for most in (4, 7, 10)),
        *(Sequential(most, 0.01, 0.2, 0.2) for most in (6, 10)),
    ],
)
def test_no_sample_is_drawn_in_vain(count: Count) -> None:
    for tally in tallies(count):
        left = count.most - sum(tally)
        assert left > 0
        assert len({count.outcome(*each) for each in more(tally, left)}) > 1
        # Of a block, the last one may be the first to decide.
        decisive = (
            size
            for size in range(1, left + 1)
            if any(count.outcome(*each) is not None for each in more(tally, size))
        )
        assert count.soonest(*tally) == next(decisive)


def test_what_stays_even_is_undecided() -> None:
    test = Sequential(9, 0.01, 0.01, 0.3)
    # After six, the three that are left cannot bring either side four ahead.
    assert counted(test, [HOLDS, BREAKS] * 5) == (UNKNOWN, 6)
    lead = ceil(test.soonest(0, 0))
    assert counted(test, [HOLDS] * 9) == (HOLDS, lead)
    assert counted(test, [BREAKS] * 9) == (BREAKS, lead)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"samples": 0}, "from 1 to 1,000"),
        ({"samples": True}, "from 1 to 1,000"),
        ({"samples": 5, "vote": "most"}, "'border', 'every' or 'sequential'"),
        ({"vote": "every"}, "votes of one sample"),
        ({"recheck": 3}, "votes of one sample"),
        ({"samples": 5, "recheck": -1}, "at least 0"),
        ({"samples": 5, "vote": "every", "recheck": 2}, "every subset has its own"),
        ({"min_confidence": 0}, "min_confidence"),
        ({"min_confidence": 1.01}, "min_confidence"),
        ({"min_confidence": float("nan")}, "min_confidence"),
        ({"samples": 5, "vote": "border", "min_confidence": 0.9}, "leave vote out"),
        ({"samples": 9, "vote": "sequential", "false_holds": 0.5}, "false_holds"),
        ({"samples": 9, "vote": "sequential", "margin": 0.5}, "margin"),
        ({"samples": 3, "vote": "sequential"}, "after 4 at the earliest"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Noise(**fields)  # type: ignore[arg-type] -- values of all kinds
