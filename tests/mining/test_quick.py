"""Rules found by bisection and tested together: what they cost, and that what is said of them is so."""

import random
from collections.abc import Sequence
from itertools import product

import pytest

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, minimal
from rag_rule_explainer.mining import QUICK_SAMPLING, Quick, RuleSearch, Sampled
from rag_rule_explainer.mining.quick import shared_draws
from rag_rule_explainer.mining.sampled import Draws
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.testing import check_miner
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples
from tests.mining.blockers import blocked, violation

RETENTION, OMISSION = RuleKind
SHAPES: dict[str, tuple[Sequence[Sequence[int]], int, int]] = {
    # the rules, the most probes to the first culprit, the most in all
    "one": (((0,),), 11, 40),
    "either of two": (((0,), (1,)), 11, 58),
    "both of two": (((0, 1),), 11, 58),
    "any of three": (((0,), (1,), (2,)), 11, 72),
    "all of three": (((0, 1, 2),), 11, 72),
    "two or one": (((0, 1), (2,)), 22, 90),
}


class BothKinds:
    """The searches for both kinds of rule, of which each probe is made once."""

    def __init__(self, size: int, rules: Sequence[Sequence[int]], seed: int) -> None:
        self.lattice = Lattice(size)
        places = random.Random(seed).sample(range(size), size)
        moved = [tuple(places[unit] for unit in rule) for rule in rules]
        self.retention = {self.lattice.mask(rule) for rule in moved}
        self.omission = set(minimal({self.lattice.mask(each) for each in product(*moved)}))
        self.searches = [
            RuleSearch(Quick(kind, QUICK_SAMPLING, seed, 2), self.lattice) for kind in RuleKind
        ]
        self.probed: dict[Mask, bool] = {}
        self.first = 0

    def run(self) -> "BothKinds":
        while asked := [(search, ask.key) for search in self.searches for ask in search.ask(4)]:
            for search, mask in asked:
                holds = any(mask & rule == rule for rule in self.retention)
                self.probed[mask] = holds
                search.tell({mask: Verdict.of(holds is (search.kind is RETENTION))})
            if not self.first and any(search.claims for search in self.searches):
                self.first = len(self.probed)
        return self

    @property
    def claimed(self) -> list[set[Antecedent]]:
        return [{claim.antecedent for claim in search.claims} for search in self.searches]


@pytest.mark.parametrize("name", SHAPES)
def test_forty_sources_take_few_probes_and_name_the_first_culprit_at_once(name: str) -> None:
    rules, soon, most = SHAPES[name]
    for seed in range(30):
        both = BothKinds(40, rules, seed).run()
        assert both.claimed == [both.retention, both.omission]
        assert all(search.finished for search in both.searches)
        assert both.first <= soon
        assert len(both.probed) <= most
        claims = [claim for search in both.searches for claim in search.claims]
        assert {(claim.status, claim.draws) for claim in claims} == {("tested", 14)}
        assert all("it fails on at most 20 % of such" in claim.sampling for claim in claims)


def test_two_that_act_together_are_told_before_any_test() -> None:
    for seed in range(30):
        search = RuleSearch(Quick(RETENTION, QUICK_SAMPLING, seed), Lattice(40))
        pair = Lattice(40).mask(random.Random(seed).sample(range(40), 2))
        while not search.claims:
            search.tell({ask.key: Verdict.of(ask.key & pair == pair) for ask in search.ask()})
        (claim,) = search.claims
        assert (claim.antecedent, claim.status) == (pair, "unverified")
        assert len(search.verdicts) <= 16


@pytest.mark.parametrize(("budget", "share"), [(14, None), (18, "31.3 %"), (30, "20 %")])
def test_a_stopped_search_says_what_its_draws_are_worth(budget: int, share: str | None) -> None:
    search = RuleSearch(Quick(RETENTION, QUICK_SAMPLING), Lattice(40), budget=budget)
    while asks := search.ask():
        search.tell({ask.key: Verdict.of(ask.key & 4 == 4) for ask in asks})
    (claim,) = search.claims
    assert claim.status == ("unverified" if share is None else "tested")
    assert share is None or f"it fails on at most {share} of such" in claim.sampling


