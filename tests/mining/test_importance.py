import time
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.lattice import Lattice, Mask, minimal
from rag_rule_explainer.mining import importance
from rag_rule_explainer.mining.importance import Power, layers, powers

Game = Callable[[Mask], bool]


def banzhaf(lattice: Lattice, wins: Game, unit: int) -> Fraction:
    bit = lattice.bit(unit)
    others = [mask for mask in lattice.masks() if not mask & bit]
    return Fraction(sum(wins(mask | bit) and not wins(mask) for mask in others), len(others))


def shapley(lattice: Lattice, wins: Game, unit: int) -> Fraction:
    orders = list(permutations(range(lattice.size)))
    swings = 0
    for order in orders:
        before = lattice.mask(order[: order.index(unit)])
        swings += wins(before | lattice.bit(unit)) and not wins(before)
    return Fraction(swings, len(orders))


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, 2**n - 1)))))
def test_both_indices_by_definition(game: tuple[int, set[Mask]]) -> None:
    size, winners = game
    lattice, rules = Lattice(size), minimal(winners)

    def wins(mask: Mask) -> bool:
        return any(rule & mask == rule for rule in rules)

    for unit, power in enumerate(powers(lattice, rules)):
        assert power.banzhaf == banzhaf(lattice, wins, unit)
        assert power.shapley == shapley(lattice, wins, unit)


@given(st.sets(st.integers(1, 63), min_size=1))
def test_shapley_indices_share_one_whole(winners: set[Mask]) -> None:
    assert sum(power.shapley for power in powers(Lattice(6), minimal(winners))) == 1


@pytest.mark.parametrize("rules", [[], [0]])
def test_nobody_matters_where_nothing_or_everything_wins(rules: list[Mask]) -> None:
    assert all(power.banzhaf == power.shapley == 0 for power in powers(Lattice(4), rules))


def test_twenty_sources_are_exact() -> None:
    lattice = Lattice(20)
    indices = powers(lattice, [lattice.mask([0, 19])])
    assert indices[0].shapley == indices[19].shapley == Fraction(1, 2)
    assert all(power.banzhaf == 0 for power in indices[1:19])


def test_two_of_two_hundred_are_exact() -> None:
    lattice = Lattice(200)
    indices = powers(lattice, [lattice.mask([0, 199]), lattice.mask([7])])
    among_three = powers(Lattice(3), [0b101, 0b010])
    assert [indices[unit] for unit in (0, 7, 199)] == list(among_three)
    assert all(power == Power(Fraction(0), Fraction(0)) for power in indices[8:199])


def test_more_than_twenty_that_matter_are_estimated_and_say_so() -> None:
    lattice = Lattice(30)
    # Ten rules of three: every unit counts for the same.
    indices = powers(lattice, [lattice.mask(range(start, start + 3)) for start in range(0, 30, 3)])
    exact = Fraction(1, 4) * Fraction(7, 8) ** 9
    for power in indices:
        assert 0 < power.error < 0.02
        assert abs(power.shapley - Fraction(1, 30)) < power.error
        assert abs(power.banzhaf - exact) < power.error
    assert sum(power.shapley for power in indices) == 1


def test_sources_that_no_rule_names_cost_an_estimate_nothing() -> None:
    rules = [1 << unit | 1 << unit + 1 for unit in range(0, 30, 2)]
    alone, began = powers(Lattice(30), rules), time.thread_time()
    among_many = powers(Lattice(3000), rules)
    assert time.thread_time() - began < 5
    assert among_many[-30:] == alone
    assert set(among_many[:-30]) == {Power(Fraction(0), Fraction(0))}


def test_an_estimate_agrees_with_what_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice, rules = Lattice(9), [0b1, 0b110, 0b111000, 0b1010000]
    exact = powers(lattice, rules)
    monkeypatch.setattr(importance, "FAMILY_LIMIT", 3)
    for known, estimate in zip(exact, powers(lattice, rules), strict=True):
        assert abs(known.banzhaf - estimate.banzhaf) <= estimate.error
        assert abs(known.shapley - estimate.shapley) <= estimate.error
        # That nobody needs a source is known for sure.
        assert bool(estimate.error) == bool(known.banzhaf)


def test_layers_hold_the_masks_of_each_size() -> None:
    for size, layer in enumerate(layers(6)):
        assert {mask for mask in range(64) if layer >> mask & 1} == {
            mask for mask in range(64) if mask.bit_count() == size
        }
