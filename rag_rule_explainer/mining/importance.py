"""One number per unit: the Banzhaf and Shapley indices of validity.

The game v(S) = [S is a valid antecedent] is monotone and follows from the minimal rules alone, so its
indices cost no probe. Exact rational arithmetic on families, at most ``FAMILY_LIMIT`` units.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial

from ..lattice import Family, Lattice, Mask, family, up_closure, without_unit


@dataclass(frozen=True, slots=True)
class Power:
    """A unit's Banzhaf index (0 to 1) and Shapley index (they sum to 1 unless no rule or the empty
    rule is valid)."""

    banzhaf: Fraction
    shapley: Fraction


def powers(lattice: Lattice, minimal_rules: Iterable[Mask]) -> tuple[Power, ...]:
    """The indices of every unit, first unit first, of the game whose minimal winners are the rules."""
    valid = up_closure(family(minimal_rules, lattice.size), lattice.size)
    return tuple(_power(lattice, valid, unit) for unit in range(lattice.size))


def _power(lattice: Lattice, valid: Family, unit: int) -> Power:
    bit_index = lattice.size - 1 - unit
    absent = without_unit(bit_index, lattice.size)
    # The sets without the unit that are not valid, and are with it.
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
    """The families of all masks with 0, 1, …, ``size`` units."""
    if size == 0:
        return (1,)
    smaller, shift = layers(size - 1), 1 << (size - 1)
    without, with_top = (*smaller, 0), (0, *smaller)
    return tuple(low | (high << shift) for low, high in zip(without, with_top, strict=True))
