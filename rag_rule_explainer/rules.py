"""What a rule is, at the level of masks.

Retention rule S: the condition holds on every T ⊇ S.  Omission rule S: it holds on every T with
T ∩ S = ∅. The two kinds differ in one projection, ``RuleKind.flip``, and nowhere else in the
package (paper, section on rule definitions).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from .errors import InvalidInput
from .lattice import Antecedent, Lattice, Mask, Subset

ClaimStatus = Literal["proved", "confident", "tested", "voted", "relative", "unverified"]
"""What a claim rests on: every applicable subset; a share of all of them; random ones, with a stated
guarantee; majority votes; only the sources that were kept; nothing yet."""


class RuleKind(str, Enum):
    """Retention ("whenever S is retained …") or omission ("whenever S is omitted …")."""

    RETENTION = "retention"
    OMISSION = "omission"

    # Enum hashes by name in Python code; kinds are looked up a few times per probe.
    __hash__ = str.__hash__

    def flip(self, lattice: Lattice) -> Mask:
        """Returns the projection between antecedents and concrete subsets, as the mask to XOR with.

        A concrete subset is what is retained when just S is retained (S itself), or just S omitted (all
        but S). XOR is its own inverse: it leads from either to the other.
        """
        return 0 if self is RuleKind.RETENTION else lattice.full

    def subset(self, lattice: Lattice, antecedent: Antecedent) -> Subset:
        """Returns the concrete subset of an antecedent."""
        return Subset(antecedent ^ self.flip(lattice))

    def antecedent(self, lattice: Lattice, subset: Subset) -> Antecedent:
        """Returns the antecedent of a concrete subset."""
        return Antecedent(subset ^ self.flip(lattice))


def as_kind(given: RuleKind | str) -> RuleKind:
    """Returns the kind that is meant. Raises InvalidInput for anything else."""
    try:
        return RuleKind(given)
    except ValueError as error:
        raise InvalidInput(f"kind is {given!r}; give 'retention' or 'omission'") from error


@dataclass(frozen=True, slots=True)
class Rule:
    """This class represents an antecedent of one kind; ``antecedent`` is a mask of units."""

    kind: RuleKind
    antecedent: Antecedent

    def subsumes(self, other: "Rule") -> bool:
        """Returns True iff every unit this rule names is named by ``other`` of the same kind."""
        return self.kind is other.kind and self.antecedent & ~other.antecedent == 0


@dataclass(frozen=True, slots=True)
class Claim:
    """What a miner can say about an antecedent now.

    ``draws``: random subsets tried, with replacement; 0 where nothing was drawn. ``sampling``: how
    they were drawn and what that guarantees, in words; empty for exact miners. ``kept``: the units that
    a *relative* claim is about, its antecedent among them; all others were in no antecedent that it
    rests on. 0 where it is relative to groups of units, none of which was divided. ``tried``: where all
    others were in each, the smallest ones that it rests on; then it is only true of these.
    """

    kind: RuleKind
    antecedent: Antecedent
    status: ClaimStatus
    draws: int = 0
    sampling: str = ""
    kept: Mask = 0
    tried: tuple[Antecedent, ...] = ()

    @property
    def hangs_on(self) -> tuple[Antecedent, ...]:
        """Returns the antecedents whose own subsets must hold, or there is nothing to claim."""
        return self.tried or (self.antecedent,)

    @property
    def rule(self) -> Rule:
        """Returns the rule that is claimed."""
        return Rule(self.kind, self.antecedent)
