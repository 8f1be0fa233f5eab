"""How long explaining waits beside the replays themselves, by a clock that no busy machine stretches."""

from typing import Any

import pytest
from llama_index.core.async_utils import run_jobs
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_rag_rule_explainer import RuleExplainer

from tests.benchmarks.test_overhead_llama_index import NODES, Slow, says
from tests.clock import waited
from tests.integrations.known import BAD
from tests.integrations.llama_index.engines import Counting, engine_of

WORKERS = 4
FEW: list[TextNode] = NODES[:5]


@pytest.mark.parametrize("miner", ["exact", pytest.param("exhaustive", marks=pytest.mark.slow)])
def test_replays_keep_all_workers_busy(miner: Any) -> None:
    engine = engine_of(Counting(FEW), Slow(says=says, latency=0.05))
    explainer = RuleExplainer(
        engine,
        predicate=BAD,
        miner=miner,
        concurrency=WORKERS,
        check_repeatable=False,
        answer_without_sources="good",
    )
    asked: list[tuple[str, ...]] = []

    async def explained() -> None:
        explanation = await explainer.aexplain("?")
        asked.extend(probe.kept for probe in explanation.probes if probe.kept)

    async def bare() -> None:
        jobs = [
            engine.asynthesize(
                QueryBundle("?"), [NodeWithScore(node=FEW[int(each[1:])], score=1.0) for each in kept]
            )
            for kept in asked
        ]
        await run_jobs(jobs, workers=WORKERS)

    ours, theirs = waited(explained), waited(bare)
    assert len(asked) == 31
    # The first run goes alone, as nothing is known before it; at most one round more is not full.
    assert theirs == pytest.approx(8 * 0.05)
    assert ours <= theirs + 2 * 0.05 + 1e-9
