"""What votes at the border come to: shares of seeded runs, and replays, as the theory has them."""

import pytest

from rag_rule_explainer import Noise
from tests.noisy import BLOCKED, PAIR, THREE, Truth, study

pytestmark = pytest.mark.slow
BORDER = Noise(samples=9)


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


def test_where_it_is_not_a_second_look_finds_the_false_rules() -> None:
    outcome = study(BLOCKED, 0.02, Noise(samples=9, recheck=16))
    assert outcome.false <= 0.005, outcome
    assert study(BLOCKED, 0.02, BORDER).false > outcome.false


def test_without_votes_hardly_a_run_is_right() -> None:
    assert study(PAIR, 0.02, Noise(), runs=100).exact <= 0.05
