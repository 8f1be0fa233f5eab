"""Confidence: all of it from one transform, equal to its definition."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, minimal
from rag_rule_explainer.mining import Confidence, RuleSearch, superset_sums
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.testing import check_miner
from rag_rule_explainer.verdicts import Verdict


def by_definition(values: list[int], size: int) -> list[int]:
    lattice = Lattice(size)
    return [sum(values[wider] for wider in lattice.supersets(mask)) for mask in lattice.masks()]


def confidence(kind: RuleKind, lattice: Lattice, holds: set[Mask], antecedent: Mask) -> Fraction:
    under = [kind.subset(lattice, Antecedent(wider)) for wider in lattice.supersets(antecedent)]
    return Fraction(sum(mask in holds for mask in under), len(under))


@pytest.mark.parametrize("size", [*range(4), pytest.param(4, marks=pytest.mark.slow)])
def test_the_sums_of_every_function_of_up_to_four_units(size: int) -> None:
    subsets = 1 << size
    for function in range(1 << subsets):
        values = [function >> mask & 1 for mask in range(subsets)]
        assert list(superset_sums(values, size)) == by_definition(values, size)


@pytest.mark.parametrize("seed", range(5))
def test_the_sums_of_random_functions_of_ten(seed: int) -> None:
    draw = random.Random(seed)
    values = [draw.randrange(2) for _ in range(1 << 10)]
    assert list(superset_sums(values, 10)) == by_definition(values, 10)


@given(
    kind=st.sampled_from(RuleKind),
    size=st.integers(0, 4),
    share=st.sampled_from([0.3, 0.5, 0.75, 0.9]),
    data=st.data(),
)
def test_the_rules_are_those_of_the_definition(
    kind: RuleKind, size: int, share: float, data: st.DataObject
) -> None:
    lattice = Lattice(size)
    holds = set(data.draw(st.sets(st.sampled_from(lattice.masks()))))
    search = RuleSearch(Confidence(kind, share), lattice)
    masks = data.draw(st.permutations([ask.key for ask in search.ask()]))
    confident = [s for s in lattice.masks() if confidence(kind, lattice, holds, s) >= share]
    for mask in masks:
        # What is claimed on the way is true already.
        assert {claim.antecedent for claim in search.claims} <= set(confident)
        search.tell({mask: Verdict.of(mask in holds)})
    assert search.finished
    assert {claim.antecedent for claim in search.claims} == set(minimal(confident))
    assert {claim.status for claim in search.claims} <= {"confident"}


def test_full_confidence_is_the_exact_rules() -> None:
    check_miner(lambda kind: Confidence(kind, 1.0))
