"""Guesses change when something is probed, and nothing else."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import Antecedent, Lattice, Subset
from rag_rule_explainer.mining import Exhaustive, Mono, RuleSearch, Speculation
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.drawing import drawn, examples

HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN


class Driven:
    """One search with so many slots, whose probes come back in a random order.

    ``needed`` and ``guessed``: the masks that went out, as what.
    """

    def __init__(self, search: RuleSearch, truth: Sequence[Verdict], width: int, seed: int) -> None:
        self.search, self.truth, self.width = search, truth, width
        self.draw = random.Random(seed)
        self.flying: list[Subset] = []
        self.needed: list[Subset] = []
        self.guessed: list[Subset] = []

    def run(self, share: float = 0.0, most: int | None = None) -> "Driven":
        while most is None or len(self.needed) + len(self.guessed) < most:
            self._fill(share)
            if not self.flying:
                break
            self.draw.shuffle(self.flying)
            landed = [self.flying.pop() for _ in range(self.draw.randint(1, len(self.flying)))]
            self.search.tell({mask: self.truth[mask] for mask in landed})
        return self

    def _fill(self, share: float) -> None:
        while len(self.flying) < self.width:
            ask = self.search.next()
            if ask is None:
                known, issued = len(self.search.wasted), len(self.needed) + len(self.guessed)
                ask = self.search.guess()
                if ask is None:
                    return
                assert not ask.needed
                # Were it wasted as well, no more than that share of all would be.
                assert known + 1 <= share * (issued + 1)
                self.guessed.append(ask.key)
            else:
                assert ask.needed
                self.needed.append(ask.key)
            self.flying.append(ask.key)


@st.composite
def truths(draw: st.DrawFn, most: int = 5) -> tuple[Lattice, list[Verdict]]:
    lattice = Lattice(draw(st.integers(0, most)))
    holds = draw(st.sampled_from([0.5, 0.8, 0.95, 1.0]))
    unknown = draw(st.sampled_from([0.0, 0.0, 0.1]))
    luck = random.Random(draw(st.integers(0, 1 << 32)))
    return lattice, [
        UNKNOWN if luck.random() < unknown else Verdict.of(luck.random() < holds) for _ in lattice.masks()
    ]


@given(
    truths(),
    st.sampled_from(RuleKind),
    st.integers(1, 40),
    st.sampled_from([0.05, 0.1, 0.3, 0.9]),
    st.integers(0, 1 << 32),
)
def test_rules_claims_and_what_is_needed_are_those_without_guesses(
    table: tuple[Lattice, list[Verdict]], kind: RuleKind, width: int, share: float, seed: int
) -> None:
    lattice, truth = table
    plain = Driven(RuleSearch(Mono(kind), lattice), truth, width, seed).run()
    search = RuleSearch(Mono(kind), lattice, guesses=Speculation(kind, lattice, share))
    guessing = Driven(search, truth, width, seed).run(share)
    assert search.finished is plain.search.finished
    assert search.claims == plain.search.claims
    assert search.verdicts == plain.search.verdicts
    assert search.unresolved == plain.search.unresolved
    issued = guessing.needed + guessing.guessed
    assert len(issued) == len(set(issued))
    assert set(plain.needed) <= set(issued)
    if search.finished:
        # What was issued beyond what is needed was wasted, and nothing else was.
        assert search.wasted == set(issued) - set(plain.needed)
    assert search.waiting == 0
    evidence, other = search.evidence(), plain.search.evidence()
    for mask in lattice.masks():
        assert evidence.observed(Antecedent(mask)) == other.observed(Antecedent(mask))
        assert evidence.broken(Antecedent(mask)) == other.broken(Antecedent(mask))


@given(
    truths(), st.sampled_from(RuleKind), st.integers(1, 20), st.integers(0, 40), st.integers(0, 1 << 32)
)
def test_whenever_it_is_stopped_claims_are_true_and_guesses_are_never_called_needed(
    table: tuple[Lattice, list[Verdict]], kind: RuleKind, width: int, most: int, seed: int
) -> None:
    lattice, truth = table
    search = RuleSearch(Mono(kind), lattice, guesses=Speculation(kind, lattice, 0.5))
    driven = Driven(search, truth, width, seed).run(0.5, most)
    needed = set(Driven(RuleSearch(Mono(kind), lattice), truth, width, seed).run().needed)
    search.stop("enough")
    assert search.next() is None
    assert search.guess() is None
    for claim in search.claims:
        above = (kind.subset(lattice, wider) for wider in lattice.supersets(claim.antecedent))
        assert all(truth[mask] is HOLDS for mask in above)
    assert set(search.unresolved) <= needed
    assert set(search.verdicts) <= needed
    assert set(driven.needed) <= needed


@given(truths(most=4), st.sampled_from(RuleKind), st.integers(0, 1 << 32))
def test_what_two_searches_know_can_be_resumed_with_guesses(
    table: tuple[Lattice, list[Verdict]], kind: RuleKind, seed: int
) -> None:
    lattice, truth = table
    plain = Driven(RuleSearch(Mono(kind), lattice), truth, 3, seed).run().search
    some = dict(list(plain.verdicts.items())[::2])
    resumed = RuleSearch(Mono(kind), lattice, known=some, guesses=Speculation(kind, lattice, 0.3))
    driven = Driven(resumed, truth, 7, seed).run(0.3)
    assert not {*driven.needed, *driven.guessed} & set(some)
    assert resumed.claims == plain.claims


def test_nothing_is_guessed_while_there_is_something_to_ask() -> None:
    lattice = Lattice(4)
    search = RuleSearch(
        Mono(RuleKind.RETENTION), lattice, guesses=Speculation(RuleKind.RETENTION, lattice, 0.5)
    )
    first = search.next()
    assert first is not None
    search.tell({first.key: HOLDS})
    while search.next() is not None:
        pass
    assert search.guess() is not None


def test_without_leave_to_waste_nothing_is_guessed() -> None:
    lattice = Lattice(5)
    search = RuleSearch(Mono(RuleKind.RETENTION), lattice)
    while (ask := search.next()) is not None:
        search.tell({ask.key: HOLDS})
        assert search.guess() is None
    assert not search.wasted


def test_the_budget_is_of_guesses_too() -> None:
    lattice = Lattice(5)
    search = RuleSearch(
        Mono(RuleKind.RETENTION),
        lattice,
        budget=9,
        guesses=Speculation(RuleKind.RETENTION, lattice, 0.9),
    )
    driven = Driven(search, [HOLDS] * 32, 32, 1).run(0.9)
    assert len(driven.needed) + len(driven.guessed) == 9


@drawn
@pytest.mark.parametrize("kind", RuleKind)
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_at_the_end_no_more_was_wasted_than_was_allowed(kind: RuleKind, share: float) -> None:
    # The bound is on what is known to be wasted when a guess is made. What is found out to be wasted
    # later comes on top of that; on clean conditions that is next to nothing.
    lattice, worst = Lattice(8), 0.0
    for seed in range(examples(20)):
        luck = random.Random(seed)
        pair = lattice.mask(luck.sample(range(8), 2))
        truth = [Verdict.of((m & pair == pair) is (kind is RuleKind.RETENTION)) for m in lattice.masks()]
        driven = Driven(
            RuleSearch(Mono(kind), lattice, guesses=Speculation(kind, lattice, share)), truth, 64, seed
        ).run(share)
        worst = max(worst, len(driven.search.wasted) / len(driven.needed + driven.guessed))
    assert worst <= 1.5 * share


def test_who_asks_for_everything_needs_no_guesses() -> None:
    lattice = Lattice(4)
    search = RuleSearch(
        Exhaustive(RuleKind.RETENTION),
        lattice,
        guesses=Speculation(RuleKind.RETENTION, lattice, 0.5),
    )
    driven = Driven(search, [HOLDS] * 16, 32, 1).run(0.5)
    assert not driven.guessed
