import random

import anyio
import anyio.lowlevel
import pytest

from rag_rule_explainer.lattice import Lattice, Mask
from rag_rule_explainer.mining import Exhaustive, Mono, RuleSearch, dual
from rag_rule_explainer.probing.drivers import drive
from rag_rule_explainer.probing.limits import LimitReached
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests import clock

pytestmark = pytest.mark.waits

LATTICE = Lattice(6)
PAIR = LATTICE.mask([1, 4])


class Bench:
    """Answers for the pair; counts what is asked and how much is in flight."""

    def __init__(self, delay: float = 0.0) -> None:
        self.asked: list[tuple[RuleKind, Mask]] = []
        self.in_flight = self.peak = 0
        self._delay, self._draw = delay, random.Random(1)

    async def __call__(self, search: RuleSearch, mask: Mask) -> Verdict:
        self.asked.append((search.kind, mask))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await anyio.sleep(self._delay * self._draw.random())
        self.in_flight -= 1
        return Verdict.of((mask & PAIR == PAIR) is (search.kind is RuleKind.RETENTION))


@pytest.mark.parametrize("concurrency", [1, 2, 8, 64])
def test_the_probes_are_the_same_whatever_the_concurrency(concurrency: int) -> None:
    bench, searches = Bench(0.001), dual(LATTICE)
    clock.run(drive(searches, bench, concurrency))
    assert all(search.finished for search in searches)
    assert len(bench.asked) == len(set(bench.asked)) == (16 + 2) + (64 - 16 + 1)
    assert [c.antecedent for c in searches[0].claims] == [PAIR]
    assert bench.peak <= concurrency
    if concurrency <= 8:
        assert bench.peak == concurrency


def test_idle_workers_are_woken_as_soon_as_there_is_work() -> None:
    # Were workers not woken, the frontier would be probed one at a time.
    bench = Bench(0.001)
    clock.run(drive((RuleSearch(Mono(RuleKind.RETENTION), LATTICE),), bench, 4))
    assert bench.peak == 4


def test_workers_share_the_subsets_by_what_prompts_begin_with() -> None:
    bench = Bench(0.001)
    search = RuleSearch(Exhaustive(RuleKind.RETENTION), LATTICE)
    clock.run(drive((search,), bench, 4, lockstep=True))
    asked = [mask for _, mask in bench.asked]
    # In each round, one subset of each quarter, so that beginnings differ.
    rounds = [sorted(mask >> 4 for mask in asked[start : start + 4]) for start in range(0, 64, 4)]
    assert rounds == [[0, 1, 2, 3]] * 16


def test_a_limit_stops_every_search_and_the_claims_stand() -> None:
    searches = dual(LATTICE)
    bench = Bench()

    async def limited(search: RuleSearch, mask: Mask) -> Verdict:
        if len(bench.asked) == 5:
            raise LimitReached("five is enough")
        return await bench(search, mask)

    clock.run(drive(searches, limited, 3))
    assert [search.stop_reason for search in searches] == ["five is enough"] * 2
    assert len(bench.asked) == 5
    assert searches[0].claims


def test_an_error_ends_the_search_and_is_raised_as_it_is() -> None:
    bench = Bench(0.01)

    async def failing(search: RuleSearch, mask: Mask) -> Verdict:
        verdict = await bench(search, mask)
        if len(bench.asked) > 6:
            raise KeyError("a bug")
        return verdict

    with pytest.raises(KeyError, match="a bug"):
        clock.run(drive(dual(LATTICE), failing, 4))
    assert bench.in_flight == 0


def test_cancelling_leaves_nothing_in_flight() -> None:
    bench = Bench(3600)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(drive, dual(LATTICE), bench, 4)
            while not bench.asked:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    clock.run(main())
    assert bench.asked
