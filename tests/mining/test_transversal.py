"""Rules among many sources: what they cost, that they are found, and that what is said of them is so."""

import random
from collections.abc import Callable, Sequence
from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, minimal
from rag_rule_explainer.mining import RuleSearch, Sampled, Transversal
from rag_rule_explainer.mining.sampled import Draws
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.testing import check_miner
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples
from tests.mining.blockers import blocked, violation

Condition = Callable[[Mask], bool]
RETENTION, OMISSION = RuleKind
PAIR, THREE = ((2, 6),), ((0, 1), (2,), (3, 4))
STATED = Sampled()


def searched(miner: Transversal, size: int, holds: Condition) -> tuple[RuleSearch, int]:
    """The search at its end, and after how many probes it had a first rule to show."""
    search, first = RuleSearch(miner, Lattice(size)), 0
    while asks := search.ask():
        search.tell({ask.key: Verdict.of(holds(ask.key)) for ask in asks})
        first = first or (len(search.verdicts) if search.claims else 0)
    return search, first


def antecedents(search: RuleSearch) -> set[Mask]:
    return {claim.antecedent for claim in search.claims}


def shuffled(rules: Sequence[Sequence[int]], size: int, seed: int) -> set[Mask]:
    places = random.Random(seed).sample(range(size), size)
    return {Lattice(size).mask(places[unit] for unit in rule) for rule in rules}


def any_of(rules: set[Mask], kind: RuleKind) -> Condition:
    retention = kind is RETENTION
    return lambda mask: any(mask & rule == (rule if retention else 0) for rule in rules)


@drawn
@pytest.mark.parametrize("kind", RuleKind)
@pytest.mark.parametrize(
    ("size", "rules", "most"),
    [
        (10, PAIR, 62),
        (50, PAIR, 80),
        (200, PAIR, 85),
        (10, THREE, 180),
        (50, THREE, 260),
        (200, THREE, 290),
    ],
)
def test_all_rules_are_found_at_few_probes(
    size: int, rules: Sequence[Sequence[int]], most: float, kind: RuleKind
) -> None:
    found, probes, runs = 0, 0, examples(20)
    for seed in range(runs):
        true = shuffled(rules, size, seed)
        search, _ = searched(Transversal(kind, seed=seed), size, any_of(true, kind))
        assert search.finished
        assert all("59 random subsets of " in c.sampling for c in search.claims if c.status == "tested")
        found += antecedents(search) == true
        probes += len(search.verdicts)
    assert found >= 0.95 * runs
    assert probes / runs <= most


def test_the_papers_fifty_sources() -> None:
    true = {Lattice(50).mask((7, 43))}
    for seed in range(20):
        search, first = searched(Transversal(RETENTION, seed=seed), 50, any_of(true, RETENTION))
        assert antecedents(search) == true
        assert len(search.verdicts) <= 80
        assert first <= 20


def test_redundant_sources_end_at_the_most_rules_that_are_asked_for() -> None:
    search, first = searched(Transversal(RETENTION), 50, lambda mask: mask.bit_count() >= 3)
    assert len(search.claims) == 20
    assert {claim.antecedent.bit_count() for claim in search.claims} == {3}
    assert not search.finished
    assert "20 retention rules were found" in search.stop_reason
    assert "more may exist" in search.stop_reason
    assert first <= 200
    assert len(search.verdicts) <= 20 * (59 + 16)


def test_what_holds_with_no_sources_as_well_does_not_hide_redundant_rules() -> None:
    """As where a model knows the answer by itself, and single documents mislead it."""
    search, _ = searched(Transversal(RETENTION), 50, lambda mask: mask == 0 or mask.bit_count() >= 3)
    assert {claim.antecedent.bit_count() for claim in search.claims} == {3}
    assert len(search.claims) == 20
    assert len(search.verdicts) <= 20 * (59 + 16)


def test_a_thousand_sources() -> None:
    true = {Lattice(1000).mask((2, 500, 999))}
    search, _ = searched(Transversal(RETENTION), 1000, any_of(true, RETENTION))
    assert antecedents(search) == true
    assert len(search.verdicts) <= 110


def violations(runs: int) -> list[float]:
    """Of every rule reported for random conditions that are not monotone."""
    found = list[float]()
    for seed in range(runs):
        draw = random.Random(seed)
        size = draw.randint(8, 12)
        holds = blocked(draw, size)
        search, _ = searched(Transversal(RETENTION, seed=seed), size, holds)
        assert search.finished
        for claim in search.claims:
            found.append(violation(Lattice(size), claim.antecedent, holds))
            assert claim.status != "proved" or not found[-1]
    return found


def test_what_is_stated_is_so_where_conditions_are_not_monotone() -> None:
    found = violations(40)
    assert sum(share > 0.05 for share in found) <= 0.05 * len(found)


@pytest.mark.slow
def test_what_is_stated_is_so_on_five_hundred_of_them() -> None:
    found = violations(500)
    assert len(found) >= 500
    assert sum(share > 0.05 for share in found) <= 0.05 * len(found)


