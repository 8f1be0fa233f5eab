"""What wrong verdicts do to the rules, and what votes do about it: 200 seeded runs a cell."""

import pytest

from rag_rule_explainer import Limits, Noise, Settings
from tests.benchmarks.ratios import STUDIES
from tests.noisy import TRUTHS, Truth, study

pytestmark = pytest.mark.benchmark
TITLE = "wrong verdicts: runs with exactly the true rules, runs that print a false one, mean replays"
WRONG = (0.01, 0.02, 0.05)
EXACT = {
    "asked once": Noise(),
    "every x 5": Noise(samples=5, vote="every"),
    "border x 5": Noise(samples=5),
    "border x 9": Noise(samples=9),
    "border x 9, recheck 16": Noise(samples=9, recheck=16),
    "sequential, at most 15": Noise(samples=15, vote="sequential"),
    "confidence 0.9": Noise(min_confidence=0.9),
    "confidence 0.9, x 3": Noise(samples=3, min_confidence=0.9),
}
SAMPLED = {
    "sampled, asked once": Noise(),
    "sampled, border x 9": Noise(samples=9),
    "sampled, sequential, at most 15": Noise(samples=15, vote="sequential"),
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_noise(truth: Truth) -> None:
    for way, noise in EXACT.items():
        row(truth, way, Settings(miner="exact", noise=noise))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("truth", TRUTHS[:2], ids=lambda truth: truth.name)
def test_noise_among_thirty(truth: Truth) -> None:
    # A search that notices no wrong verdict goes on and on.
    limits = Limits(replays=2000)
    for way, noise in SAMPLED.items():
        row(truth.among(30), way, Settings(miner="sampled", noise=noise, limits=limits))


@pytest.mark.timeout(3600)
def test_noise_in_the_baseline() -> None:
    for way in ("border x 9", "every x 5"):
        how = Settings(miner="exact", noise=EXACT[way])
        row(TRUTHS[0], f"{way}, same answer", how, logged=False)


def row(truth: Truth, way: str, how: Settings, *, logged: bool = True) -> None:
    rows = STUDIES.setdefault(TITLE, [("condition", "how", *(f"{wrong:.0%} wrong" for wrong in WRONG))])
    outcomes = [study(truth, wrong, how, logged=logged) for wrong in WRONG]
    told = (f"{each.exact:.3f} {each.false:.3f} {each.calls:6.0f}" for each in outcomes)
    rows.append((truth.name, way, *told))
