"""Expected rules on the subsets there are, against the miners and the definition."""

import random

from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.experiments.measures import (
    GROUPS,
    MEANINGS,
    NAMES,
    HeldVerdicts,
    counted_by_measure,
    held,
)
from rag_rule_explainer.experiments.scoring import expected, mined
from rag_rule_explainer.lattice import Lattice
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

RETENTION, OMISSION = RuleKind
FIVE = Lattice(5)
PAIR = FIVE.mask((0, 1))


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_those_hold_that_the_miners_find(seed: int, needed: int) -> None:
    draw, necessary = random.Random(seed), FIVE.mask(range(needed))
    # Mostly as the labels imply, or nothing would hold.
    verdicts = [
        Verdict.of((mask & necessary == necessary) is (draw.random() < 0.93)) for mask in FIVE.masks()
    ]
    found = mined(tuple(verdicts)).rules
    for kind in RuleKind:
        wanted = expected(kind, FIVE, necessary)
        of_all = held(kind, FIVE, necessary, dict(enumerate(verdicts)))
        assert of_all == HeldVerdicts(len(wanted), len(wanted & found[kind]), 0)
        # What is not asked about breaks nothing.
        some = {mask: verdict for mask, verdict in enumerate(verdicts) if draw.random() < 0.5}
        of_some = held(kind, FIVE, necessary, some)
        assert of_some.hold + of_some.unasked >= of_all.hold
        assert held(kind, FIVE, necessary, {}) == HeldVerdicts(len(wanted), 0, 0, len(wanted))


def test_a_subset_without_a_verdict_leaves_open_what_nothing_else_breaks() -> None:
    verdicts = {mask: Verdict.of(mask & PAIR == PAIR) for mask in FIVE.masks()}
    assert held(RETENTION, FIVE, PAIR, verdicts) == HeldVerdicts(8, 8, 0)
    assert held(OMISSION, FIVE, PAIR, verdicts) == HeldVerdicts(24, 24, 0)
    verdicts[FIVE.full] = Verdict.UNKNOWN
    assert held(RETENTION, FIVE, PAIR, verdicts) == HeldVerdicts(8, 0, 8)
    verdicts[PAIR] = Verdict.BREAKS
    # Only the rule of the pair alone speaks about the pair alone.
    assert held(RETENTION, FIVE, PAIR, verdicts) == HeldVerdicts(8, 0, 7)
    assert held(OMISSION, FIVE, PAIR, verdicts) == HeldVerdicts(24, 24, 0)
    verdicts[0] = Verdict.HOLDS
    # All omission rules speak about no sources at all.
    assert held(OMISSION, FIVE, PAIR, verdicts) == HeldVerdicts(24, 0, 0)


def test_a_question_is_decided_by_what_breaks() -> None:
    assert counted_by_measure([], HeldVerdicts(8, 8, 0), HeldVerdicts(24, 24, 0))["all-rules-hold"] == (
        1,
        1,
    )
    assert counted_by_measure([], HeldVerdicts(8, 7, 0), HeldVerdicts(24, 24, 0))["all-rules-hold"] == (
        0,
        1,
    )
    assert counted_by_measure([], HeldVerdicts(8, 5, 2), HeldVerdicts(24, 24, 0))["all-rules-hold"] == (
        0,
        1,
    )
    undecided = counted_by_measure([], HeldVerdicts(8, 6, 2), HeldVerdicts(24, 24, 0))
    assert (undecided["all-rules-hold"], undecided["all-omission-hold"]) == ((0, 0), (1, 1))
    assert undecided["retention-rules-hold"] == (6, 6)
    some = counted_by_measure([], HeldVerdicts(8, 5, 0, 3), HeldVerdicts(24, 0, 0, 24))
    assert (some["retention-rules-hold"], some["omission-rules-hold"]) == ((5, 5), (0, 0))
    assert (some["all-rules-hold"], some["all-omission-hold"]) == ((1, 1), (0, 0))


def test_every_measure_has_a_group_and_a_meaning() -> None:
    assert (
        NAMES.keys()
        == MEANINGS.keys()
        == counted_by_measure([], HeldVerdicts(1, 1, 0), HeldVerdicts(1, 1, 0)).keys()
    )
    assert set(NAMES.values()) == set(GROUPS)
