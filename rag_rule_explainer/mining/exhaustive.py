"""This module mines rules by their definition. It requests all 2^n subsets of n units, and then checks of
every antecedent whether the condition holds on all subsets to which it applies.

Tests and experiments compare the other miners with this miner. So this miner shares no code with them
except the lattice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..lattice import Antecedent, Lattice, Mask, Subset, minimal, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """This miner finds all minimal rules of one kind by probing all 2^n subsets of n units. ``minimal``:
    False to find all rules."""

    by_prefix: ClassVar[bool] = True
    """True means: each worker prefers subsets whose prompt begins like the last prompt that it sent,
    because servers evaluate such prompts faster."""

    kind: RuleKind
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        verdicts: dict[Subset, Verdict] = {}

        def claims() -> tuple[Claim, ...]:
            rules: Iterable[Mask] = valid_rules(self.kind, lattice, verdicts)
            return tuple(
                Claim(self.kind, Antecedent(rule), "proved")
                for rule in sorted(minimal(rules) if self.minimal else rules, key=smallest_first)
            )

        asks = tuple(Ask(Subset(mask), rank=mask) for mask in lattice.masks())
        while len(verdicts) < len(lattice.masks()):
            verdicts.update((yield Wanted(asks, claims)))
            asks = ()
        return claims()


def valid_rules(kind: RuleKind, lattice: Lattice, verdicts: Mapping[Subset, Verdict]) -> tuple[Mask, ...]:
    """Returns the sets of units that make valid rules: all subsets to which such a rule applies have the
    verdict HOLDS."""
    flip = kind.flip(lattice)
    return tuple(
        antecedent
        for antecedent in lattice.masks()
        if all(
            verdicts.get(Subset(wider ^ flip)) is Verdict.HOLDS for wider in lattice.supersets(antecedent)
        )
    )