def test_draws_that_are_shared_are_no_other_draws() -> None:
    """Of each rule as many as alone, half of them uniform and half by size, with the others by chance."""
    lattice, rules = Lattice(8), [0b1, 0b10, 0b100]
    draws = {rule: Draws(RETENTION, lattice, rule, ()) for rule in rules}
    wanted = dict.fromkeys(rules, 4000)
    drawn_for = shared_draws(draws, wanted, wanted, random.Random(0))
    for rule in rules:
        free = [(mask ^ rule).bit_count() for mask in drawn_for[rule]]
        assert len(free) == 4000
        assert sum(free) / 4000 == pytest.approx(3.5, abs=0.15)
        assert free.count(0) / 4000 == pytest.approx((1 / 8 + 1 / 128) / 2, abs=0.015)
        assert free.count(7) / 4000 == pytest.approx((1 / 8 + 1 / 128) / 2, abs=0.015)
        for other in set(rules) - {rule}:
            beside = sum(mask & other == other for mask in drawn_for[rule])
            assert beside / 4000 == pytest.approx(0.5, abs=0.04)
    distinct = {mask for masks in drawn_for.values() for mask in masks}
    assert sum(map(len, drawn_for.values())) > 6 * len(distinct)


def test_draws_that_are_kept_for_the_next_test_are_no_other_draws() -> None:
    """A rule with enough keeps what is drawn while others have not, whether these others apply or not."""
    lattice, rules = Lattice(8), [0b1, 0b10, 0b100]
    draws = {rule: Draws(RETENTION, lattice, rule, ()) for rule in rules}
    wanted, most = dict.fromkeys(rules, 8), dict.fromkeys(rules, 14)
    kept = list[int]()
    for seed in range(600):
        drawn_for = shared_draws(draws, wanted, most, random.Random(seed))
        assert all(8 <= len(masks) <= 14 for masks in drawn_for.values())
        kept += [mask ^ rule for rule, masks in drawn_for.items() for mask in masks[8:]]
    assert len(kept) > 1200
    assert sum(mask.bit_count() for mask in kept) / len(kept) == pytest.approx(3.5, abs=0.2)
    for mask in (0, 0b11111110):
        share = sum(each.bit_count() == mask.bit_count() for each in kept) / len(kept)
        assert share == pytest.approx((1 / 8 + 1 / 128) / 2, abs=0.02)


@drawn
def test_it_is_an_exact_miner_where_all_subsets_are_no_more_than_the_draws() -> None:
    check_miner(lambda kind: Quick(kind, Sampled()), trials=examples(60))


def test_what_is_stated_is_so_where_conditions_are_not_monotone() -> None:
    found = list[float]()
    for seed in range(examples(40)):
        draw = random.Random(seed)
        lattice = Lattice(draw.randint(8, 12))
        holds = blocked(draw, lattice.size)
        search = RuleSearch(Quick(RETENTION, QUICK_SAMPLING, seed), lattice)
        while asks := search.ask():
            search.tell({ask.key: Verdict.of(holds(ask.key)) for ask in asks})
        assert search.finished
        for claim in search.claims:
            found.append(violation(lattice, claim.antecedent, holds))
            assert claim.status != "proved" or not found[-1]
    assert sum(share > 0.2 for share in found) <= 0.05 * len(found)


def test_many_redundant_sources_end_at_the_most_rules() -> None:
    search = RuleSearch(Quick(RETENTION, Sampled(0.2, max_rules=6)), Lattice(40))
    while asks := search.ask():
        search.tell({ask.key: Verdict.of(ask.key.bit_count() >= 3) for ask in asks})
    assert {claim.antecedent.bit_count() for claim in search.claims} == {3}
    assert {claim.status for claim in search.claims} == {"tested"}
    assert "6 retention rules were found" in search.stop_reason


def test_run_again_on_its_verdicts_it_asks_for_nothing() -> None:
    both = BothKinds(40, SHAPES["any of three"][0], 3).run()
    for search in both.searches:
        miner = Quick(search.kind, QUICK_SAMPLING, 3, 2)
        again = RuleSearch(miner, both.lattice, known=search.verdicts)
        assert again.finished
        assert again.claims == search.claims
