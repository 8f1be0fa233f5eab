"""What votes at the border come to: shares of seeded runs, and replays, as the theory has them."""

import pytest

from rag_rule_explainer import Noise, Settings
from rag_rule_explainer.lattice import Lattice, minimal
from tests.noisy import BLOCKED, PAIR, THREE, TRUTHS, Truth, study

BORDER = Settings(miner="exact", noise=Noise(samples=9))
SAMPLED = Settings(miner="sampled", noise=Noise(samples=9))


@pytest.mark.spread(slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "wrong", "exact", "calls"),
    [
        (PAIR, 0.02, 0.99, 310),
        (PAIR, 0.05, 0.97, 360),
        (THREE, 0.02, 0.98, 870),
        (THREE, 0.05, 0.98, 1000),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_the_border_is_enough(truth: Truth, wrong: float, exact: float, calls: float) -> None:
    outcome = study(truth, wrong, BORDER)
    assert outcome.exact >= exact, outcome
    assert outcome.calls <= calls, outcome


@pytest.mark.slow
def test_where_it_is_not_a_second_look_finds_the_false_rules() -> None:
    outcome = study(BLOCKED, 0.02, Settings(miner="exact", noise=Noise(samples=9, recheck=16)))
    assert outcome.false <= 0.005, outcome
    assert study(BLOCKED, 0.02, BORDER).false > outcome.false


@pytest.mark.slow
def test_without_votes_hardly_a_run_is_right() -> None:
    assert study(PAIR, 0.02, Settings(miner="exact"), runs=100).exact <= 0.05


@pytest.mark.spread(slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "wrong", "calls"),
    [(PAIR, 0.02, 200), (PAIR, 0.05, 250), (THREE, 0.02, 550), (THREE, 0.05, 800)],
    ids=lambda each: getattr(each, "name", None),
)
def test_of_thirty_sources_the_sampled_search_finds_all(truth: Truth, wrong: float, calls: float) -> None:
    outcome = study(truth.among(30), wrong, SAMPLED, runs=100)
    assert outcome.exact >= 0.98, outcome
    assert outcome.calls <= calls, outcome


@pytest.mark.slow
def test_a_baseline_that_is_as_noisy_as_the_rest() -> None:
    outcome = study(PAIR, 0.05, BORDER, logged=False)
    assert outcome.exact >= 0.97, outcome


@pytest.mark.slow
@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_the_rules_that_are_taken_for_true_are(truth: Truth) -> None:
    lattice = Lattice(truth.size)
    holding = {mask for mask in lattice.masks() if truth.holds(frozenset(lattice.units(mask)))}
    rules = minimal(mask for mask in lattice.masks() if holding.issuperset(lattice.supersets(mask)))
    assert {frozenset(lattice.units(mask)) for mask in rules} == truth.rules
