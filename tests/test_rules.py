import pytest

from rag_rule_explainer.lattice import Antecedent, Lattice
from rag_rule_explainer.rules import Claim, Rule, RuleKind

RETENTION, OMISSION = RuleKind


@pytest.mark.parametrize("kind", RuleKind)
def test_the_projection_is_its_own_inverse(kind: RuleKind) -> None:
    lattice = Lattice(4)
    for antecedent in lattice.masks():
        assert kind.antecedent(lattice, kind.subset(lattice, Antecedent(antecedent))) == antecedent


def test_what_is_retained_when_a_rule_just_applies() -> None:
    lattice = Lattice(3)
    assert RETENTION.subset(lattice, Antecedent(0b101)) == 0b101
    assert OMISSION.subset(lattice, Antecedent(0b101)) == 0b010


def test_a_rule_subsumes_those_of_its_kind_that_name_all_its_sources() -> None:
    small, large = Rule(RETENTION, Antecedent(0b001)), Rule(RETENTION, Antecedent(0b011))
    assert small.subsumes(large)
    assert small.subsumes(small)
    assert not large.subsumes(small)
    assert not small.subsumes(Rule(OMISSION, Antecedent(0b011)))
    assert Claim(RETENTION, Antecedent(0b001), "proved").rule == small
