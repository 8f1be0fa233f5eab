"""What wrong verdicts do to the rules, and what votes do about it: 200 seeded runs a cell."""

import pytest

from rag_rule_explainer import Noise
from tests.benchmarks.ratios import STUDIES
from tests.noisy import TRUTHS, Truth, study

pytestmark = pytest.mark.benchmark
TITLE = "wrong verdicts: runs with exactly the true rules, runs that print a false one, mean replays"
WRONG = (0.01, 0.02, 0.05)
WAYS = {
    "asked once": Noise(),
    "every x 5": Noise(samples=5, vote="every"),
    "border x 5": Noise(samples=5),
    "border x 9": Noise(samples=9),
    "border x 9, recheck 16": Noise(samples=9, recheck=16),
    "sequential, at most 15": Noise(samples=15, vote="sequential"),
    "confidence 0.9": Noise(min_confidence=0.9),
    "confidence 0.9, x 3": Noise(samples=3, min_confidence=0.9),
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_noise(truth: Truth) -> None:
    rows = STUDIES.setdefault(TITLE, [("condition", "how", *(f"{wrong:.0%} wrong" for wrong in WRONG))])
    for way, noise in WAYS.items():
        outcomes = [study(truth, wrong, noise) for wrong in WRONG]
        told = (f"{each.exact:.3f} {each.false:.3f} {each.calls:6.0f}" for each in outcomes)
        rows.append((truth.name, way, *told))
