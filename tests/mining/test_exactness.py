"""Mono and Dual against the definition, on every function that is small enough to be listed."""

import random
from collections.abc import Callable, Iterable, Iterator

import pytest

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, Subset
from rag_rule_explainer.mining import Exhaustive, Mono, RuleSearch, dual
from rag_rule_explainer.mining.protocol import Miner
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples

Function = Callable[[Mask], bool]


def table(bits: int) -> Function:
    return lambda mask: bool(bits >> mask & 1)


def steps(search: RuleSearch, holds: Function, draw: random.Random) -> Iterator[Subset]:
    """Runs a search with verdicts arriving late and in any order; yields what was probed."""
    waiting: list[Subset] = []
    while not search.finished:
        waiting += [ask.key for ask in search.ask(draw.randint(1, 4))]
        draw.shuffle(waiting)
        told = [waiting.pop() for _ in range(draw.randint(1, len(waiting)))]
        search.tell({mask: Verdict.of(holds(mask)) for mask in told})
        yield from told


def claimed(search: RuleSearch) -> set[Mask]:
    assert all(claim.status == "proved" and claim.kind is search.kind for claim in search.claims)
    return {claim.antecedent for claim in search.claims}


def needed(kind: RuleKind, lattice: Lattice, holds: Function) -> set[Subset]:
    """V ∪ B, as concrete subsets, straight from the definition."""
    valid: set[Mask] = set()
    border: set[Mask] = set()
    for antecedent in reversed(lattice.masks()):
        if all(parent in valid for parent in lattice.one_more(antecedent)):
            (valid if holds(kind.subset(lattice, Antecedent(antecedent))) else border).add(antecedent)
    return {kind.subset(lattice, Antecedent(antecedent)) for antecedent in valid | border}


def mined(miner: Miner, lattice: Lattice, holds: Function, draw: random.Random) -> set[Mask]:
    search = RuleSearch(miner, lattice)
    list(steps(search, holds, draw))
    return claimed(search)


def check(lattice: Lattice, holds: Function, draw: random.Random) -> None:
    for kind in RuleKind:
        search = RuleSearch(Mono(kind), lattice)
        probed = list(steps(search, holds, draw))
        assert len(probed) == len(set(probed))
        assert set(probed) == needed(kind, lattice, holds)
        assert claimed(search) == mined(Exhaustive(kind), lattice, holds, draw)


def check_dual(lattice: Lattice, holds: Function, draw: random.Random) -> None:
    """Two searches over one memo need the union of what each needs, each mask once."""
    memory: dict[Mask, bool] = {}

    def remembered(mask: Mask) -> bool:
        return memory.setdefault(mask, holds(mask))

    searches = dual(lattice)
    for search in searches:
        list(steps(search, remembered, draw))
        assert claimed(search) == mined(Mono(search.kind), lattice, holds, draw)
    assert memory.keys() == set().union(*(needed(kind, lattice, holds) for kind in RuleKind))


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_every_function_of_up_to_three_sources(size: int) -> None:
    draw = random.Random(size)
    for function in range(2 ** (2**size)):
        check(Lattice(size), table(function), draw)
        check_dual(Lattice(size), table(function), draw)


@pytest.mark.slow
def test_one_in_sixteen_functions_of_four_sources() -> None:
    check_some(range(7, 65_536, 16))


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("residue", range(32))
def test_every_function_of_four_sources(residue: int) -> None:
    check_some(range(residue, 65_536, 32))


def check_some(functions: Iterable[int]) -> None:
    draw = random.Random(4)
    for function in functions:
        check(Lattice(4), table(function), draw)
        check_dual(Lattice(4), table(function), draw)


@drawn
@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_random_functions(size: int) -> None:
    draw = random.Random(size)
    for share in (0.05, 0.5, 0.9, 0.97, 0.995):
        for _ in range(examples(6)):
            function = sum((draw.random() < share) << mask for mask in range(2**size))
            check(Lattice(size), table(function), draw)
            check_dual(Lattice(size), table(function), draw)


def test_all_valid_rules_on_request() -> None:
    lattice = Lattice(5)
    pair = lattice.mask([1, 3])
    for miner in (Mono(RuleKind.RETENTION, minimal=False), Exhaustive(RuleKind.RETENTION, minimal=False)):
        rules = mined(miner, lattice, lambda mask: mask & pair == pair, random.Random(1))
        assert rules == set(lattice.supersets(pair))


@drawn
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("make", [Mono, Exhaustive])
def test_stopped_anywhere_every_claim_is_true(make: Callable[[RuleKind], Miner], size: int) -> None:
    draw = random.Random(size)
    lattice = Lattice(size)
    some = (sum((draw.random() < 0.8) << mask for mask in range(2**size)) for _ in range(examples(40)))
    for function in range(2 ** (2**size)) if size <= 3 else some:
        for kind in RuleKind:
            true = mined(Exhaustive(kind, minimal=False), lattice, table(function), draw)
            search = RuleSearch(make(kind), lattice)
            for _ in steps(search, table(function), draw):
                assert claimed(search) <= true
