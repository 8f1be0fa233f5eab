"""What reading a saved explanation of 10,000 sources takes, against what JSON alone takes."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Limits, Source, equals, load
from tests.benchmarks.ratios import show

pytestmark = pytest.mark.benchmark
ROUNDS, BAR = 7, 3.0
NEEDED = {"D17", "D9000"}


async def answer(_question: str, shown: Sequence[Source]) -> str:
    return "yes" if {source.id for source in shown} >= NEEDED else "no"


def explained(texts: Callable[[int], str], replays: int, **fields: Any) -> Explanation:
    many = [Source(f"D{n}", texts(n), {"title": f"Title {n}"}) for n in range(1, 10_001)]
    given: dict[str, Any] = {"miner": "sampled", "check_repeatable": False, **fields}
    return Explainer(answer, predicate=equals("yes"), limits=Limits(replays=replays), **given).explain(
        "?", many
    )


def words(number: int) -> str:
    return f"Document {number} is about subject {number * 7} of house {number * 13}. " * 3


CASES: dict[str, Callable[[], Explanation]] = {
    "all rules, 250 replays": lambda: explained(words, 250),
    "hardly any probes": lambda: explained(words, 3),
    "texts of 10 KB": lambda: explained(lambda n: words(n) * 60, 3),
    "by groups": lambda: explained(words, 250, miner="grouped"),
    "empty texts, 250 replays": lambda: explained(lambda _: "", 250),
    "empty texts, hardly any probes": lambda: explained(lambda _: "", 3),
    "all are near-duplicates": lambda: explained(lambda _: "", 250, merge_duplicates=0.9),
    "near-duplicates in pairs": lambda: explained(lambda n: words(n // 2), 250, merge_duplicates=0.9),
}


@pytest.mark.parametrize("case", CASES)
def test_reading_10_000_sources(tmp_path: Path, case: str) -> None:
    file = tmp_path / "saved.json"
    CASES[case]().save(file)

    def seconds(read: Callable[[Path], object]) -> float:
        began = time.perf_counter()
        read(file)
        return time.perf_counter() - began

    ours, theirs = list[float](), list[float]()
    load(file)
    for _ in range(ROUNDS):
        ours.append(seconds(load))
        theirs.append(seconds(lambda file: json.loads(file.read_bytes())))
    show(f"reading 10,000 sources: {case}", "json.loads", ours, theirs, BAR)
