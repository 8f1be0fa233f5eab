"""This module defines rules, and claims about them, over masks of units (sources, or groups of tied
ones).

Retention rule S: the condition holds on every subset T ⊇ S. Omission rule S: the condition holds on every
subset T with T ∩ S = ∅. The whole package handles the difference between the two kinds by one method,
``RuleKind.flip``. The definitions are those of the paper on which this package is based.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from .errors import InvalidInput
from .lattice import Antecedent, Lattice, Mask, Subset
from .printable import brief

ClaimStatus = Literal["proved", "confident", "tested", "voted", "relative", "unverified"]
"""The evidence for a claim about a rule. The condition was seen to hold on

- proved: all subsets to which the rule applies,
- confident: a share of all these subsets,
- tested: random ones of these subsets, with a stated guarantee,
- voted: these subsets, by majority votes,
- relative: only subsets of the sources that a search kept.

unverified: the evidence is incomplete.
"""


class RuleKind(str, Enum):
    """A ``RuleKind`` is one of the two kinds of rule: "whenever S is retained …" and "whenever S is
    omitted …"."""

    RETENTION = "retention"
    OMISSION = "omission"

    # ``Enum.__hash__`` is slow, because it runs Python code. Kinds are used as keys several times for
    # each probe, so they have the faster hash of ``str``.
    __hash__ = str.__hash__

    def flip(self, lattice: Lattice) -> Mask:
        """Returns the mask M that converts between antecedents and own subsets by XOR: ``antecedent ^ M``
        is the own subset of the rule with this antecedent, and ``subset ^ M`` is the antecedent of the
        rule with this own subset. A rule's *own subset* is the subset on which exactly the units of its
        antecedent are retained (for an omission rule: omitted)."""
        return 0 if self is RuleKind.RETENTION else lattice.full

    def subset(self, lattice: Lattice, antecedent: Antecedent) -> Subset:
        """Returns the subset on which exactly the units of this antecedent are retained (for omission
        rules: omitted)."""
        return Subset(antecedent ^ self.flip(lattice))

    def antecedent(self, lattice: Lattice, subset: Subset) -> Antecedent:
        """Returns the antecedent of the rule whose own subset is ``subset``: the units that the subset
        retains, or for omission rules omits."""
        return Antecedent(subset ^ self.flip(lattice))


def as_kind(given: RuleKind | str) -> RuleKind:
    """Returns the kind with this name. Raises InvalidInput if there is no such kind."""
    try:
        return RuleKind(given)
    except ValueError as error:
        raise InvalidInput(f"kind is {brief(given)}; give 'retention' or 'omission'") from error


@dataclass(frozen=True, slots=True)
class Rule:
    """A ``Rule`` has a kind, and an antecedent: the mask of the units (sources, or groups of tied ones)
    that the rule names."""

    kind: RuleKind
    antecedent: Antecedent

    def subsumes(self, other: "Rule") -> bool:
        """Returns True iff ``other`` has the same kind and names all units that this rule names."""
        return self.kind is other.kind and self.antecedent & ~other.antecedent == 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A ``Claim`` is a miner's statement that an antecedent makes a rule, based on the verdicts so far.

    ``draws``: the number of random subsets that were tried, drawn with replacement; 0 if none were drawn.
    ``sampling``: how the subsets were drawn and what this guarantees, in words; empty for exact miners.

    ``kept``: for a *relative* claim, the units that the claim is about, including its antecedent. Other
    units were in no antecedent that was tried. ``kept`` is 0 for all other claims, and also if the search
    treated whole groups of units as one unit; the claim then says nothing about parts of these groups.
    ``tried``: usually empty. If the claimed antecedent was only tried together with units that it does
    not contain, ``tried`` has the smallest antecedents that were tried, and the claim is true only of
    these.
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
        """Returns the antecedents on which the claim depends. The own subset of an antecedent has exactly
        its units retained (for an omission rule: omitted). If the condition breaks on the own subset of
        one of the returned antecedents, the claim must not be made."""
        return self.tried or (self.antecedent,)

    @property
    def rule(self) -> Rule:
        """Returns the claimed rule."""
        return Rule(self.kind, self.antecedent)
