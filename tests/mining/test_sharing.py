"""Which worker of a search takes which subset, beside an oracle that compares all of them. Also, what a
server evaluates that keeps one prompt for each slot, as llama.cpp's does."""

import heapq
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import Lattice, Mask, Subset
from rag_rule_explainer.mining import Ask, Exhaustive, Mono, RuleSearch, Transversal, Workers
from rag_rule_explainer.mining.protocol import Miner
from rag_rule_explainer.mining.sharing import Ready
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

SIZE = 8
LATTICE = Lattice(SIZE)
PAIR = LATTICE.mask([2, 5])
NOWHERE = SIZE + 1
SOURCE, QUESTION = 60, 12
"""Tokens of a prompt."""

masks = st.integers(0, LATTICE.full)


def distance(one: Mask, others: list[Mask]) -> int:
    return min(((one ^ other).bit_length() for other in others), default=NOWHERE)


def by_comparing_all(ready: set[Mask], own: list[Mask], others: list[Mask], up: bool) -> Mask:
    """The nearest of those that no other worker is as near to. If there are none, the farthest of all,
    or the first one if fewer are ready than there are workers."""

    def order(mask: Mask) -> tuple[bool, int, int]:
        mine, theirs = distance(mask, own), distance(mask, others)
        is_own = bool(own) and mine < theirs
        far = theirs if len(ready) > len(others) else 0
        return not is_own, mine if is_own else -far, mask if up else -mask

    return min(ready, key=order)


@given(
    st.lists(st.tuples(st.sets(masks), st.integers(0, 4)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 4), masks), max_size=8),
    st.booleans(),
)
def test_each_choice_is_that_of_an_oracle(
    steps: list[tuple[set[Mask], int]], before: list[tuple[int, Mask]], up: bool
) -> None:
    workers, ready, asks = Workers(), Ready[int](), dict[int, Ask]()
    last = dict[int, Mask]()

    def goes(worker: int, mask: Mask) -> None:
        workers.went(worker, Subset(mask))
        last[worker] = mask

    for worker, mask in before:
        goes(worker, mask)
    for new, worker in steps:
        for mask in sorted(new - asks.keys()):
            asks[mask] = Ask(Subset(mask), mask if up else LATTICE.full ^ mask)
            ready.new.append(mask)
        if asks:
            others = [mask for each, mask in last.items() if each != worker]
            own = [last[worker]] if worker in last else []
            expected = by_comparing_all(set(asks), own, others, up)
            assert ready.taken(worker, workers, asks) == expected
            del asks[expected]
            goes(worker, expected)


@dataclass
class Slot:
    prompt: tuple[object, ...] = ()
    is_free: bool = True
    used: int = 0


@dataclass
class Slots:
    """A server that keeps the last prompt of each slot. As llama.cpp's, it gives a request to the free
    slot whose prompt begins most like it, if that is more than a tenth of it; if none does, to the one
    that was unused the longest."""

    slots: list[Slot]
    evaluated: int = 0
    prefixes: dict[tuple[int, object], int] = field(default_factory=dict[tuple[int, object], int])
    """Each beginning of a prompt by a number, under the one that it continues and its last token."""
    requests: int = 0

    def begin(self, mask: Mask) -> tuple[Slot, int]:
        prompt = tuple((unit, token) for unit in LATTICE.units(mask) for token in range(SOURCE))
        prompt += tuple(("question", token) for token in range(QUESTION))
        known = 0
        for token in prompt:
            known = self.prefixes.setdefault((known, token), len(self.prefixes) + 1)
        free = [slot for slot in self.slots if slot.is_free]
        slot = max(free, key=lambda slot: shared(slot.prompt, prompt))
        if shared(slot.prompt, prompt) <= 0.1 * len(prompt):
            slot = min(free, key=lambda slot: slot.used)
        anew = max(1, len(prompt) - shared(slot.prompt, prompt))
        self.requests += 1
        self.evaluated += anew
        slot.prompt, slot.is_free, slot.used = prompt, False, self.requests
        return slot, anew

    @property
    def ratio(self) -> float:
        return self.evaluated / len(self.prefixes)


