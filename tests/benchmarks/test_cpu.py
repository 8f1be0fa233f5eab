"""What the engine costs beside the application, as ratios measured in one run.

Prints tables and gates nothing on seconds: the machines are shared, so each pair is measured in turns and
the medians are compared.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pytest

from rag_rule_explainer import Explainer, RuleKind, Source, Verdict, equals
from rag_rule_explainer.lattice import Lattice, Subset
from rag_rule_explainer.mining import RuleSearch, Transversal
from rag_rule_explainer.sources import Arrangement, SourceSet
from tests.benchmarks.ratios import show

pytestmark = pytest.mark.benchmark
SOURCES = [Source(f"D{place}", f"text {place}") for place in range(1, 11)]
ROUNDS = 25


async def replay(_question: str, sources: Sequence[Source]) -> str:
    return "yes" if {"D3", "D7"} <= {source.id for source in sources} else "no"


async def bare() -> None:
    """The same coroutines under a semaphore, and nothing else."""
    slots = asyncio.Semaphore(8)

    async def one(mask: int) -> str:
        async with slots:
            return await replay("?", [source for i, source in enumerate(SOURCES) if mask >> i & 1])

    await asyncio.gather(*(one(mask) for mask in range(1024)))


async def explained() -> None:
    explanation = await Explainer(replay, predicate=equals("yes"), miner="exact").aexplain("?", SOURCES)
    assert explanation.counts.probes == 1024


def cpu(run: Callable[[], Awaitable[object]]) -> float:
    async def timed() -> float:
        started = time.process_time()
        await run()
        return time.process_time() - started

    return asyncio.run(timed())


def imported(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(run.stdout)


MANY = SourceSet.of([Source(f"D{place}", f"text {place}") for place in range(1, 17)])


async def always(_question: str, _sources: Sequence[Source]) -> str:
    return "yes"


async def bare_many() -> None:
    """65,536 arrangements, made and replayed by the same coroutine under a semaphore, kept in a dict."""
    slots, answers = asyncio.Semaphore(8), dict[int, str]()

    async def one(mask: int) -> None:
        async with slots:
            answers[mask] = await always("?", Arrangement.of(MANY, Subset(mask)).sources)

    await asyncio.gather(*(one(mask) for mask in MANY.lattice.masks()))
    assert len(answers) == 1 << 16


async def explained_many() -> None:
    explainer = Explainer(always, predicate=equals("yes"), miner="exact", check_repeatable=False)
    explanation = await explainer.aexplain("?", MANY.sources)
    assert explanation.counts.probes == 1 << 16


def apart(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [ours for ours, _ in pairs], [theirs for _, theirs in pairs]


def test_explaining_ten_sources_beside_a_bare_loop() -> None:
    cpu(explained)
    pairs = [(cpu(explained), cpu(bare)) for _ in range(ROUNDS)]
    show("CPU: n = 10, 1,024 probes", "a bare loop", *apart(pairs), bar=2.5)


def test_explaining_sixteen_sources_of_which_none_matters_beside_a_bare_loop() -> None:
    pairs = [(cpu(explained_many), cpu(bare_many)) for _ in range(5)]
    show("CPU: n = 16, 65,536 probes", "a bare loop", *apart(pairs), bar=1.5)


@pytest.mark.parametrize("name", ["", ".Explainer"])
def test_importing_beside_pydantic(name: str) -> None:
    ours = f"import rag_rule_explainer; rag_rule_explainer{name or '.__all__'}"
    pairs = [(imported(ours), imported("from pydantic import BaseModel")) for _ in range(ROUNDS)]
    show(f"import rag_rule_explainer{name}", "pydantic", *apart(pairs), bar=1.4)


def test_a_thousand_sources() -> None:
    """A triple of a thousand: the search's own time, and all of a call, against replays of 50 ms each."""
    lattice = Lattice(1000)
    triple = lattice.mask((2, 500, 999))
    mine, whole, waited = list[float](), list[float](), list[float]()
    many = [Source(f"D{place}", "text") for place in range(1000)]

    async def answering(_question: str, sources: Sequence[Source]) -> str:
        return "yes" if {"D2", "D500", "D999"} <= {source.id for source in sources} else "no"

    for seed in range(ROUNDS):
        started = time.process_time()
        search = RuleSearch(Transversal(RuleKind.RETENTION, seed=seed), lattice)
        while asks := search.ask():
            search.tell({ask.key: Verdict.of(ask.key & triple == triple) for ask in asks})
        mine.append(time.process_time() - started)
        waited.append(0.05 * len(search.verdicts))
        explainer = Explainer(answering, predicate=equals("yes"), rules="retention", seed=seed)
        whole.append(cpu(partial(explainer.aexplain, "?", many)))
    show("sampled search of 1,000 sources, CPU", "replays of 50 ms", mine, waited, 0.05)
    show("a whole call about 1,000 sources, CPU", "replays of 50 ms", whole, waited)