def test_the_statement_is_no_stronger_than_the_draws() -> None:
    """What breaks on just more than the stated share of the draws seldom passes them all."""
    lattice = Lattice(12)

    def holds(mask: Mask) -> bool:
        return mask & 0b1111 != 0b0001

    assert 0.05 < violation(lattice, 0, holds) < 0.06
    draws = Draws(RETENTION, lattice, 0, ())
    passed = sum(all(map(holds, draws.supersets(59, random.Random(seed)))) for seed in range(1000))
    assert passed <= 50


@drawn
def test_it_is_an_exact_miner_where_all_subsets_are_no_more_than_the_draws() -> None:
    check_miner(Transversal, trials=examples(60))


def test_jointly_it_takes_more_draws_and_says_so() -> None:
    miner = Transversal(RETENTION, Sampled(jointly=True), kinds=2)
    search, _ = searched(miner, 30, any_of({0b11}, RETENTION))
    (claim,) = search.claims
    assert claim.draws == 86  # an error of 0.05 / 2 kinds / 2 for the first candidate
    assert "no rule here fails on more than 5 %" in claim.sampling


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (Sampled(confidence=0.9999999), "with 99.99999 % confidence it fails on at most 5 % of such"),
        (Sampled(0.07, 0.58), "with 58 % confidence it fails on at most 7 % of such"),
        (Sampled(0.999, 1e-20), "held on 1 random subsets"),
    ],
)
def test_shares_are_said_as_they_were_given(stated: Sampled, said: str) -> None:
    search, _ = searched(Transversal(RETENTION, stated), 30, any_of({0b11}, RETENTION))
    assert said in search.claims[0].sampling


def test_what_all_tests_may_err_together_is_no_more_than_one() -> None:
    jointly = Sampled(jointly=True)
    assert sum(jointly.error(tested, 2) for tested in range(10_000)) * 2 <= 0.05 + 1e-12
    assert Sampled().error(7, 2) == pytest.approx(0.05)


@pytest.mark.parametrize("kind", RuleKind)
def test_named_sizes_are_of_what_is_retained(kind: RuleKind) -> None:
    lattice = Lattice(20)
    draws = Draws(kind, lattice, 0b11, (5,))
    retained = [
        kind.subset(lattice, Antecedent(mask)).bit_count()
        for mask in draws.supersets(3000, random.Random(0))
    ]
    assert retained.count(5) > 900
    assert "with 5 retained" in draws.ways


@pytest.mark.parametrize("kind", RuleKind)
def test_named_sizes_count_pinned_sources_too(kind: RuleKind) -> None:
    lattice = Lattice(20)
    draws = Draws(kind, lattice, 0b11, (5, 30), pinned=2)
    retained = [
        2 + kind.subset(lattice, Antecedent(mask)).bit_count()
        for mask in draws.supersets(3000, random.Random(0))
    ]
    assert retained.count(5) > 900
    assert "with 5 retained" in draws.ways


def test_a_size_that_no_superset_has_is_not_spoken_of() -> None:
    draws = Draws(RETENTION, Lattice(20), 0b111, (2,))
    assert "half" in draws.ways
    assert all(mask & 0b111 == 0b111 for mask in draws.supersets(100, random.Random(0)))


def test_draws_are_half_uniform_and_half_by_size() -> None:
    size = 8
    counted = [0] * (size + 1)
    for mask in Draws(RETENTION, Lattice(size), 0, ()).supersets(20_000, random.Random(1)):
        counted[mask.bit_count()] += 1
    for members, count in enumerate(counted):
        expected = 20_000 * (comb(size, members) / 2**size + 1 / (size + 1)) / 2
        assert count == pytest.approx(expected, rel=0.15)


def test_what_is_seen_to_break_later_is_taken_back() -> None:
    # Sources 0 to 9 are a rule but for one subset, which only another candidate's growth comes upon.
    search, _ = searched(Transversal(RETENTION, Sampled(0.5, 0.5)), 10, blocked(random.Random(5), 10))
    for claim in search.claims:
        flip = RETENTION.flip(Lattice(10))
        broken = [m for m, seen in search.verdicts.items() if seen is Verdict.BREAKS]
        assert not any((mask ^ flip) & claim.antecedent == claim.antecedent for mask in broken)


@given(st.integers(0, 10_000), st.sampled_from(RuleKind))
def test_whatever_is_unknown_no_claim_rests_on_it(seed: int, kind: RuleKind) -> None:
    draw = random.Random(seed)
    size = draw.randint(7, 9)
    lattice, holds = Lattice(size), blocked(draw, size)
    share = draw.choice((0.02, 0.3))
    search = RuleSearch(Transversal(kind, seed=seed), lattice)
    while asks := search.ask():
        verdicts = {
            ask.key: Verdict.UNKNOWN if draw.random() < share else Verdict.of(holds(ask.key))
            for ask in asks
        }
        search.tell(verdicts)
    assert search.finished or search.stop_reason
    drawn = [claim for claim in search.claims if claim.status != "proved"]
    for claim in drawn:
        own = kind.subset(lattice, claim.antecedent)
        assert search.verdicts[own] is Verdict.HOLDS
        held = sum(
            seen is Verdict.HOLDS
            and kind.antecedent(lattice, mask) & claim.antecedent == claim.antecedent
            for mask, seen in search.verdicts.items()
        )
        assert held >= min(20, 1 << (size - claim.antecedent.bit_count()))
    assert antecedents(search) == set(minimal(antecedents(search)))


