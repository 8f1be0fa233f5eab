"""This module counts the verdicts that support or contradict a rule."""

from collections.abc import Mapping

from ..lattice import FAMILY_LIMIT, Antecedent, Family, Lattice, Subset, down_closure, family, up_closure
from ..rules import RuleKind
from ..verdicts import Verdict


class Evidence:
    """An ``Evidence`` counts, for an antecedent, the subsets to which it applies, and those of them that
    were seen to hold or to break. Each subset is counted once, even if a miner drew it several times at
    random."""

    def __init__(self, kind: RuleKind, lattice: Lattice, verdicts: Mapping[Subset, Verdict]) -> None:
        self._lattice = lattice
        self._flip = flip = kind.flip(lattice)
        self._masks = {
            wanted: [mask ^ flip for mask, seen in verdicts.items() if seen is wanted]
            for wanted in (Verdict.HOLDS, Verdict.BREAKS)
        }
        self._families: dict[Verdict, Family] = {}
        self._inside_broken = b""
        if lattice.size <= FAMILY_LIMIT:
            self._families = {v: family(m, lattice.size) for v, m in self._masks.items()}

    def applicable(self, antecedent: Antecedent) -> int:
        """Returns the number of subsets to which the antecedent applies."""
        return 1 << (self._lattice.size - antecedent.bit_count())

    def observed(self, antecedent: Antecedent) -> int:
        """Returns the number of subsets to which the antecedent applies and that were seen to hold."""
        return self._count(Verdict.HOLDS, antecedent)

    def broken(self, antecedent: Antecedent) -> int:
        """Returns the number of subsets to which the antecedent applies and that were seen to break."""
        return self._count(Verdict.BREAKS, antecedent)

    def is_broken(self, antecedent: Antecedent) -> bool:
        """Returns True iff a subset to which the antecedent applies was seen to break. Faster than
        ``broken`` if it is called for many antecedents."""
        if not self._families:
            return any(mask & antecedent == antecedent for mask in self._masks[Verdict.BREAKS])
        if not self._inside_broken:
            size = self._lattice.size
            inside = down_closure(self._families[Verdict.BREAKS], size)
            self._inside_broken = inside.to_bytes(-(-(1 << size) // 8), "little")
        return bool(self._inside_broken[antecedent >> 3] >> (antecedent & 7) & 1)

    def breaking(self, antecedent: Antecedent) -> list[Subset]:
        """Returns the subsets to which the antecedent applies and that were seen to break."""
        flip = self._flip
        return [Subset(m ^ flip) for m in self._masks[Verdict.BREAKS] if m & antecedent == antecedent]

    def _count(self, verdict: Verdict, antecedent: Antecedent) -> int:
        if self._families:
            above = up_closure(1 << antecedent, self._lattice.size)
            return (self._families[verdict] & above).bit_count()
        return sum(mask & antecedent == antecedent for mask in self._masks[verdict])
