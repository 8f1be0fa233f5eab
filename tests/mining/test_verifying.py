"""One rule, held against the definition, and what trying it costs."""

import random

import pytest

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, Subset
from rag_rule_explainer.mining import RuleSearch, Sampled, Verifying, valid_rules
from rag_rule_explainer.mining.verifying import NO_OTHER
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict

RETENTION, OMISSION = RuleKind


def tried(search: RuleSearch, table: dict[Mask, Verdict], at_once: int = 1) -> list[Mask]:
    """Tells the search what it asks for; the masks asked for, in order."""
    asked: list[Mask] = []
    while asks := search.ask(at_once):
        asked += [ask.key for ask in asks]
        search.tell({ask.key: table[ask.key] for ask in asks})
    return asked


@pytest.mark.parametrize("kind", RuleKind)
def test_it_says_what_the_definition_says(kind: RuleKind) -> None:
    draw = random.Random(7)
    for _ in range(300):
        lattice = Lattice(draw.randint(0, 5))
        share, doubt = draw.random() ** 0.2, draw.choice((0.0, 0.0, 0.1))
        table = {
            subset: Verdict.UNKNOWN if draw.random() < doubt else Verdict.of(draw.random() < share)
            for subset in map(Subset, lattice.masks())
        }
        rule = draw.randrange(1 << lattice.size)
        search = RuleSearch(Verifying(kind, rule), lattice)
        asked = tried(search, table, draw.randint(1, 4))
        assert len(asked) == len(set(asked))
        speaks_about = {kind.subset(lattice, Antecedent(wider)) for wider in lattice.supersets(rule)}
        assert set(asked) <= speaks_about
        broken = any(table[mask] is Verdict.BREAKS for mask in speaks_about)
        proved = rule in valid_rules(kind, lattice, table)
        own = table[kind.subset(lattice, Antecedent(rule))]
        expected = "proved" if proved else None if broken or own is not Verdict.HOLDS else "unverified"
        assert [claim.status for claim in search.claims] == [expected] * (expected is not None)
        assert search.stop_reason == NO_OTHER
        assert not search.finished
        unknown = {mask for mask in asked if table[mask] is Verdict.UNKNOWN}
        assert set(search.unresolved) == unknown


def test_a_rule_costs_all_that_it_speaks_about() -> None:
    lattice = Lattice(10)
    pair = lattice.mask([2, 6])
    for kind in RuleKind:
        search = RuleSearch(Verifying(kind, pair), lattice)
        table = dict.fromkeys(lattice.masks(), Verdict.HOLDS)
        assert len(tried(search, table, 8)) == 256


def test_no_rule_costs_one_where_its_own_subset_breaks() -> None:
    lattice = Lattice(10)
    search = RuleSearch(Verifying(RETENTION, 1), lattice)
    assert tried(search, {mask: Verdict.of(mask != 1) for mask in lattice.masks()}, 8) == [1]


def test_one_source_more_or_less_is_found_among_the_first() -> None:
    lattice = Lattice(12)
    rule, everything = 0b11, lattice.full
    # A source beside the rule undoes it, or one is missing beside all the others.
    for breaking in [rule | 1 << 5, everything ^ 1 << 5]:
        search = RuleSearch(Verifying(RETENTION, rule), lattice)
        table = {mask: Verdict.of(mask != breaking) for mask in lattice.masks()}
        asked = tried(search, table)
        assert asked[-1] == breaking
        assert len(asked) <= 2 + 2 * 10


def test_drawn_ones_are_drawn_anew_and_stated() -> None:
    lattice, sampled = Lattice(40), Sampled()
    rule = lattice.mask([0, 7])
    miner = Verifying(RETENTION, rule, sampled, seed=3)
    search, asked = RuleSearch(miner, lattice), set[Subset]()
    while asks := search.ask(8):
        asked |= {ask.key for ask in asks}
        assert [claim.status for claim in search.claims] == ["unverified"] * bool(search.verdicts)
        search.tell({ask.key: Verdict.HOLDS for ask in asks})
    (claim,) = search.claims
    assert (claim.status, claim.draws) == ("tested", 59)
    assert "fails on at most 5 % of such" in claim.sampling
    assert rule in asked
    assert len(asked) <= 60
    assert all(mask & rule == rule for mask in asked)
    again = RuleSearch(miner, lattice, known=dict.fromkeys(asked, Verdict.HOLDS))
    assert again.ask() == ()
    assert again.claims == (claim,)


def test_what_was_in_flight_when_it_broke_is_told_and_finishes_nothing() -> None:
    search = RuleSearch(Verifying(OMISSION, 0b1), Lattice(4))
    (own,) = search.ask()
    search.tell({own.key: Verdict.HOLDS})
    first, second, third = (ask.key for ask in search.ask(3))
    search.tell({first: Verdict.BREAKS})
    assert search.ask() == ()
    search.tell({second: Verdict.BREAKS})
    search.tell({third: Verdict.HOLDS})
    assert search.claims == ()
    assert not search.finished
    assert search.unresolved == ()
