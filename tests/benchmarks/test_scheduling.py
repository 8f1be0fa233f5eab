"""How long a search takes with many replays in flight whose latencies differ: levels, frontier, guesses.

Latencies are log-normal with sigma 0.6, one for each arrangement, in units of their mean. Simulated, and
as real runs whose replays sleep as long. The bars are ratios of times that are mostly slept, so that they
hold on a busy machine as well; nothing is gated on seconds.
"""

import asyncio
import heapq
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from rag_rule_explainer import Explainer, Source, equals
from rag_rule_explainer.lattice import Lattice, Mask, Subset
from rag_rule_explainer.mining import Mono, RuleSearch, Speculation, Workers
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.benchmarks.ratios import tell

pytestmark = pytest.mark.benchmark

LATTICE = Lattice(10)
SIGMA = 0.6
SHARE = 0.1
"""The most that may be wasted on guesses."""
MEAN = 0.05
"""Seconds that a replay takes in the real runs."""
DRAWS = {8: 1, 32: 6, 128: 12}
"""How many of the latencies these are made with, by the replays in flight."""
BARS: dict[int, tuple[float | None, float | None]] = {32: (0.80, None), 128: (None, 0.55)}
"""By the replays in flight: of the frontier to the levels, of guesses to the frontier without them."""
PAIR, FIVE = 0b0010001000, 0b0101010101
CONDITIONS: dict[str, Callable[[Mask], bool]] = {
    "pair": lambda mask: mask & PAIR == PAIR,
    "either of two": lambda mask: bool(mask & PAIR),
    "majority of five": lambda mask: (mask & FIVE).bit_count() >= 3,
}
Latencies = Sequence[float]


class Run(NamedTuple):
    """How long it took, in mean latencies, and what was probed for it."""

    time: float
    probes: int
    wasted: int = 0


def latencies(seed: int) -> Latencies:
    draw = random.Random(seed)
    return [draw.lognormvariate(-SIGMA * SIGMA / 2, SIGMA) for _ in LATTICE.masks()]


def by_levels(holds: Callable[[Mask], bool], width: int, takes: Latencies) -> Run:
    """As the paper has it: a level of the lattice is probed when the one above is done."""
    now, probes, level = 0.0, 0, [LATTICE.full]
    while level:
        slots, end, valid = [now] * width, now, set[Mask]()
        for mask in sorted(level, key=lambda mask: LATTICE.full ^ mask):
            done = heapq.heappop(slots) + takes[mask]
            heapq.heappush(slots, done)
            end, probes = max(end, done), probes + 1
            if holds(mask):
                valid.add(mask)
        now = end
        below = {child for mask in valid for child in LATTICE.one_fewer(mask)}
        level = [each for each in below if valid.issuperset(LATTICE.one_more(each))]
    return Run(now, probes)


def by_frontier(
    holds: Callable[[Mask], bool],
    width: int,
    takes: Latencies,
    share: float = 0.0,
    workers: Workers | None = None,
) -> Run:
    """Whatever is ready goes out; with a share that may be wasted, idle slots guess. With workers, each
    goes on with what begins like its last prompt; otherwise, the smallest rank comes first."""
    guesses = Speculation(RuleKind.RETENTION, LATTICE, share) if share else None
    search = RuleSearch(Mono(RuleKind.RETENTION), LATTICE, guesses=guesses)
    now, flying, probes = 0.0, list[tuple[float, int, Subset]](), 0
    idle = list(range(width))
    while not search.finished:
        while idle and (ask := search.next(idle[-1], workers) or search.guess()) is not None:
            worker = idle.pop()
            if workers is not None:
                workers.went(worker, ask.key)
            heapq.heappush(flying, (now + takes[ask.key], worker, ask.key))
            probes += 1
        now, worker, mask = heapq.heappop(flying)
        idle.append(worker)
        search.tell({mask: Verdict.of(holds(mask))})
    return Run(now, probes, len(search.wasted))


