"""What a search costs, in probes: the closed forms of the paper's synthetic setting."""

import pytest

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask
from rag_rule_explainer.mining import Exhaustive, Mono, RuleSearch
from rag_rule_explainer.mining.protocol import Miner
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

RETENTION, OMISSION = RuleKind


def probed(miner: Miner, size: int, necessary: int, *, negated: bool = False) -> list[Mask]:
    """The masks probed, in order, one at a time; the first ``necessary`` sources must all be kept."""
    lattice = Lattice(size)
    needed = lattice.mask(range(necessary))
    search, asked = RuleSearch(miner, lattice), list[Mask]()
    while not search.finished:
        (ask,) = search.ask(1)
        asked.append(ask.key)
        search.tell({ask.key: Verdict.of((ask.key & needed == needed) is not negated)})
    return asked


@pytest.mark.parametrize("size", range(2, 11))
@pytest.mark.parametrize("necessary", [1, 2])
def test_retention_costs_the_valid_rules_and_their_border(size: int, necessary: int) -> None:
    assert len(probed(Mono(RETENTION), size, necessary)) == 2 ** (size - necessary) + necessary


@pytest.mark.parametrize("size", range(2, 11))
@pytest.mark.parametrize("necessary", [1, 2])
def test_omission_of_the_negation(size: int, necessary: int) -> None:
    cost = len(probed(Mono(OMISSION), size, necessary, negated=True))
    assert cost == 2**size - 2 ** (size - necessary) + 1


def test_the_papers_ten_sources() -> None:
    retention = probed(Mono(RETENTION), 10, 2)
    omission = probed(Mono(OMISSION), 10, 2, negated=True)
    assert len(retention) == 258
    assert len(omission) == 769
    assert len({*retention, *omission}) == 1024


def test_no_retention_rule_costs_one_probe() -> None:
    assert probed(Mono(RETENTION), 10, 2, negated=True) == [Lattice(10).full]


def test_when_all_subsets_hold_all_are_probed() -> None:
    assert len(probed(Mono(RETENTION), 10, 0)) == 1024
    assert len(probed(Exhaustive(RETENTION), 10, 2)) == 1024


@pytest.mark.parametrize("kind", RuleKind)
def test_one_at_a_time_goes_in_counting_order(kind: RuleKind) -> None:
    lattice = Lattice(8)
    masks = probed(Mono(kind), 8, 2, negated=kind is OMISSION)
    ranks = [lattice.complement(kind.subset(lattice, Antecedent(mask))) for mask in masks]
    assert ranks == sorted(ranks)


def test_counting_order_recomputes_hardly_more_than_the_distinct_prefixes() -> None:
    lattice = Lattice(10)
    prompts = [lattice.units(mask) for mask in probed(Mono(RETENTION), 10, 0)]
    recomputed, cached = 0, ()
    for prompt in prompts:
        shared = next((i for i, (a, b) in enumerate(zip(prompt, cached, strict=False)) if a != b), None)
        recomputed += len(prompt) - (min(len(prompt), len(cached)) if shared is None else shared)
        cached = prompt
    assert recomputed == 1023
