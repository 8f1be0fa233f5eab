"""This module defines rules and claims over masks. Retention rule S: the condition holds on every T ⊇
S. Omission rule S: the condition holds on every T with T ∩ S = ∅. The two kinds differ in one
projection, ``RuleKind.flip``, and nowhere else in the package (paper, section on rule definitions)."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from .errors import InvalidInput
from .lattice import Antecedent, Lattice, Mask, Subset

ClaimStatus = Literal["proved", "confident", "tested", "voted", "relative", "unverified"]
"""The evidence of a claim: all applicable subsets (proved), a share of all applicable subsets
(confident), random subsets with a stated guarantee (tested), majority votes (voted), only subsets of the
sources that a search kept (relative), or incomplete evidence (unverified)."""


class RuleKind(str, Enum):
    """This enum has the two kinds of rule: "whenever S is retained …" and "whenever S is omitted …"."""

    RETENTION = "retention"
    OMISSION = "omission"

    # Enum.__hash__ runs Python code; kinds are looked up several times per probe.
    __hash__ = str.__hash__

    def flip(self, lattice: Lattice) -> Mask:
        """Returns the mask that converts an antecedent S to its own subset by XOR, and back. The own
        subset of a retention rule is S itself; that of an omission rule is everything except S."""
        return 0 if self is RuleKind.RETENTION else lattice.full

    def subset(self, lattice: Lattice, antecedent: Antecedent) -> Subset:
        """Returns the subset on which just this antecedent is retained (or omitted)."""
        return Subset(antecedent ^ self.flip(lattice))

    def antecedent(self, lattice: Lattice, subset: Subset) -> Antecedent:
        """Returns the antecedent whose own subset is ``subset``."""
        return Antecedent(subset ^ self.flip(lattice))


def as_kind(given: RuleKind | str) -> RuleKind:
    """Returns the kind of this name. Raises InvalidInput for any other name."""
    try:
        return RuleKind(given)
    except ValueError as error:
        raise InvalidInput(f"kind is {given!r}; give 'retention' or 'omission'") from error


@dataclass(frozen=True, slots=True)
class Rule:
    """A ``Rule`` is an antecedent, a mask of units, with its kind."""

    kind: RuleKind
    antecedent: Antecedent

    def subsumes(self, other: "Rule") -> bool:
        """Returns True iff ``other`` is of the same kind and names at least the units that this rule
        names."""
        return self.kind is other.kind and self.antecedent & ~other.antecedent == 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A ``Claim`` holds what a miner can state about an antecedent now.

    ``draws``: random subsets tried, with replacement; 0 if none were drawn. ``sampling``: how they were
    drawn and what that guarantees, in words; empty for exact miners. ``kept``: for a *relative* claim,
    the units that it is about, including its antecedent; other units were in no antecedent that was
    tried. ``kept`` is 0 if the claim is relative to undivided groups of units. ``tried``: set if every
    tried antecedent also contained other units: the smallest tried antecedents, of which alone the claim
    is true.
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
        """Returns the antecedents whose own subsets must hold for the claim to be made."""
        return self.tried or (self.antecedent,)

    @property
    def rule(self) -> Rule:
        """Returns the claimed rule."""
        return Rule(self.kind, self.antecedent)
