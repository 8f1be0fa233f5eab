"""An arrangement's key answers the same questions of a session for a subset and for an order of units."""

from itertools import permutations

import pytest

from rag_rule_explainer.lattice import Antecedent, Lattice, Subset, unit_count
from rag_rule_explainer.mining import Mono, RuleSearch
from rag_rule_explainer.rules import RuleKind

LATTICE = Lattice(4)


@pytest.mark.parametrize("kind", RuleKind)
def test_a_rule_applies_to_an_order_as_to_the_subset_of_its_units(kind: RuleKind) -> None:
    search = RuleSearch(Mono(kind), LATTICE)
    for size in range(5):
        for order in permutations(range(4), size):
            key = Subset(LATTICE.mask(order))
            assert unit_count(order) == unit_count(key) == size
            assert LATTICE.left_out(order) == LATTICE.left_out(key) == set(range(4)) - set(order)
            for mask in LATTICE.masks():
                named = set(LATTICE.units(mask))
                kept = set(order) if kind is RuleKind.RETENTION else set(range(4)) - set(order)
                for each in (order, key):
                    assert search.applies(Antecedent(mask), each) == (named <= kept)