def shared(one: tuple[object, ...], other: tuple[object, ...]) -> int:
    alike = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours != theirs:
            break
        alike += 1
    return alike


def served(miner: Miner, count: int, shares: bool = True) -> tuple[float, float]:
    """What is evaluated, as a multiple of the least possible, and when the last request ends, if a
    request takes as long as its prompt."""
    search, workers, server = RuleSearch(miner, LATTICE), Workers(), Slots([Slot() for _ in range(count)])
    draw, now, idle = random.Random(count), 0.0, list(range(count))
    flying = list[tuple[float, int, Subset, Slot]]()
    while True:
        for worker in tuple(idle):
            ask = search.next(worker, workers) if shares else search.next()
            if ask is None:
                break
            idle.remove(worker)
            workers.went(worker, ask.key)
            slot, tokens = server.begin(ask.key)
            heapq.heappush(flying, (now + tokens * draw.uniform(0.9, 1.1), worker, ask.key, slot))
        if not flying:
            assert search.finished
            return server.ratio, now
        now, worker, mask, slot = heapq.heappop(flying)
        slot.is_free = True
        search.tell({mask: Verdict.HOLDS})
        idle.append(worker)


@pytest.mark.parametrize(
    ("count", "bar"), [(1, 1.02), (2, 1.06), (4, 1.08), (8, 1.15)], ids=["1", "2", "4", "8"]
)
def test_all_subsets_from_several_slots(count: int, bar: float) -> None:
    miner = Exhaustive(RuleKind.RETENTION)
    ratio, took = served(miner, count)
    assert ratio <= bar
    in_order, took_in_order = served(miner, count, shares=False)
    assert (ratio, took) == (in_order, took_in_order) if count == 1 else ratio < 0.85 * in_order
    assert took <= took_in_order


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kind", RuleKind)
@pytest.mark.parametrize(("count", "bar"), [(2, 1.1), (4, 1.2), (8, 1.35)], ids=["2", "4", "8"])
def test_a_search_whose_subsets_are_known_late(kind: RuleKind, count: int, bar: float) -> None:
    ratio, took = served(Mono(kind), count)
    assert ratio <= bar
    in_order, took_in_order = served(Mono(kind), count, shares=False)
    assert ratio < in_order
    assert took <= took_in_order


def test_a_single_worker_takes_the_asks_in_their_order() -> None:
    search, workers = RuleSearch(Exhaustive(RuleKind.RETENTION), Lattice(4)), Workers()
    order = list[Mask]()
    while (ask := search.next(0, workers)) is not None:
        workers.went(0, ask.key)
        order.append(ask.key)
    assert order == sorted(order)


def test_a_miner_that_does_not_say_so_is_asked_in_its_order() -> None:
    search, workers = RuleSearch(Transversal(RuleKind.RETENTION), LATTICE), Workers()
    workers.went(0, Subset(0))
    first = search.next(1, workers)
    assert first is not None
    search.tell({first.key: Verdict.HOLDS})
    ranks = list[int]()
    for worker in range(4):
        if (ask := search.next(worker, workers)) is not None:
            ranks.append(ask.rank)
    assert ranks == sorted(ranks)


@given(st.data())
def test_each_subset_is_given_out_once_whoever_asks_and_however(data: st.DataObject) -> None:
    search, workers = RuleSearch(Mono(RuleKind.RETENTION), Lattice(5)), Workers()
    asked, flying = list[Subset](), list[Subset]()
    while True:
        shares, worker = data.draw(st.tuples(st.booleans(), st.integers(0, 3)))
        ask = search.next(worker, workers) if shares else search.next()
        if ask is not None:
            workers.went(worker, ask.key)
            asked.append(ask.key)
            flying.append(ask.key)
        # No worker waits while an ask is ready.
        assert (ask is None) <= (search.waiting == len(flying))
        if not flying:
            break
        if ask is None or data.draw(st.booleans()):
            told = flying.pop(data.draw(st.integers(0, len(flying) - 1)))
            search.tell({told: Verdict.HOLDS})
    assert sorted(asked) == list(range(32))
    assert search.finished
