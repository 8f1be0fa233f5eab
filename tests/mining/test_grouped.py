"""Rules over groups that are divided where rules name them: what they cost, and that they are true."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, Subset, bits, minimal
from rag_rule_explainer.mining import Grouped, Mono, RuleSearch
from rag_rule_explainer.rules import Claim, RuleKind
from rag_rule_explainer.testing import check_miner
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples
from tests.mining.blockers import blocked

Condition = Callable[[Mask], bool]
RETENTION, OMISSION = RuleKind
FIFTY = Lattice(50)
PAIR = FIFTY.mask((7, 43))


def any_of(rules: set[Mask], kind: RuleKind) -> Condition:
    return lambda mask: any(mask & rule == (rule if kind is RETENTION else 0) for rule in rules)


def searched(miner: Grouped, size: int, holds: Condition) -> RuleSearch:
    search = RuleSearch(miner, Lattice(size))
    while asks := search.ask():
        search.tell({ask.key: Verdict.of(holds(ask.key)) for ask in asks})
    return search


def antecedents(search: RuleSearch) -> set[Mask]:
    return {claim.antecedent for claim in search.claims}


def as_the_paper_writes_it(size: int, holds: Condition) -> tuple[set[Mask], int]:
    """The paper's recursion with nothing kept from round to round: its rules, and its replays."""
    groups, replays = [tuple(range(size))], 0
    lattice = Lattice(size)
    while True:
        search = RuleSearch(Mono(RETENTION), Lattice(len(groups)))

        def sources(mask: Mask, groups: Sequence[Sequence[int]] = tuple(groups)) -> Mask:
            return lattice.mask(unit for g in Lattice(len(groups)).units(mask) for unit in groups[g])

        while asks := search.ask():
            search.tell({ask.key: Verdict.of(holds(sources(ask.key))) for ask in asks})
        replays += len(search.verdicts)
        named = {unit for claim in search.claims for unit in search.lattice.units(claim.antecedent)}
        if all(len(group) == 1 for group in groups):
            return {sources(claim.antecedent) for claim in search.claims}, replays
        kept = [groups[unit] for unit in sorted(named)]
        halves = [half for g in kept for half in (g[: (len(g) + 1) // 2], g[(len(g) + 1) // 2 :])]
        groups = [half for half in halves if half]


def test_the_papers_fifty_sources() -> None:
    holds = any_of({PAIR}, RETENTION)
    assert as_the_paper_writes_it(50, holds) == ({PAIR}, 33)
    search = searched(Grouped(RETENTION), 50, holds)
    (claim,) = search.claims
    assert (claim.antecedent, claim.status) == (PAIR, "relative")
    # That is 27 with answers kept. One of them is inside what an earlier round saw break; one more
    # tries the rule with all that was dropped.
    assert len(search.verdicts) == 27
    assert claim.kept & PAIR == PAIR
    dropped = 50 - claim.kept.bit_count()
    left_out = f"held on all 2 subsets, with the {dropped} dropped sources left out"
    assert claim.sampling == f"{left_out}, and by itself with them retained"


def test_omission_rules_are_mined_with_what_is_dropped_retained() -> None:
    search = searched(Grouped(OMISSION), 50, any_of({PAIR}, OMISSION))
    (claim,) = search.claims
    assert (claim.antecedent, len(search.verdicts)) == (PAIR, 27)
    assert "dropped sources retained, and by itself with them left out" in claim.sampling
    assert all(FIFTY.complement(claim.kept) & ~mask == 0 for mask in list(search.verdicts)[-4:-1])


def test_what_changes_where_either_is_omitted() -> None:
    search = searched(Grouped(OMISSION), 50, lambda mask: mask & PAIR != PAIR)
    assert antecedents(search) == set(bits(PAIR))
    assert len(search.verdicts) <= 60


@pytest.mark.parametrize("kind", RuleKind)
def test_several_rules_are_found_where_they_name_what_is_kept(kind: RuleKind) -> None:
    rules = {FIFTY.mask(units) for units in ((0, 1), (20,), (33, 34))}
    search = searched(Grouped(kind), 50, any_of(rules, kind))
    assert antecedents(search) == rules
    assert len(search.verdicts) <= 249


def test_more_than_ten_groups_are_tested_on_random_subsets_and_it_says_so() -> None:
    rule = FIFTY.mask(range(0, 48, 4))
    search = searched(Grouped(RETENTION), 50, any_of({rule}, RETENTION))
    (claim,) = search.claims
    assert (claim.antecedent, claim.status, claim.draws) == (rule, "relative", 59)
    assert "held on 59 random subsets of " in claim.sampling
    assert "fails on at most 5 % of such, with the " in claim.sampling
    assert len(search.verdicts) <= 250


def test_a_round_that_ends_at_the_most_rules_does_not_pass_for_complete() -> None:
    search = searched(Grouped(RETENTION), 48, lambda mask: mask.bit_count() >= 30)
    assert not search.finished
    assert "20 retention rules were found" in search.stop_reason
    assert search.claims


def test_where_no_source_matters_four_groups_must_agree() -> None:
    search = searched(Grouped(RETENTION), 50, lambda _: True)
    (claim,) = search.claims
    assert (claim.antecedent, claim.status, claim.kept) == (0, "relative", 0)
    assert len(search.verdicts) == 16
    assert "of 4 groups of sources, each retained or left out as a whole" in claim.sampling


def test_a_condition_that_never_holds_takes_one_probe() -> None:
    search = searched(Grouped(RETENTION), 50, lambda _: False)
    assert (search.finished, search.claims, len(search.verdicts)) == (True, (), 1)


def test_a_thousand_sources() -> None:
    rule = Lattice(1000).mask((2, 500, 999))
    search = searched(Grouped(RETENTION), 1000, any_of({rule}, RETENTION))
    assert antecedents(search) == {rule}
    assert len(search.verdicts) <= 90


def assert_true(claim: Claim, lattice: Lattice, holds: Condition) -> None:
    """What the claim says, word by word, held against the condition itself."""
    rule, kind = claim.antecedent, claim.kind
    if claim.status == "unverified":
        assert re.match(r"of (all sources as one group|\d+ groups of sources)", claim.sampling)
        assert holds(kind.subset(lattice, rule))
        return
    if claim.status == "proved":
        assert all(holds(kind.subset(lattice, wider)) for wider in lattice.supersets(rule))
        return
    assert claim.status == "relative"
    counted = re.match(r"held on (?:all (\d+) subsets|the only subset)", claim.sampling)
    assert counted, claim
    if not claim.kept:
        # Of groups: what exactly these are is not said, so only that it holds with all and with none.
        assert all(holds(kind.subset(lattice, Antecedent(each))) for each in (rule, lattice.full))
        return
    free = claim.kept & ~rule
    assert rule & claim.kept == rule
    subsets = [extra for extra in range(claim.kept + 1) if extra & ~free == 0]
    assert len(subsets) == int(counted[1] or 1)
    others = lattice.size - claim.kept.bit_count()
    assert f"with the {others} dropped source" in claim.sampling
    done, other = ("left out", "retained") if kind is RETENTION else ("retained", "left out")
    said = re.search(r"dropped sources? (.*)$", claim.sampling)
    both, itself = f"{done} and with them {other}", f"{done}, and by itself with them {other}"
    assert said
    assert said[1] in {done, both, itself}
    beside = lattice.full ^ claim.kept
    subsets += [extra | beside for extra in (subsets if said[1] == both else [0] * (said[1] == itself))]
    for extra in subsets:
        shown = (rule | extra) if kind is RETENTION else lattice.full & ~(rule | extra)
        assert holds(shown)


@given(st.integers(0, 100_000), st.sampled_from(RuleKind))
def test_every_claim_is_true_word_by_word_where_conditions_are_not_monotone(
    seed: int, kind: RuleKind
) -> None:
    draw = random.Random(seed)
    size = draw.randint(6, 9)
    lattice, plain = Lattice(size), blocked(draw, size)

    def holds(mask: Mask) -> bool:
        return plain(kind.subset(lattice, Antecedent(mask)))

    search = searched(Grouped(kind), size, holds)
    assert search.finished
    for claim in search.claims:
        assert_true(claim, lattice, holds)
        evidence = search.evidence()
        assert not evidence.broken(claim.antecedent)
        assert all(map(evidence.broken, lattice.one_fewer(claim.antecedent)))
    assert antecedents(search) == set(minimal(antecedents(search)))


@given(st.integers(0, 100_000), st.sampled_from(RuleKind))
def test_where_more_never_spoils_it_every_rule_is_one_of_all_sources(seed: int, kind: RuleKind) -> None:
    draw = random.Random(seed)
    size = draw.randint(2, 24)
    units = range(size)
    rules = {Lattice(size).mask(draw.sample(units, draw.randint(1, min(4, size)))) for _ in range(4)}
    search = searched(Grouped(kind), size, any_of(rules, kind))
    assert antecedents(search) <= set(minimal(rules))
    assert antecedents(search)


def test_what_a_round_saw_break_stands_in_the_next() -> None:
    """The fifth source spoils the first unless the ninth is there, and is dropped when that is known."""
    lattice = Lattice(16)
    rule, spoils, saves = (lattice.bit(unit) for unit in (0, 4, 8))

    def holds(mask: Mask) -> bool:
        return bool(mask & rule) and (bool(mask & saves) or not mask & spoils)

    search = searched(Grouped(RETENTION), 16, holds)
    (claim,) = search.claims
    assert not claim.kept & spoils
    assert claim.antecedent == rule | saves
    assert "left out and with them retained" in claim.sampling


@given(st.integers(0, 100_000), st.sampled_from(RuleKind), st.integers(0, 60))
def test_wherever_it_is_stopped_what_it_claims_is_true(seed: int, kind: RuleKind, budget: int) -> None:
    draw = random.Random(seed)
    size = draw.randint(6, 9)
    lattice, plain = Lattice(size), blocked(draw, size)

    def holds(mask: Mask) -> bool:
        return plain(kind.subset(lattice, Antecedent(mask)))

    search = RuleSearch(Grouped(kind), lattice, budget=budget)
    while asks := search.ask(draw.randint(1, 3)):
        search.tell({ask.key: Verdict.of(holds(ask.key)) for ask in asks})
        evidence = search.evidence()
        for claim in search.claims:
            assert not evidence.broken(claim.antecedent)
            assert_true(claim, lattice, holds)


@given(st.integers(0, 100_000), st.sampled_from(RuleKind), st.sampled_from((0.05, 0.3)))
def test_whatever_is_unknown_no_claim_rests_on_it(seed: int, kind: RuleKind, share: float) -> None:
    draw = random.Random(seed)
    size = draw.randint(6, 9)
    lattice, plain = Lattice(size), blocked(draw, size)

    def holds(mask: Mask) -> bool:
        return plain(kind.subset(lattice, Antecedent(mask)))

    search = RuleSearch(Grouped(kind), lattice)
    while asks := search.ask():
        told: Mapping[Subset, Verdict] = {
            ask.key: Verdict.UNKNOWN if draw.random() < share else Verdict.of(holds(ask.key))
            for ask in asks
        }
        search.tell(told)
    assert search.finished
    unknown = {mask for mask, verdict in search.verdicts.items() if verdict is Verdict.UNKNOWN}
    assert unknown == set(search.unresolved)
    for claim in search.claims:
        if claim.status == "relative" and claim.kept:
            free = list(bits(claim.kept & ~claim.antecedent))
            for extra in Lattice(len(free)).masks():
                added = sum(bit for place, bit in enumerate(free) if extra >> place & 1)
                assert kind.subset(lattice, Antecedent(claim.antecedent | added)) not in unknown
        assert_true(claim, lattice, holds)


def test_what_has_no_verdict_denies_nothing() -> None:
    """Either half has a rule. With half of the other beside it, the first has no verdict: it stays."""
    lattice = Lattice(8)
    first = lattice.mask(range(4))
    search = RuleSearch(Grouped(RETENTION), lattice)
    holds = any_of({lattice.bit(0), lattice.bit(4)}, RETENTION)

    def verdict(mask: Mask) -> Verdict:
        is_open = mask & first == first and mask not in {first, lattice.full}
        return Verdict.UNKNOWN if is_open else Verdict.of(holds(mask))

    while asks := search.ask():
        search.tell({ask.key: verdict(ask.key) for ask in asks})
    assert {(claim.antecedent, claim.status) for claim in search.claims} == {
        (first, "unverified"),
        (lattice.bit(4), "relative"),
    }


def test_much_rests_on_what_is_asked_about_groups() -> None:
    search = RuleSearch(Grouped(RETENTION), FIFTY)
    crucial: list[bool] = []
    while asks := search.ask():
        crucial += [ask.crucial for ask in asks]
        search.tell({ask.key: Verdict.of(ask.key & PAIR == PAIR) for ask in asks})
    # The last round, over single sources, is as long as there is one beside the pair.
    assert crucial[:20] == [True] * 20
    assert not crucial[-1]


@drawn
def test_it_keeps_the_contract_of_a_miner() -> None:
    check_miner(Grouped, trials=examples(150), finds_all=False)


def test_run_again_on_its_verdicts_it_asks_for_nothing() -> None:
    search = searched(Grouped(RETENTION), 50, any_of({PAIR}, RETENTION))
    again = RuleSearch(Grouped(RETENTION), FIFTY, known=search.verdicts)
    assert again.finished
    assert again.claims == search.claims


def test_partitions_are_mined_before_anything_is_halved() -> None:
    """Twelve documents of four chunks: documents first, then the chunks of the one that matters."""
    lattice = Lattice(48)
    documents = tuple(lattice.mask(range(start, start + 4)) for start in range(0, 48, 4))
    rule = lattice.mask((9, 10))
    search = searched(Grouped(RETENTION, (documents,)), 48, any_of({rule}, RETENTION))
    (claim,) = search.claims
    assert claim.antecedent == rule
    assert claim.kept & ~documents[2] == 0
    grouped = {d for d in documents for mask in search.verdicts if mask & d == d}
    assert grouped == set(documents)
