"""All confidences from one transform, against counting them one by one."""

import random
import statistics
import time
from collections.abc import Callable

import pytest

from rag_rule_explainer.lattice import Lattice
from rag_rule_explainer.mining import superset_sums
from tests.benchmarks.ratios import show

pytestmark = pytest.mark.benchmark
SIZE = 12
LATTICE = Lattice(SIZE)


def one_by_one(values: list[int]) -> list[int]:
    """By definition, without any detour: 3^n additions."""
    sums: list[int] = []
    for mask in LATTICE.masks():
        free = LATTICE.full ^ mask
        extra = free
        total = values[mask]
        while extra:
            total += values[mask | extra]
            extra = (extra - 1) & free
        sums.append(total)
    return sums


def timed(work: Callable[[list[int]], list[int]], values: list[int]) -> tuple[float, list[int]]:
    started = time.perf_counter()
    made = work(values)
    return time.perf_counter() - started, made


def test_superset_sums() -> None:
    draw = random.Random(0)
    values = [draw.randrange(2) for _ in LATTICE.masks()]
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(5):
        brute, expected = timed(one_by_one, values)
        several = [timed(lambda given: list(superset_sums(given, SIZE)), values) for _ in range(9)]
        assert all(made == expected for _, made in several)
        ours.append(statistics.median(seconds for seconds, _ in several))
        theirs.append(brute)
    show(f"confidences of 2^{SIZE} antecedents, one transform", "brute force", ours, theirs, 1 / 50)
