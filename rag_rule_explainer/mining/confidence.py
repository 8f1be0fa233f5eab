"""This module finds rules that hold on at least a given share of the subsets to which they apply.

The confidence of an antecedent (as defined in the paper on which this package is based) is the share of
its applicable subsets on which the condition holds. If units are added to an antecedent, its confidence
may rise or fall. So no verdict can be skipped: for n units, all 2^n are needed. One superset-sum (zeta)
transform then gives the counts for all 2^n antecedents together, by n * 2^n additions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import calcsize, pack, unpack
from typing import ClassVar

from ..lattice import Antecedent, Lattice, Mask, Subset, minimal, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted

CONFIDENCE_LIMIT = 12
"""The maximum number of units (sources, or groups of tied ones) for which the miner ``Confidence`` is
used. This miner probes all subsets; 12 units have 4,096 subsets."""

_LANE = 32
"""The number of bits for one count in the integer into which ``superset_sums`` packs many counts."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """This miner finds the minimal sets of units with which a rule has a confidence of at least
    ``share``. The confidence is the share of the subsets with these units on which the condition holds.
    The miner requests the verdicts on all 2^n subsets.

    ``minimal``: False to find all such sets. As long as a subset has no verdict, it counts as a subset on
    which the condition breaks. So a claim that is made before all verdicts are known stays true
    afterwards.
    """

    by_prefix: ClassVar[bool] = True
    """True means: each worker prefers subsets whose prompt begins like the last prompt that it sent,
    because servers evaluate such prompts faster."""

    kind: RuleKind
    share: float
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
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
    """Returns each antecedent (set of units that a rule names) for which the condition holds on at least
    ``share`` (from 0 to 1) of the subsets to which the rule applies. A subset without a verdict counts as
    a subset on which the condition breaks."""
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
    """Returns, for each of the 2^``size`` masks over ``size`` units, the sum of the counts of all masks
    that contain this mask. ``counts``: one number for each mask. Every count and every sum must be below
    2^32."""
    # All counts are packed into one integer, 32 bits each. One addition of such integers then adds the
    # counts of all masks at once.
    layout = f"<{1 << size}I"
    lanes = int.from_bytes(pack(layout, *counts), "little")
    for unit in range(size):
        lanes += (lanes >> (_LANE << unit)) & _lanes_without(unit, size)
    return unpack(layout, lanes.to_bytes(calcsize(layout), "little"))


@lru_cache(maxsize=128)
def _lanes_without(unit: int, size: int) -> int:
    """Returns a packed integer that has a lane of ``_LANE`` bits for each mask. All bits of a lane are 1
    if its mask lacks the unit, and 0 otherwise. ``unit``: the index of the unit's bit in a mask (0 is the
    lowest bit)."""
    run = _LANE << unit
    pattern, width = (1 << run) - 1, 2 * run
    while width < _LANE << size:
        pattern |= pattern << width
        width *= 2
    return pattern
