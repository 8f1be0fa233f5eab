"""What explaining a query engine costs beside the replays themselves, as ratios measured in one run.

The same calls of ``asynthesize``, once through LlamaIndex's own ``run_jobs`` and once through the
explainer, in turns. ``rules="both"``: all 256 subsets are needed by one kind of rule or the other.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from llama_index.core.async_utils import run_jobs
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_rag_rule_explainer import RuleExplainer

from tests.benchmarks.ratios import show
from tests.clock import waited
from tests.integrations.known import BAD
from tests.integrations.llama_index.engines import Counting, engine_of
from tests.integrations.llama_index.models import Telling

pytestmark = pytest.mark.benchmark
SOURCES = 8
WORKERS = 8
WORDS = ["amber", "basalt", "copper", "dune", "ember", "flint", "granite", "heather", "iron", "jasper"]
NODES = [TextNode(id_=f"d{n}", text=" ".join(f"{word}{n}" for word in WORDS)) for n in range(SOURCES)]


class Slow(Telling):
    """Takes its time."""

    latency: float = 0.0

    async def _waited(self) -> None:
        if self.latency:
            await asyncio.sleep(self.latency)

    async def achat(self, messages: Any, **kwargs: Any) -> Any:
        await self._waited()
        return await super().achat(messages, **kwargs)


def says(prompt: str) -> str:
    return "bad" if all(NODES[n].text in prompt for n in (1, 3)) else "good"


Run = Callable[[], Awaitable[None]]


def runs(latency: float, miner: Any) -> tuple[Run, Run]:
    """The same calls through the explainer, which is to go first, and through ``run_jobs``."""
    engine = engine_of(Counting(NODES), Slow(says=says, latency=latency))
    explainer = RuleExplainer(
        engine,
        predicate=BAD,
        rules="both",
        miner=miner,
        concurrency=WORKERS,
        check_repeatable=False,
        answer_without_sources="good",
    )
    asked: list[tuple[str, ...]] = []

    async def bare() -> None:
        jobs = [
            engine.asynthesize(
                QueryBundle("?"), [NodeWithScore(node=NODES[int(each[1:])], score=1.0) for each in kept]
            )
            for kept in asked
        ]
        await run_jobs(jobs, workers=WORKERS)

    async def explained() -> None:
        explanation = await explainer.aexplain("?")
        assert [rule.sources for rule in explanation.retention_rules] == [("d1", "d3")]
        # The baseline asks on all of them; without any, no model is asked.
        asked[:] = [probe.kept for probe in explanation.probes if probe.kept]

    return explained, bare


def compared(
    latency: float, clock: Callable[[], float], rounds: int, miner: Any
) -> tuple[list[float], list[float]]:
    explained, bare = runs(latency, miner)

    def timed(run: Run) -> float:
        async def running() -> float:
            started = clock()
            await run()
            return clock() - started

        return asyncio.run(running())

    for warming_up in (explained, bare):
        timed(warming_up)
    pairs = [(timed(bare), timed(explained)) for _ in range(rounds)]
    return [ours for _, ours in pairs], [theirs for theirs, _ in pairs]


@pytest.mark.parametrize("miner", ["exact", "exhaustive"])
def test_wall_time_with_latency(miner: str) -> None:
    times = compared(0.05, time.perf_counter, 5, miner)
    show(
        f"8 nodes, rules of both kinds, 50 ms, 8 workers, {miner}: wall time",
        "run_jobs",
        *times,
        bar=1.15,
    )


@pytest.mark.parametrize("miner", ["exact", "exhaustive"])
def test_waiting_alone(miner: str) -> None:
    ours, theirs = map(waited, runs(0.05, miner))
    show(
        f"8 nodes, rules of both kinds, 50 ms, 8 workers, {miner}: waiting alone",
        "run_jobs",
        [ours],
        [theirs],
        bar=1.15,
    )


def test_cpu_time_without_latency() -> None:
    times = compared(0.0, time.process_time, 7, "exhaustive")
    show("8 nodes, rules of both kinds, no latency: CPU time", "run_jobs", *times)
