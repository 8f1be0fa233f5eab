"""This module represents subsets of units as bit masks, and families of subsets as bit sets.

A unit is one source, or several *tied* sources, which are retained or omitted only together. A *mask* is
an int below ``1 << size``. The **last** unit is the lowest bit. Counting up then visits subsets so that
consecutive prompts share the longest possible prefix. A proper subset of a mask is always a smaller
number, so counting up visits every subset before its supersets.

A *family* of masks over at most ``FAMILY_LIMIT`` units is one int of ``2**size`` bits: bit ``m`` says
whether mask ``m`` is in the family. Adding all supersets to a family takes ``size`` operations on such
ints instead of a loop over masks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NewType, TypeAlias, TypeVar, cast

Mask = int
Subset = NewType("Subset", int)
"""The mask of the retained units (sources, or groups of tied ones): the subset that is replayed and gets
a verdict."""
Antecedent = NewType("Antecedent", int)
"""The mask of the units (sources, or groups of tied ones) that a rule names; ``RuleKind`` converts
between antecedents and subsets."""
Family = int
Order: TypeAlias = tuple[int, ...]
"""The positions of the retained units (0 is the first), in the order in which a replay shows them."""
ArrangementKey: TypeAlias = Subset | Order
"""The key of an arrangement (the retained units, in the order in which a replay shows them) in searches,
probes and verdicts. The key is a mask of these units if they are in the recorded order, else an
``Order``. Only searches for rules about subsets read the bits of the mask. All other code only compares
keys."""

AnyMask = TypeVar("AnyMask", bound=int)

FAMILY_LIMIT = 20
"""The maximum number of units (a unit is a source, or a group of tied sources) for which families are
used. A family is a set of masks, stored as one integer. For 20 units, a family has 2**20 bits (128
KiB)."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """This class represents all subsets of ``size`` units (sources, or groups of tied ones), ordered by
    inclusion. ``size`` may be 0."""

    size: int

    @property
    def full(self) -> Mask:
        """Returns the mask of all units (sources, or groups of tied ones)."""
        return (1 << self.size) - 1

    def bit(self, unit: int) -> Mask:
        """Returns the mask that contains only the unit (source, or group of tied ones) at position
        ``unit``; 0 is the first."""
        return 1 << (self.size - 1 - unit)

    def mask(self, units: Iterable[int]) -> Mask:
        """Returns the mask of the units (sources, or groups of tied ones) at these positions."""
        return sum(self.bit(unit) for unit in set(units))

    def units(self, mask: Mask) -> tuple[int, ...]:
        """Returns the positions of the units (sources, or groups of tied ones) in a mask, in ascending
        order."""
        return tuple(unit for unit in range(self.size) if mask & self.bit(unit))

    def left_out(self, key: ArrangementKey) -> frozenset[int]:
        """Returns the positions of the units (sources, or tied sources) that the arrangement with this
        key omits."""
        return frozenset(range(self.size)).difference(self.units(key) if isinstance(key, int) else key)

    def complement(self, mask: Mask) -> Mask:
        """Returns the mask of all units (sources, or groups of tied ones) that are not in ``mask``."""
        return self.full ^ mask

    def one_more(self, mask: AnyMask) -> Iterator[AnyMask]:
        """Yields the masks that have all units of ``mask`` and exactly one more. A unit is a source, or
        a group of tied ones."""
        return (cast("AnyMask", mask | bit) for bit in bits(self.complement(mask)))

    def one_fewer(self, mask: AnyMask) -> Iterator[AnyMask]:
        """Yields the masks that lack exactly one unit of ``mask``, and have no other units. A unit is a
        source, or a group of tied sources."""
        return (cast("AnyMask", mask ^ bit) for bit in bits(mask))

    def supersets(self, mask: AnyMask) -> Iterator[AnyMask]:
        """Yields every mask (set of units) that contains ``mask``, including ``mask`` itself, in
        ascending order of the numbers."""
        free = self.complement(mask)
        extra = 0
        while True:
            yield cast("AnyMask", mask | extra)
            if extra == free:
                return
            extra = (extra - free) & free

    def masks(self) -> range:
        """Returns all masks as numbers, from 0 (no unit) to the mask of all units."""
        return range(1 << self.size)


def unit_count(key: ArrangementKey) -> int:
    """Returns the number of units (sources, or tied sources) that the arrangement with this key
    retains."""
    return key.bit_count() if isinstance(key, int) else len(key)


def subset_count(subsets: int) -> str:
    """Returns a number of subsets as text, such as "256". Numbers above 2^20 are written as a power of
    two, such as "2^48"."""
    return str(subsets) if subsets <= 1 << FAMILY_LIMIT else f"2^{subsets.bit_length() - 1}"


def bits(mask: Mask) -> Iterator[Mask]:
    """Yields the single bits of a mask as numbers, the lowest first: 1 and 4 for 5."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