@drawn
def test_no_rule_is_reported_beside_a_smaller_one_whatever_is_unknown() -> None:
    holds = any_of({0b111000010011, 0b1010010, 0b10000000110}, RETENTION)
    for seed in range(examples(60)):
        draw = random.Random(seed)
        search = RuleSearch(Transversal(RETENTION, Sampled(0.5, 0.6), seed), Lattice(12))
        while asks := search.ask():
            search.tell(
                {
                    ask.key: Verdict.UNKNOWN if draw.random() < 0.2 else Verdict.of(holds(ask.key))
                    for ask in asks
                }
            )
        assert antecedents(search) == set(minimal(antecedents(search)))


def test_no_sources_that_have_no_verdict_do_not_end_the_search() -> None:
    true = {0b11000}
    search = RuleSearch(Transversal(RETENTION), Lattice(20))
    while asks := search.ask():
        search.tell({a.key: Verdict.of(a.key & 24 == 24) if a.key else Verdict.UNKNOWN for a in asks})
    assert antecedents(search) == true
    assert search.unresolved == (0,)


def test_a_stop_among_the_draws_shows_the_candidate_as_unverified() -> None:
    search = RuleSearch(Transversal(RETENTION), Lattice(30), budget=40)
    while asks := search.ask(1):
        search.tell({ask.key: Verdict.of(ask.key & 3 == 3) for ask in asks})
    (claim,) = search.claims
    assert (claim.antecedent, claim.status) == (3, "unverified")


def test_run_again_on_its_verdicts_it_asks_for_nothing() -> None:
    miner, holds = Transversal(RETENTION, seed=3), any_of({0b11, 0b101000}, RETENTION)
    search, _ = searched(miner, 40, holds)
    again = RuleSearch(miner, Lattice(40), known=search.verdicts)
    assert again.finished
    assert again.claims == search.claims


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_violation": 0}, "max_violation"),
        ({"max_violation": 1.0}, "max_violation"),
        ({"max_violation": 1e-9}, "1,000,000 random subsets"),
        ({"max_violation": 1e-300}, "1,000,000 random subsets"),
        ({"confidence": "high"}, "confidence"),
        ({"jointly": 1}, "jointly"),
        ({"neighbours": "no"}, "neighbours"),
        ({"max_rules": 0}, "max_rules"),
        ({"sizes": ()}, "sizes"),
        ({"sizes": (1.5,)}, "sizes"),
        ({"sizes": "12"}, "sizes"),
        ({"sizes": 5}, "sizes"),
    ],
)
def test_bad_statements_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Sampled(**wrong)  # pyright: ignore[reportArgumentType] -- on purpose


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kind", RuleKind)
@pytest.mark.parametrize("end", ["one more", "all but one"])
def test_a_lone_neighbour_that_breaks_a_rule_is_found_where_they_are_tried(
    kind: RuleKind, end: str
) -> None:
    lattice = Lattice(10)
    missed = dict.fromkeys([False, True], 0)
    for neighbours, seed in product(missed, range(20)):
        (pair,) = shuffled(PAIR, 10, seed)
        other = next(bit for bit in (1, 2, 4) if not pair & bit)
        lone = pair | other if end == "one more" else lattice.full ^ other
        breaking, rule = kind.subset(lattice, Antecedent(lone)), any_of({pair}, kind)

        def holds(mask: Mask, breaking: Mask = breaking, rule: Condition = rule) -> bool:
            return mask != breaking and rule(mask)

        search, _ = searched(Transversal(kind, Sampled(neighbours=neighbours), seed=seed), 10, holds)
        assert search.finished
        missed[neighbours] += any(lone & rule == rule for rule in antecedents(search))
    assert missed[True] == 0
    assert missed[False] >= 5


def test_neighbours_cost_a_few_probes_and_none_where_there_are_too_many() -> None:
    def probes(size: int, rules: Sequence[Sequence[int]], *, neighbours: bool) -> float:
        stated, counts = Sampled(neighbours=neighbours), list[int]()
        for seed in range(20):
            true = shuffled(rules, size, seed)
            search, _ = searched(Transversal(RETENTION, stated, seed), size, any_of(true, RETENTION))
            assert antecedents(search) == true
            counts.append(len(search.verdicts))
        return sum(counts) / 20

    assert probes(10, PAIR, neighbours=True) <= probes(10, PAIR, neighbours=False) + 12
    assert probes(10, THREE, neighbours=True) <= probes(10, THREE, neighbours=False) + 20
    assert probes(50, PAIR, neighbours=True) == probes(50, PAIR, neighbours=False)
