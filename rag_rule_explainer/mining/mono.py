"""This module provides the Mono Rule Miner of the paper on which this package is based. It works for both
kinds of rule.

An antecedent is *valid* if the condition holds on all subsets to which it applies. Its *parents* are the
antecedents with one more unit, and its *children* are the antecedents with one unit fewer. At its end,
the miner has proved exactly the valid rules (the minimal ones, or all). Let V be the valid antecedents,
and B the invalid ones whose parents are all valid. The miner has requested each mask of V ∪ B exactly
once, and no other mask. No exact algorithm can request fewer.

An antecedent is requested as soon as all its parents are known to be valid, without waiting for others of
the same size. Its rank is the complement of its mask, read as a number. A parent has one unit more than
its child, so the complement of the parent is a smaller number. So each parent comes before its children.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar

from ..lattice import Antecedent, Lattice, Mask, Subset, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Wanted

_ask: Callable[[tuple[Mask, int, bool, bool]], Ask] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType] -- the types of the tuple's items are not declared
    Ask,
)
"""Makes an ``Ask`` from all of its fields, in a third of the time that ``Ask(...)`` takes. It is called
once for each subset, so it must be fast."""

_wanted: Callable[[tuple[tuple[Ask, ...], Callable[[], tuple[Claim, ...]], str]], Wanted] = partial(
    tuple.__new__,  # pyright: ignore[reportUnknownMemberType] -- the same reason as for ``_ask``
    Wanted,
)


@dataclass(frozen=True, slots=True)
class Mono:
    """This miner finds and proves all minimal rules of one kind. ``minimal``: False to find all valid
    rules."""

    by_prefix: ClassVar[bool] = True
    """True means: each worker prefers subsets whose prompt begins like the last prompt that it sent,
    because servers evaluate such prompts faster."""

    kind: RuleKind
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        flip, full = self.kind.flip(lattice), lattice.full
        frontier = _Frontier(lattice)
        holds = Verdict.HOLDS  # read once, because Python reads a member of an enum slowly

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
                if verdict is holds:
                    opened += frontier.opened_by(mask ^ flip)
            if opened:
                waiting += len(opened)
                asks = tuple(
                    [_ask((candidate ^ flip, full ^ candidate, True, False)) for candidate in opened]
                )
                wanted = _wanted((asks, claims, ""))
            else:
                wanted = nothing_new
        return claims()


class _Frontier:
    """A ``_Frontier`` holds the antecedents that are known to be valid. It finds the antecedents that can
    be requested next: the antecedents whose parents (those with one unit more) are all valid."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.valid: set[Mask] = set()
        # This list has, for each antecedent (set of units), the number of its parents that are known to
        # be valid. It is no array, because Python reads a list in half of the time.
        self._valid_parents = [0] * (1 << lattice.size)
        # The bits of an antecedent are looked up in two tables, one for each half of its units.
        self._half = lattice.size // 2
        self._low_bits = _bits_of_each(self._half)
        self._high_bits = _bits_of_each(lattice.size - self._half, self._half)

    def opened_by(self, antecedent: Mask) -> list[Mask]:
        """Records that an antecedent is valid. Returns those of its children (the antecedents with one
        unit fewer) that can be requested now, because all their parents are valid."""
        self.valid.add(antecedent)
        valid_parents, half = self._valid_parents, self._half
        high = antecedent >> half
        units = self._low_bits[antecedent ^ (high << half)] + self._high_bits[high]
        parents = self.lattice.size - len(units) + 1
        opened: list[Mask] = []
        for bit in units:
            child = antecedent ^ bit
            known = valid_parents[child] + 1
            if known == parents:
                opened.append(child)
            else:
                valid_parents[child] = known
        return opened

    def minimal(self) -> list[Mask]:
        """Returns the valid antecedents without a valid child (the same antecedent without one unit).
        These are the minimal valid antecedents: if a smaller antecedent inside one of them were valid, a
        child that contains the smaller one would be valid, too."""
        return [rule for rule in self.valid if not self._has_valid_child(rule)]

    def _has_valid_child(self, rule: Mask) -> bool:
        rest = rule
        while rest:
            if rule & ~(rest & -rest) in self.valid:
                return True
            rest &= rest - 1
        return False


@lru_cache(maxsize=64)
def _bits_of_each(size: int, shift: int = 0) -> Sequence[tuple[Mask, ...]]:
    """Returns, for each mask of ``size`` units, its single bits, the lowest first, each shifted to the
    left by ``shift``."""
    found: list[tuple[Mask, ...]] = [()]
    for place in range(size):
        found += [(*each, 1 << (place + shift)) for each in found]
    return found
