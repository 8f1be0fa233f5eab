import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, Subset
from rag_rule_explainer.mining import Ask, Evidence, Exhaustive, Mining, Mono, RuleSearch, Wanted
from rag_rule_explainer.mining.protocol import Miner
from rag_rule_explainer.rules import Claim, RuleKind
from rag_rule_explainer.testing import check_miner
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples

H, B, U = Verdict
RETENTION, OMISSION = RuleKind


def run(search: RuleSearch, verdicts: dict[Mask, Verdict]) -> list[Mask]:
    asked: list[Mask] = []
    while asks := search.ask():
        asked += [ask.key for ask in asks]
        search.tell({ask.key: verdicts[ask.key] for ask in asks})
    return asked


@drawn
def test_miners_keep_their_contract() -> None:
    check_miner(Mono, trials=examples(200))
    check_miner(Exhaustive, trials=examples(200))


def test_an_unknown_neither_proves_nor_prunes() -> None:
    lattice = Lattice(2)
    search = RuleSearch(Mono(RETENTION), lattice)
    run(search, {0b11: H, 0b10: U, 0b01: H, 0b00: H})
    assert search.finished
    assert [claim.antecedent for claim in search.claims] == [0b01]
    assert search.unresolved == (0b10,)


def test_the_budget_is_never_exceeded_and_the_claims_stand() -> None:
    search = RuleSearch(Mono(RETENTION), Lattice(4), budget=5)
    asked = run(search, dict.fromkeys(range(16), H))
    assert len(asked) == 5
    assert "budget of 5 probes" in search.stop_reason
    assert not search.finished
    assert search.claims


def test_a_budget_that_is_just_enough_stops_nothing() -> None:
    search = RuleSearch(Mono(RETENTION), Lattice(2), budget=4)
    run(search, dict.fromkeys(range(4), H))
    assert search.finished
    assert search.stop_reason == ""


def test_after_a_stop_verdicts_in_flight_still_count() -> None:
    search = RuleSearch(Mono(RETENTION), Lattice(2))
    (ask,) = search.ask()
    search.stop("enough")
    search.stop("a later reason")
    search.tell({ask.key: H})
    assert search.ask() == ()
    assert [claim.antecedent for claim in search.claims] == [0b11]
    assert search.stop_reason == "enough"
    assert search.unresolved == (0b01, 0b10)


def test_what_was_never_asked_or_was_told_before_is_ignored() -> None:
    search = RuleSearch(Mono(RETENTION), Lattice(2))
    search.tell({Subset(0b00): B, Subset(0b01): B})
    (ask,) = search.ask()
    search.tell({ask.key: H})
    search.tell({ask.key: B})
    assert search.verdicts == {0b11: H}


def test_a_search_is_resumed_by_its_saved_verdicts() -> None:
    verdicts = {mask: Verdict.of(mask & 0b101 == 0b101) for mask in range(8)}
    first = RuleSearch(Mono(RETENTION), Lattice(3), budget=2)
    paid = run(first, verdicts)
    second = RuleSearch(Mono(RETENTION), Lattice(3), known=first.verdicts)
    rest = run(second, verdicts)
    assert set(paid).isdisjoint(rest)
    assert [claim.antecedent for claim in second.claims] == [0b101]


class _Ranking:
    """Asks for one mask twice, the second time more urgently than another."""

    kind = RETENTION

    def __call__(self, lattice: Lattice, /) -> Mining:
        yield Wanted((Ask(Subset(0), rank=5), Ask(Subset(1), rank=3)), tuple)
        yield Wanted((Ask(Subset(0), rank=1),), tuple)
        yield Wanted((), tuple)
        return ()


def test_asking_again_replaces_the_rank() -> None:
    miner: Miner = _Ranking()
    search = RuleSearch(miner, Lattice(2))
    assert search.ask(1) == (Ask(Subset(1), rank=3),)
    search.tell({Subset(1): H})
    assert search.ask() == (Ask(Subset(0), rank=1),)


class _Hasty(Mono):
    """Claims the empty rule from the start."""

    def __call__(self, lattice: Lattice, /) -> Mining:
        mining = super().__call__(lattice)
        wanted = next(mining)
        try:
            while True:
                hasty = (Claim(self.kind, Antecedent(0), "proved"),)
                # Called before the next one is made.
                wanted = mining.send((yield Wanted(wanted.asks, lambda: hasty)))  # noqa: B023
        except StopIteration as end:
            return end.value


class _Forgetful(Mono):
    """Ends after its first verdict."""

    def __call__(self, lattice: Lattice, /) -> Mining:
        wanted = next(super().__call__(lattice))
        yield wanted
        return ()


@pytest.mark.parametrize("broken", [_Hasty, _Forgetful])
def test_the_conformance_suite_catches_broken_miners(broken: type[Mono]) -> None:
    with pytest.raises(AssertionError, match="on the table"):
        check_miner(broken)


@given(
    st.dictionaries(st.integers(0, 31), st.sampled_from(list(Verdict))),
    st.integers(0, 31),
    st.sampled_from(list(RuleKind)),
)
def test_evidence_counts_the_applicable_verdicts(
    verdicts: dict[Subset, Verdict], antecedent: Antecedent, kind: RuleKind
) -> None:
    lattice = Lattice(5)
    if kind is RETENTION:
        applicable = [Subset(mask) for mask in lattice.masks() if mask & antecedent == antecedent]
    else:
        applicable = [Subset(mask) for mask in lattice.masks() if not mask & antecedent]
    evidence = Evidence(kind, lattice, verdicts)
    assert evidence.applicable(antecedent) == len(applicable)
    assert evidence.observed(antecedent) == sum(verdicts.get(mask) is H for mask in applicable)
    assert evidence.broken(antecedent) == sum(verdicts.get(mask) is B for mask in applicable)


def test_evidence_counts_beyond_the_limit_of_families() -> None:
    lattice = Lattice(30)
    rule, other = Antecedent(lattice.mask([1, 2])), lattice.mask([5])
    seen = {Subset(rule): H, Subset(rule | other): B, Subset(other): H}
    evidence = Evidence(RETENTION, lattice, seen)
    assert (evidence.observed(rule), evidence.broken(rule)) == (1, 1)
    assert evidence.applicable(rule) == 2**28
