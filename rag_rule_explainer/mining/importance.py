"""This module computes how important each unit (a source, or a group of tied ones) is: its Banzhaf and
Shapley index.

These indices come from game theory. Here the units are the players, and a set of units wins if it is a
valid antecedent, that is, if it contains a minimal rule. So the indices are computed from the minimal
rules, without probes. A unit that no minimal rule names has the indices 0 and can be left out of the
computation. With at most ``FAMILY_LIMIT`` named units, the indices are exact; with more, they are
estimated from random orders and subsets.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import factorial, sqrt

from ..lattice import FAMILY_LIMIT, Family, Lattice, Mask, family, up_closure, without_unit

DRAWS = 10_000
"""The number of random orders, and also of random subsets, from which indices are estimated."""


@dataclass(frozen=True, slots=True)
class Power:
    """The Power of a unit holds its Banzhaf index and its Shapley index, each from 0 to 1. The Shapley
    indices of all units sum to 1, unless there is no rule or the empty antecedent is a rule.

    ``error``: 0 for exact indices. An estimated index differs from the exact one by at most ``error``,
    with a confidence of at least 95 %.
    """

    banzhaf: Fraction
    shapley: Fraction
    error: float = 0.0


def powers(lattice: Lattice, minimal_rules: Iterable[Mask]) -> tuple[Power, ...]:
    """Returns the indices of every unit, in the order of the units. ``minimal_rules``: the antecedents of
    all minimal rules."""
    rules = tuple(minimal_rules)
    named = [unit for unit in range(lattice.size) if any(rule & lattice.bit(unit) for rule in rules)]
    smaller = Lattice(len(named))
    place = {unit: number for number, unit in enumerate(named)}
    among_named = [smaller.mask(place[unit] for unit in lattice.units(rule)) for rule in rules]
    of_named = _estimated if smaller.size > FAMILY_LIMIT else _exact
    known = dict(zip(named, of_named(smaller, among_named), strict=True))
    nothing = Power(Fraction(0), Fraction(0))
    return tuple(known.get(unit, nothing) for unit in range(lattice.size))


def _exact(lattice: Lattice, rules: Sequence[Mask]) -> tuple[Power, ...]:
    valid = up_closure(family(rules, lattice.size), lattice.size)
    return tuple(_power(lattice, valid, unit) for unit in range(lattice.size))


def _estimated(lattice: Lattice, rules: Sequence[Mask]) -> tuple[Power, ...]:
    draw = random.Random(len(rules))  # noqa: S311 -- the draws must be reproducible, not secret
    units = [lattice.units(rule) for rule in rules]
    pivots, swings = [0] * lattice.size, [0] * lattice.size
    order = list(range(lattice.size))
    for _ in range(DRAWS):
        draw.shuffle(order)
        place = {unit: number for number, unit in enumerate(order)}
        # The units join one after the other. The pivot is the unit with which the joined units first
        # contain a rule.
        pivots[order[min(max(place[unit] for unit in rule) for rule in units)]] += 1
        for unit in lattice.units(_swinging(rules, draw.getrandbits(lattice.size))):
            swings[unit] += 1
    # By Hoeffding's inequality, the chance of a larger error is at most 2 exp(-2 DRAWS error^2). This is
    # 5 % if error^2 = ln(40) / (2 DRAWS), and ln(40) is about 3.69.
    error = sqrt(3.69 / (2 * DRAWS))
    return tuple(
        Power(Fraction(swing, DRAWS), Fraction(pivot, DRAWS), error)
        for swing, pivot in zip(swings, pivots, strict=True)
    )


def _swinging(rules: Sequence[Mask], subset: Mask) -> Mask:
    """Returns the units that swing the subset. A unit swings a subset if adding or removing this unit
    alone decides whether the subset contains a rule."""
    complete = [rule for rule in rules if rule & subset == rule]
    if complete:
        return reduce(lambda one, other: one & other, complete)
    missing = (rule & ~subset for rule in rules)
    return sum({lacking for lacking in missing if lacking.bit_count() == 1})


def _power(lattice: Lattice, valid: Family, unit: int) -> Power:
    bit_index = lattice.size - 1 - unit
    absent = without_unit(bit_index, lattice.size)
    # These are the sets that lack the unit and are not valid, but become valid when the unit is added.
    swings = (valid >> (1 << bit_index)) & absent & ~valid
    by_size = [(swings & layer).bit_count() for layer in layers(lattice.size)]
    players = lattice.size
    shapley = sum(
        Fraction(count * factorial(size) * factorial(players - size - 1), factorial(players))
        for size, count in enumerate(by_size[:-1])
    )
    return Power(Fraction(sum(by_size), 1 << (players - 1)), Fraction(shapley))


@lru_cache(maxsize=32)
def layers(size: int) -> tuple[Family, ...]:
    """Returns, for each number from 0 to ``size``, the family (an integer with one bit per mask) of all
    masks with this number of units."""
    if size == 0:
        return (1,)
    smaller, shift = layers(size - 1), 1 << (size - 1)
    without, with_top = (*smaller, 0), (0, *smaller)
    return tuple(low | (high << shift) for low, high in zip(without, with_top, strict=True))
