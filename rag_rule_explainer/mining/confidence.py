"""This module finds rules that hold on at least a given share of their applicable subsets.

The confidence of an antecedent S (paper, section on rule definitions) is the share of its applicable
subsets on which the condition holds. It is not monotone, so it takes all 2^n verdicts, and one
superset-sum (zeta) transform: n * 2^n additions for all 2^n antecedents together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import calcsize, pack, unpack

from ..lattice import Antecedent, Lattice, Mask, Subset, minimal, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted

CONFIDENCE_LIMIT = 12
"""The largest number of units: their subsets need 4,096 verdicts."""

_LANE = 32
"""The number of bits of one count in the packed integer of ``superset_sums``."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """This miner finds the minimal antecedents with a confidence of at least ``share``;
    ``minimal=False``: all of them. It requests all 2^n masks.

    A mask without a verdict counts as BREAKS, so that every claim is true at any time.
    """

    kind: RuleKind
    share: float
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Returns a fresh search of ``lattice``."""
        verdicts: dict[Subset, Verdict] = {}

        def claims() -> tuple[Claim, ...]:
            rules = confident(self.kind, lattice, verdicts, self.share)
            chosen = minimal(rules) if self.minimal else rules
            return tuple(
                Claim(self.kind, Antecedent(rule), "confident")
                for rule in sorted(chosen, key=smallest_first)
            )

        asks = tuple(Ask(Subset(mask), rank=mask) for mask in lattice.masks())
        while len(verdicts) < len(lattice.masks()):
            verdicts.update((yield Wanted(asks, claims)))
            asks = ()
        return claims()


def confident(
    kind: RuleKind, lattice: Lattice, verdicts: Mapping[Subset, Verdict], share: float
) -> list[Mask]:
    """Returns the antecedents that hold on at least this share of their applicable subsets."""
    flip = kind.flip(lattice)
    holds = [0] * len(lattice.masks())
    for mask, verdict in verdicts.items():
        holds[mask ^ flip] = int(verdict is Verdict.HOLDS)
    return [
        antecedent
        for antecedent, held in enumerate(superset_sums(holds, lattice.size))
        if held >= share * (1 << (lattice.size - antecedent.bit_count()))
    ]


def superset_sums(counts: Sequence[int], size: int) -> Sequence[int]:
    """Returns, for every mask of ``size`` units, the sum of the counts of all masks that contain it. No
    count and no sum may reach 2^32."""
    # One integer holds all counts, 32 bits each, so that one addition adds to all masks at once.
    layout = f"<{1 << size}I"
    lanes = int.from_bytes(pack(layout, *counts), "little")
    for unit in range(size):
        lanes += (lanes >> (_LANE << unit)) & _lanes_without(unit, size)
    return unpack(layout, lanes.to_bytes(calcsize(layout), "little"))


@lru_cache(maxsize=128)
def _lanes_without(unit: int, size: int) -> int:
    """Returns a packed integer with one lane (``_LANE`` bits) for each mask: all ones in the lanes of
    masks that lack bit ``unit``, zeros in the others."""
    run = _LANE << unit
    pattern, width = (1 << run) - 1, 2 * run
    while width < _LANE << size:
        pattern |= pattern << width
        width *= 2
    return pattern