def is_subset(mask: Mask, other: Mask) -> bool:
    """Returns True iff ``other`` contains all units of ``mask``. Both are sets of units, as bit masks."""
    return mask & other == mask


def smallest_first(mask: Mask) -> tuple[int, int]:
    """Returns a sort key that puts masks with fewer units first. If two masks have the same number of
    units, the mask with the earlier units (at lower positions) comes first."""
    return mask.bit_count(), -mask


def minimal(masks: Iterable[AnyMask]) -> tuple[AnyMask, ...]:
    """Returns those of the masks (sets of units) that contain no other of the masks, the smallest
    first."""
    found: list[AnyMask] = []
    for mask in sorted(set(masks), key=smallest_first):
        if not any(smaller & mask == smaller for smaller in found):
            found.append(mask)
    return tuple(found)


def maximal(masks: Iterable[AnyMask], size: int) -> tuple[AnyMask, ...]:
    """Returns those of the masks (sets of units) that are contained in no other of the masks, in no
    particular order. ``size``: the number of units."""
    if size <= FAMILY_LIMIT:
        return cast("tuple[AnyMask, ...]", tuple(members(_uncovered(family(masks, size), size))))
    found: list[AnyMask] = []
    for mask in sorted(set(masks), key=smallest_first, reverse=True):
        if not any(larger & mask == mask for larger in found):
            found.append(mask)
    return tuple(found)


def family(masks: Iterable[Mask], size: int) -> Family:
    """Returns the family (a set of masks, as one integer) of these masks. ``size``: the number of units,
    at most FAMILY_LIMIT."""
    members = bytearray(-(-(1 << size) // 8))
    for mask in masks:
        members[mask >> 3] |= 1 << (mask & 7)
    return int.from_bytes(members, "little")


def members(group: Family) -> Iterator[Mask]:
    """Yields the masks of a family (a set of masks, as one integer), the smallest number first."""
    for index, byte in enumerate(group.to_bytes(-(-group.bit_length() // 8), "little")):
        for bit in bits(byte):
            yield index * 8 + bit.bit_length() - 1


def up_closure(group: Family, size: int) -> Family:
    """Returns the family of all sets of units that contain at least one of the sets in ``group``.
    ``size``: the number of units."""
    for unit in range(size):
        group |= (group & without_unit(unit, size)) << (1 << unit)
    return group


def down_closure(group: Family, size: int) -> Family:
    """Returns the family of all sets of units that are contained in at least one of the sets in
    ``group``. ``size``: the number of units."""
    for unit in range(size):
        group |= (group >> (1 << unit)) & without_unit(unit, size)
    return group


@lru_cache(maxsize=512)
def without_unit(bit_index: int, size: int) -> Family:
    """Returns the family of all masks over ``size`` units that lack one unit. ``bit_index``: the index of
    this unit's bit in a mask; 0 is the lowest bit and so the last unit."""
    run = 1 << bit_index
    pattern, width = (1 << run) - 1, 2 * run
    while width < 1 << size:
        pattern |= pattern << width
        width *= 2
    return pattern


def _uncovered(group: Family, size: int) -> Family:
    # If some member contains another member and one more unit, the smaller member is not maximal and is
    # removed.
    below, covered = down_closure(group, size), 0
    for unit in range(size):
        covered |= (below >> (1 << unit)) & without_unit(unit, size)
    return group & ~covered
