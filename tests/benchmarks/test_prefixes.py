"""Prompt tokens that a model computes anew under a prefix cache, beside the least possible.

Every source is a token here. The least possible is the number of distinct prefixes of all prompts: that
is what a cache without bounds would compute.
"""

import heapq
import random
from collections.abc import Callable, Iterable

import pytest

from rag_rule_explainer.lattice import Lattice, Mask, Subset
from rag_rule_explainer.mining import Exhaustive, Mono, RuleSearch, Workers
from rag_rule_explainer.mining.protocol import Miner
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.benchmarks.ratios import tell
from tests.support.prefix_cache import PrefixCache

pytestmark = pytest.mark.benchmark
LATTICE = Lattice(10)
PAIR = LATTICE.mask([2, 6])
Holds = Callable[[Mask], bool]


def prompt(mask: Mask) -> tuple[int, ...]:
    return LATTICE.units(mask)


def computed(order: Iterable[Mask], room: int) -> float:
    """How many tokens are computed anew, as a multiple of the least possible."""
    cache, anew, prefixes = PrefixCache(room), 0, set[tuple[int, ...]]()
    for mask in order:
        tokens = prompt(mask)
        anew += len(tokens) - cache.ask(tokens)
        prefixes.update(tokens[: place + 1] for place in range(len(tokens)))
    return anew / len(prefixes)


def asked(miner: Miner, holds: Holds, in_flight: int, seed: int = 0) -> list[Mask]:
    """The order in which a search asks, with log-normal latencies where several are in flight."""
    draw = random.Random(seed)
    search, now, order = RuleSearch(miner, LATTICE), 0.0, list[Mask]()
    workers, idle = Workers(), list(range(in_flight))
    flying: list[tuple[float, int, Subset]] = []
    while True:
        while idle and (ask := search.next(idle[-1], workers)) is not None:
            worker = idle.pop()
            workers.went(worker, ask.key)
            order.append(ask.key)
            heapq.heappush(flying, (now + draw.lognormvariate(-0.18, 0.6), worker, ask.key))
        if not flying:
            return order
        now, worker, mask = heapq.heappop(flying)
        idle.append(worker)
        verdict = Verdict.of(holds(mask))
        search.tell({mask: verdict})


def always(_: Mask) -> bool:
    return True


def pair(mask: Mask) -> bool:
    return mask & PAIR == PAIR


def no_pair(mask: Mask) -> bool:
    return not pair(mask)


def by_level(order: Iterable[Mask]) -> list[Mask]:
    return sorted(order, key=lambda mask: (-mask.bit_count(), mask))


@pytest.mark.parametrize(
    ("title", "miner", "holds"),
    [
        ("all subsets", Exhaustive(RuleKind.RETENTION), always),
        ("all subsets hold", Mono(RuleKind.RETENTION), always),
        ("a pair", Mono(RuleKind.RETENTION), pair),
        ("not a pair, omission", Mono(RuleKind.OMISSION), no_pair),
    ],
)
def test_prompt_tokens_computed_anew(title: str, miner: Miner, holds: Holds) -> None:
    one = asked(miner, holds, 1)
    eight = [computed(asked(miner, holds, 8, seed), 80) for seed in range(10)]
    told = f"{len(one)} probes; by level {computed(by_level(one), 20):.2f}"
    tell(f"prefixes: {title}, one at a time, room for 20", computed(one, 20), 1.02, told)
    tell(f"prefixes: {title}, 8 in flight, room for 80", max(eight), 1.15, "the worst of 10 draws")
