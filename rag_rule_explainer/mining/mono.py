"""The paper's Mono Rule Miner, for either kind.

Guarantee: at the end it has claimed exactly the valid rules (the minimal ones, or all), each proved,
and it has asked for exactly V ∪ B, each mask once: V the valid candidates, B the invalid candidates all
of whose parents are valid. No exact algorithm can ask for less.

A candidate is asked for as soon as its own parents are known to be valid, without waiting for its
level, ranked in counting order: the complement of the antecedent, read as a number. That meets every
parent before its child, because a parent's complement is a subset and so a smaller number.
"""

from dataclasses import dataclass

from ..lattice import Antecedent, Lattice, Mask, Subset, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted


@dataclass(frozen=True, slots=True)
class Mono:
    """This class represents all minimal rules of one kind, proved; ``minimal=False``: all valid rules."""

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
    """Which antecedents are valid, and which have just had their last parent proved valid."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.valid: set[Mask] = set()
        # One byte per antecedent: how many of its parents are valid.
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
