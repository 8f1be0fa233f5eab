"""This module provides the paper's Mono Rule Miner, for either kind of rule.

Guarantee: at the end it has claimed exactly the valid rules (the minimal ones, or all), each proved, and
has requested exactly the masks of V ∪ B, each once. V are the valid candidates, B the invalid candidates
whose parents are all valid. No exact algorithm can request fewer.

A candidate is requested as soon as its own parents are known to be valid, without waiting for its level.
Its rank is the complement of the antecedent, read as a number. A parent's complement is a subset and so a
smaller number, so every parent comes before its child.
"""

from dataclasses import dataclass

from ..lattice import Antecedent, Lattice, Mask, Subset, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted


@dataclass(frozen=True, slots=True)
class Mono:
    """This miner finds and proves all minimal rules of one kind; ``minimal=False``: all valid rules."""

    kind: RuleKind
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Returns a fresh search of ``lattice``."""
        flip, full = self.kind.flip(lattice), lattice.full
        frontier = _Frontier(lattice)

        def claims() -> tuple[Claim, ...]:
            rules = frontier.minimal() if self.minimal else frontier.valid
            return tuple(
                Claim(self.kind, Antecedent(rule), "proved") for rule in sorted(rules, key=smallest_first)
            )

        wanted, nothing_new = Wanted((Ask(Subset(full ^ flip), 0),), claims), Wanted((), claims)
        waiting = 1
        while waiting:
            verdicts = yield wanted
            waiting -= len(verdicts)
            opened: list[Mask] = []
            for mask, verdict in verdicts.items():
                if verdict is Verdict.HOLDS:
                    opened += frontier.opened_by(mask ^ flip)
            if opened:
                waiting += len(opened)
                asks = tuple([Ask(Subset(candidate ^ flip), full ^ candidate) for candidate in opened])
                wanted = Wanted(asks, claims)
            else:
                wanted = nothing_new
        return claims()


class _Frontier:
    """The _Frontier holds the valid antecedents, and finds the candidates whose parents are all valid."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.valid: set[Mask] = set()
        # The number of valid parents of each antecedent, in one byte each.
        self._valid_parents = bytearray(1 << lattice.size)

    def opened_by(self, antecedent: Mask) -> list[Mask]:
        """Returns the children whose parents are all valid now that ``antecedent`` is."""
        self.valid.add(antecedent)
        parents = self.lattice.size - antecedent.bit_count() + 1
        opened: list[Mask] = []
        valid_parents, rest = self._valid_parents, antecedent
        while rest:
            low = rest & -rest
            rest ^= low
            child = antecedent ^ low
            valid_parents[child] += 1
            if valid_parents[child] == parents:
                opened.append(child)
        return opened

    def minimal(self) -> list[Mask]:
        """Returns the valid antecedents without a valid child: validity is closed upwards."""
        return [rule for rule in self.valid if not self._has_valid_child(rule)]

    def _has_valid_child(self, rule: Mask) -> bool:
        rest = rule
        while rest:
            if rule & ~(rest & -rest) in self.valid:
                return True
            rest &= rest - 1
        return False
