"""Citers of known behaviour over the passages of 300 real questions: how well each class is found."""

import pytest

from rag_rule_explainer import Limits, Sampled
from tests.citations.study import DATA, NAMES, tally, told

needs_the_data = pytest.mark.skipif(
    not all((DATA / f"{name}.jsonl").is_file() for name in NAMES),
    reason="the questions of HotpotQA and MuSiQue are not beside the repository (shared/data)",
)


@pytest.mark.nightly
@needs_the_data
def test_every_class_is_found_exactly_among_ten_passages() -> None:
    counted = tally(10, miner="exact")
    print(told(counted, "exact, 10 passages"))
    assert all(counted.of(each) == (1.0, 1.0) for each in counted.classes)


@pytest.mark.slow
@needs_the_data
def test_every_class_is_found_among_fifty_passages_by_a_hundred_replays() -> None:
    """With random subsets, each rule may fail on at most 15 % of them, with 95 % confidence."""
    counted = tally(50, miner=Sampled(max_violation=0.15), limits=Limits(100))
    print(told(counted, "sampled, 50 passages, at most 100 replays a statement"))
    assert max(counted.replays) <= 100
    assert all(min(counted.of(each)) >= 0.95 for each in counted.classes)
