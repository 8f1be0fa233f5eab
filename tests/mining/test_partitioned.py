"""Rules within batches: what they cost, that none is missed, and that each says what it rests on."""

import random
from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.lattice import Antecedent, Lattice, Mask
from rag_rule_explainer.mining import Mono, Partition, Partitioned, RuleSearch
from rag_rule_explainer.mining.partition import Others
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.testing import check_miner
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples

RETENTION, OMISSION = RuleKind
WAYS = tuple(product(RuleKind, ("omitted", "retained")))
FIFTY = Lattice(50)
TENS = tuple(FIFTY.mask(range(start, start + 10)) for start in range(0, 50, 10))


def searched(miner: Partitioned, lattice: Lattice, holds: Callable[[Mask], bool]) -> RuleSearch:
    search = RuleSearch(miner, lattice)
    while asks := search.ask():
        search.tell({ask.key: Verdict.of(holds(ask.key)) for ask in asks})
    return search


def alone(miner: Partitioned, lattice: Lattice, holds: Callable[[Mask], bool]) -> list[dict[Mask, Mask]]:
    """For each batch, mined by itself over its own lattice: its rules, and as what they are tried."""
    said = list[dict[Mask, Mask]]()
    for batch in miner.batches:
        units = lattice.units(batch)
        own = Lattice(len(units))
        others = lattice.complement(batch) if miner.others == "retained" else 0

        def spread(mask: Mask, own: Lattice = own, units: Sequence[int] = units) -> Mask:
            return lattice.mask(units[unit] for unit in own.units(mask))

        search = RuleSearch(Mono(miner.kind, miner.minimal), own)
        while asks := search.ask():
            told = {ask.key: Verdict.of(holds(spread(ask.key) | others)) for ask in asks}
            search.tell(told)
        own_subset = {
            spread(claim.antecedent): spread(miner.kind.subset(own, claim.antecedent)) | others
            for claim in search.claims
        }
        said.append(own_subset)
    return said


@given(seed=st.integers(0, 10**6), way=st.sampled_from(WAYS), minimal=st.booleans())
def test_each_batch_has_the_rules_that_mining_it_alone_finds(
    seed: int, way: tuple[RuleKind, Others], minimal: bool
) -> None:
    draw = random.Random(seed)
    lattice = Lattice(draw.randint(2, 7))
    units = list(range(lattice.size))
    draw.shuffle(units)
    cut = draw.randint(1, lattice.size - 1)
    batches = lattice.mask(units[:cut]), lattice.mask(units[cut:])
    table = [draw.random() < draw.choice((0.5, 0.95)) for _ in lattice.masks()]
    miner = Partitioned(way[0], batches, way[1], minimal)
    search = searched(miner, lattice, table.__getitem__)
    found = alone(miner, lattice, table.__getitem__)
    claimed = {claim.antecedent: claim for claim in search.claims}
    assert len(claimed) == len(search.claims)
    expected = {rule for batch in found for rule in batch}
    apart = way in {(RETENTION, "omitted"), (OMISSION, "retained")}
    if apart and Verdict.BREAKS in search.verdicts.values():
        expected.discard(0)  # it would speak of all sources
    assert claimed.keys() == expected
    for batch, rules in zip(batches, found, strict=True):
        for rule, own in rules.items():
            if rule in expected and rule:
                assert claimed[Antecedent(rule)].kept == batch
            if rule in expected:
                assert own in {
                    way[0].subset(lattice, tried) for tried in claimed[Antecedent(rule)].hangs_on
                }
    assert {claim.status for claim in search.claims} <= {"relative"}


@pytest.mark.spread(fast=2)
@drawn
@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way[0].value}-{way[1]}")
@pytest.mark.parametrize("minimal", [True, False])
def test_it_keeps_the_contract_of_miners(way: tuple[RuleKind, Others], minimal: bool) -> None:
    class Halved:
        """The miner of two batches, however many units there are."""

        kind = way[0]

        def __call__(self, lattice: Lattice, /):
            half = lattice.mask(range(lattice.size // 2))
            batches = tuple(batch for batch in (half, lattice.complement(half)) if batch) or (0,)
            return Partitioned(way[0], batches, way[1], minimal)(lattice)

    check_miner(lambda _: Halved(), trials=examples(100), finds_all=False)


def test_it_takes_what_mining_each_batch_takes_and_shares_what_batches_share() -> None:
    pair = FIFTY.mask((7, 3))
    search = searched(Partitioned(RETENTION, TENS, "omitted"), FIFTY, lambda mask: mask & pair == pair)
    (claim,) = search.claims
    assert (claim.antecedent, claim.kept, claim.tried) == (pair, TENS[0], ())
    assert claim.sampling == "held on all 256 subsets, with the sources of all other batches left out"
    # Of the batches without them, each says no at once.
    assert len(search.verdicts) == 258 + 4
    opposite = searched(Partitioned(OMISSION, TENS, "retained"), FIFTY, lambda mask: mask & pair != pair)
    assert {claim.antecedent for claim in opposite.claims} == {FIFTY.mask([7]), FIFTY.mask([3])}
    assert len(opposite.verdicts) == 769 + 4
    always = searched(Partitioned(RETENTION, TENS, "omitted"), FIFTY, lambda _: True)
    assert len(always.verdicts) == 5 * 1023 + 1
    assert [claim.antecedent for claim in always.claims] == [0]


def test_held_in_a_pair_over_two_batches_is_seen_as_what_each_lacks() -> None:
    pair = FIFTY.mask((7, 43))
    search = searched(Partitioned(RETENTION, TENS, "retained"), FIFTY, lambda mask: mask & pair == pair)
    claims = {claim.antecedent: claim for claim in search.claims}
    assert claims.keys() == {0, FIFTY.mask([7]), FIFTY.mask([43])}
    told = "held on all 512 subsets, with the sources of all other batches retained"
    assert claims[Antecedent(FIFTY.mask([7]))].sampling == told
    assert claims[Antecedent(FIFTY.mask([7]))].hangs_on == (FIFTY.full ^ TENS[0] | FIFTY.mask([7]),)
    assert "; and so within 2 other batches" in claims[Antecedent(0)].sampling
    assert len(claims[Antecedent(0)].hangs_on) == 3
    apart = searched(Partitioned(RETENTION, TENS, "omitted"), FIFTY, lambda mask: mask & pair == pair)
    assert not apart.claims


def test_what_others_are_held_as_goes_by_the_kind_where_nothing_is_said() -> None:
    assert [Partition().held(kind) for kind in RuleKind] == ["omitted", "retained"]
    assert [Partition(others="retained").held(kind) for kind in RuleKind] == ["retained"] * 2
    assert Partition.of("document") == Partition("document")
    assert Partition.of(None) is None


@pytest.mark.parametrize("wrong", [0, 21, True, "", 2.5, ("a",)])
def test_what_it_cannot_be_by_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="a number of sources from 1 to 20"):
        Partition.of(wrong)  # pyright: ignore[reportArgumentType] -- on purpose
    with pytest.raises(InvalidInput, match="'omitted', 'retained' or None"):
        Partition(others="out")  # pyright: ignore[reportArgumentType] -- on purpose