def really(holds: Callable[[Mask], bool], width: int, takes: Latencies, share: float = 0.0) -> Run:
    """``Explainer.aexplain`` with replays that sleep."""
    names = [str(unit) for unit in range(LATTICE.size)]

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        mask = LATTICE.mask(int(source.id) for source in sources)
        await asyncio.sleep(takes[mask] * MEAN)
        return "yes" if holds(mask) else "no"

    async def main() -> Run:
        explainer = Explainer(
            replay,
            predicate=equals("yes"),
            rules="retention",
            miner="exact",
            concurrency=width,
            speculate=share,
            check_repeatable=False,
        )
        begun = time.perf_counter()
        found = await explainer.aexplain("?", [Source(name, name) for name in names], "yes")
        assert found.complete
        took = time.perf_counter() - begun
        return Run(took / MEAN, found.counts.probes, found.counts.wasted)

    return asyncio.run(main())


def mean(runs: Sequence[Run]) -> Run:
    return Run(*(statistics.mean(column) for column in zip(*runs, strict=True)))


def told(kind: str, name: str, width: int, levels: Run, frontier: Run, guessing: Run) -> None:
    """Adds the rows of one condition at one width; those that have a bar are asserted as well."""
    row, bars = f"{kind}: {name}, {width} in flight", BARS.get(width, (None, None))
    ratio, probes = frontier.time / levels.time, f"{frontier.probes:.0f} probes"
    tell(f"{row}, against level by level", ratio, bars[0], probes)
    assert bars[0] is None or ratio <= bars[0]
    # What a real run loses to other programs on the machine is no fault of the order.
    bar = bars[1] if kind == "simulated" else None
    ratio, probes = guessing.time / frontier.time, f"{guessing.probes:.0f} probes"
    tell(f"{row}, guessing", ratio, bars[1], f"{probes}, {guessing.wasted / guessing.probes:.1%} wasted")
    assert bar is None or ratio <= bar


def test_simulated() -> None:
    for name, holds in CONDITIONS.items():
        for width in (8, 32, 128):
            drawn = [latencies(seed) for seed in range(12)]
            levels = mean([by_levels(holds, width, takes) for takes in drawn])
            by_rank = mean([by_frontier(holds, width, takes) for takes in drawn])
            frontier = mean([by_frontier(holds, width, takes, 0.0, Workers()) for takes in drawn])
            guessing = mean([by_frontier(holds, width, takes, SHARE, Workers()) for takes in drawn])
            assert levels.probes == frontier.probes == by_rank.probes
            row = f"simulated: {name}, {width} in flight, sharing by beginnings against by rank"
            ratio = frontier.time / by_rank.time
            tell(row, ratio, 1.03)
            assert ratio <= 1.03
            told("simulated", name, width, levels, frontier, guessing)


@pytest.mark.parametrize("name", CONDITIONS)
def test_real(name: str) -> None:
    holds = CONDITIONS[name]
    really(holds, 128, [0.0] * 1024)  # loads what is loaded late
    for width, count in DRAWS.items():
        drawn = [latencies(seed) for seed in range(count)]
        levels = mean([by_levels(holds, width, takes) for takes in drawn])
        ideal = mean([by_frontier(holds, width, takes, 0.0, Workers()) for takes in drawn])
        frontier = mean([really(holds, width, takes) for takes in drawn])
        guessing = mean([really(holds, width, takes, SHARE) for takes in drawn])
        told("real", name, width, levels, frontier, guessing)
        alike = mean([by_frontier(holds, width, takes, SHARE, Workers()) for takes in drawn])
        for way, ours, simulated in (("", frontier, ideal), (", guessing", guessing, alike)):
            ratio = ours.time / simulated.time
            row = f"real: {name}, {width} in flight{way}, against the same simulated"
            tell(row, ratio, 1.10, f"mean latency {MEAN * 1000:.0f} ms")
            assert ratio <= 1.10
