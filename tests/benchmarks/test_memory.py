"""What the largest exact search takes in memory, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.ratios import tell

pytestmark = pytest.mark.benchmark
PROGRAM = """
import asyncio, resource, sys, time
from collections.abc import Sequence
from rag_rule_explainer import Explainer, Source, Store, equals

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 21)]

async def replay(_question: str, shown: Sequence[Source]) -> str:
    return "yes" if {"D3", "D7"} <= {source.id for source in shown} else "no"

store = Store(sys.argv[1], "memory") if len(sys.argv) > 1 else None
explainer = Explainer(
    replay, predicate=equals("yes"), rules="retention", miner="exact", store=store,
    concurrency=64, check_repeatable=False,
)
started = time.perf_counter()
explanation = asyncio.run(explainer.aexplain("?", SOURCES))
seconds = time.perf_counter() - started
assert [rule.sources for rule in explanation.rules] == [("D3", "D7")]
mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(explanation.counts.probes, len(explanation.probes), round(mebibytes), round(seconds, 1))
"""


@pytest.mark.parametrize("where", ["in memory", "sqlite"])
def test_a_pair_among_twenty_sources(where: str, tmp_path: Path) -> None:
    arguments = [] if where == "in memory" else [str(tmp_path / "answers.db")]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    probes, kept, mebibytes, seconds = run.stdout.split()
    title = f"memory: n = 20, a pair, answers {where}, of 400 MiB"
    tell(title, int(mebibytes) / 400, 1.0, f"{mebibytes} MiB, {probes} probes in {seconds} s")
    assert (int(probes), int(kept)) == (262_146, 4_096)
    assert int(mebibytes) < 400
