"""Rules that hold on at least a share of the subsets they speak about.

The confidence of an antecedent S (paper, section on rule definitions): the share of the concrete subsets
under S on which the condition holds. It is not monotone, so it takes all 2^n verdicts, and then one
superset-sum (zeta) transform: n * 2^n additions for all 2^n antecedents together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add

from ..lattice import Lattice, Mask, minimal, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted

CONFIDENCE_LIMIT = 12
"""Most units: 4,096 verdicts."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The minimal antecedents of one kind with a confidence of at least ``share``; ``minimal=False``: all
    of them. Asks for all 2^n masks.

    A mask without a verdict counts as one that breaks, so that every claim is true whenever it is read.
    """

    kind: RuleKind
    share: float
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """A fresh search of ``lattice``."""
        verdicts: dict[Mask, Verdict] = {}

        def claims() -> tuple[Claim, ...]:
            rules = confident(self.kind, lattice, verdicts, self.share)
            chosen = minimal(rules) if self.minimal else rules
            return tuple(
                Claim(self.kind, rule, "confident") for rule in sorted(chosen, key=smallest_first)
            )

        asks = tuple(Ask(mask, rank=mask) for mask in lattice.masks())
        while len(verdicts) < len(lattice.masks()):
            verdicts.update((yield Wanted(asks, claims)))
            asks = ()
        return claims()


def confident(
    kind: RuleKind, lattice: Lattice, verdicts: Mapping[Mask, Verdict], share: float
) -> list[Mask]:
    """The antecedents that hold on at least this share of their subsets."""
    flip = kind.flip(lattice)
    holds = [0] * len(lattice.masks())
    for mask, verdict in verdicts.items():
        holds[mask ^ flip] = int(verdict is Verdict.HOLDS)
    return [
        antecedent
        for antecedent, held in enumerate(superset_sums(holds, lattice.size))
        if held >= share * (1 << (lattice.size - antecedent.bit_count()))
    ]


def superset_sums(values: Sequence[int], size: int) -> list[int]:
    """For every mask of ``size`` units, the sum of the values of all masks that contain it."""
    sums = list(values)
    for unit in range(size):
        step = 1 << unit
        # Slices do the additions; there are fewer of them in blocks for high bits, in strides for low.
        if step * step <= len(sums):
            for first in range(step):
                low, high = slice(first, None, 2 * step), slice(first + step, None, 2 * step)
                sums[low] = map(add, sums[low], sums[high])
        else:
            for first in range(0, len(sums), 2 * step):
                low, high = slice(first, first + step), slice(first + step, first + 2 * step)
                sums[low] = map(add, sums[low], sums[high])
    return sums
