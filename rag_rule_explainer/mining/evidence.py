"""This module counts the verdicts that support or contradict a rule."""

from collections.abc import Collection, Mapping

from ..lattice import (
    FAMILY_LIMIT,
    Antecedent,
    Family,
    Lattice,
    Subset,
    down_closure,
    family,
    is_subset,
    maximal,
    up_closure,
)
from ..rules import RuleKind
from ..verdicts import Verdict


class Evidence:
    """An ``Evidence`` counts, for any given antecedent, the subsets to which the antecedent applies. It
    also counts on how many of these subsets the condition was seen to hold, or to break. Each subset is
    counted once, even if a miner drew it several times at random."""

    def __init__(self, kind: RuleKind, lattice: Lattice, verdicts: Mapping[Subset, Verdict]) -> None:
        self._lattice = lattice
        self._flip = flip = kind.flip(lattice)
        self._masks = {
            wanted: [mask ^ flip for mask, seen in verdicts.items() if seen is wanted]
            for wanted in (Verdict.HOLDS, Verdict.BREAKS)
        }
        self._families: dict[Verdict, Family] = {}
        self._inside_broken = b""
        self._border: tuple[Antecedent, ...] | None = None
        if lattice.size <= FAMILY_LIMIT:
            self._families = {v: family(m, lattice.size) for v, m in self._masks.items()}

    def applicable(self, antecedent: Antecedent) -> int:
        """Returns the number of subsets to which a rule with this antecedent (these units) applies."""
        return 1 << (self._lattice.size - antecedent.bit_count())

    def observed(self, antecedent: Antecedent) -> int:
        """Returns on how many of the subsets to which a rule with this antecedent (these units) applies
        the condition was seen to hold."""
        return self._count(Verdict.HOLDS, antecedent)

    def broken(self, antecedent: Antecedent) -> int:
        """Returns on how many of the subsets to which a rule with this antecedent (these units) applies
        the condition was seen to break."""
        return self._count(Verdict.BREAKS, antecedent)

    def is_broken(self, antecedent: Antecedent) -> bool:
        """Returns True iff the condition was seen to break on a subset to which a rule with this
        antecedent (these units) applies. Faster than ``broken`` if it is called for many antecedents."""
        if not self._families:
            return any(mask & antecedent == antecedent for mask in self._masks[Verdict.BREAKS])
        if not self._inside_broken:
            size = self._lattice.size
            inside = down_closure(self._families[Verdict.BREAKS], size)
            self._inside_broken = inside.to_bytes(-(-(1 << size) // 8), "little")
        return bool(self._inside_broken[antecedent >> 3] >> (antecedent & 7) & 1)

    def breaking(self, antecedent: Antecedent) -> list[Subset]:
        """Returns the subsets to which a rule with this antecedent (these units) applies and on which
        the condition was seen to break."""
        flip = self._flip
        return [Subset(m ^ flip) for m in self._masks[Verdict.BREAKS] if m & antecedent == antecedent]

    def holding(self, antecedents: Collection[Antecedent]) -> list[Subset]:
        """Returns the subsets to which a rule with at least one of these antecedents (sets of units)
        applies, and on which the condition was seen to hold."""
        holds = self._masks[Verdict.HOLDS]
        return [Subset(m ^ self._flip) for m in holds if any(is_subset(own, m) for own in antecedents)]

    def border(self) -> tuple[Antecedent, ...]:
        """Returns the border: the antecedents on whose own subset (exactly their units retained, or
        omitted) the condition was seen to break, without those that another such antecedent contains.
        The largest come first."""
        if self._border is None:  # the border is computed once
            broken = map(Antecedent, self._masks[Verdict.BREAKS])
            self._border = tuple(sorted(maximal(broken, self._lattice.size), key=_largest_first))
        return self._border

    def holds_on_all(self, antecedent: Antecedent) -> bool:
        """Returns True iff the condition was seen to hold on all subsets to which a rule with this
        antecedent (these units) applies."""
        return self.observed(antecedent) == self.applicable(antecedent)

    def _count(self, verdict: Verdict, antecedent: Antecedent) -> int:
        if self._families:
            above = up_closure(1 << antecedent, self._lattice.size)
            return (self._families[verdict] & above).bit_count()
        return sum(mask & antecedent == antecedent for mask in self._masks[verdict])


def _largest_first(antecedent: Antecedent) -> tuple[int, int]:
    return -antecedent.bit_count(), -antecedent
