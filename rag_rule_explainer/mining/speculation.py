"""Guesses at what a top-down search will need, for slots that would otherwise be idle.

Validity is closed upwards: nothing below an antecedent that breaks is ever needed, and whatever has no
such ancestor is. So a guess is wasted iff one of its ancestors, not known yet, turns out to break. How
likely that is follows from how many of them are unknown and how often the others broke.
"""

import heapq
import math
from array import array
from collections.abc import Callable, Iterable

from ..lattice import Lattice, Mask, Subset
from ..rules import RuleKind
from ..verdicts import Verdict

MOST_UNITS = 14
"""Beyond it nothing is guessed: so many candidates are ready that hardly any slot is ever idle."""

_SINGLE_BREAKS, _SINGLES_WEIGH = 0.3, 5
_OTHER_BREAKS, _OTHERS_WEIGH = 0.05, 20
"""How often the removal of one source breaks the condition, and that of several of which no part does:
what is assumed to begin with, and how many observations that weighs."""
_SLACK = 2
"""How much more may be at risk than the share that may be wasted, once all removals of single sources
that a guess contains are known: what is likely to be wasted by then is found out soon."""


class Speculation:
    """Which masks one search may have probed before it is known whether they are needed.

    ``share``: of all issued probes, those that may be wasted, that is, issued as a guess and then shown
    to be unneeded. No guess is issued that would exceed it if wasted, counting those known to be; what
    is issued and found out to be wasted later comes on top, and is likely to be little.
    """

    def __init__(self, kind: RuleKind, lattice: Lattice, share: float) -> None:
        self._flip, self._full = kind.flip(lattice), lattice.full
        self._share = share
        possible = lattice.size <= MOST_UNITS
        # By the set of removed units, from here on: which ones break, which single ones are known to
        # hold.
        self._candidates = list(range(1, 1 << lattice.size)) if possible else []
        self._unknown = (
            array("i", [(1 << mask.bit_count()) - 2 for mask in lattice.masks()]) if possible else None
        )
        self._holding = 0
        self._minimal_breaks: list[Mask] = []
        self._singles = [0, 0]
        self._others = [0, 0]
        # What an unknown one adds to a hazard; they change with every verdict, and are asked for often.
        self._by_single = _hazard_of(self._singles, _SINGLE_BREAKS, _SINGLES_WEIGH)
        self._by_other = _hazard_of(self._others, _OTHER_BREAKS, _OTHERS_WEIGH)
        self._open: set[Mask] = set()
        self._wasted: set[Mask] = set()
        self._best: list[tuple[float, Mask]] = []
        self._news, self._patience = 0, max(1, (1 << lattice.size) >> 8)

    @property
    def wasted(self) -> frozenset[Subset]:
        """Returns what was issued and is shown to be unneeded."""
        return frozenset(map(self._without, self._wasted))

    @property
    def unneeded(self) -> frozenset[Subset]:
        """Returns what was issued and is not needed so far."""
        return frozenset(map(self._without, self._wasted | self._open))

    def __contains__(self, mask: Subset) -> bool:
        """Returns True for what was issued and is not needed so far."""
        removed = self._removed(mask)
        return removed in self._open or removed in self._wasted

    def next(self, issued: int, is_taken: Callable[[Subset], bool]) -> Subset | None:
        """Returns the safest guess of all, unless it is too risky; ``issued`` probes so far."""
        if len(self._wasted) + 1 > self._share * (issued + 1):
            return None
        removed = self._safest(is_taken)
        if removed is None:
            return None
        at_risk = len(self._wasted) + self._likely_wasted(self._open) + self._likely_wasted((removed,))
        slack = 1 if removed & ~self._holding else _SLACK
        if at_risk > slack * self._share * (issued + 1):
            heapq.heappush(self._best, (self._hazards((removed,))[0], removed))
            return None
        self._open.add(removed)
        return self._without(removed)

    def confirm(self, mask: Subset) -> None:
        """It is needed after all."""
        removed = self._removed(mask)
        self._open.discard(removed)
        self._wasted.discard(removed)

    def learn(self, mask: Subset, verdict: Verdict) -> None:
        """Takes in a verdict, on a guess or on what was asked."""
        removed = self._removed(mask)
        if self._unknown is None or not removed or verdict is Verdict.UNKNOWN:
            return
        self._news += 1
        alone = removed & (removed - 1) == 0
        seen = self._singles if alone else self._others
        if verdict is Verdict.HOLDS:
            seen[0] += 1
            self._holding |= removed if alone else 0
            self._forget_unknown(removed)
        elif not self._is_ruled_out(removed):
            seen[1] += 1
            self._minimal_breaks.append(removed)
            lost = {each for each in self._open if each & removed == removed and each != removed}
            self._open -= lost
            self._wasted |= lost
        self._by_single = _hazard_of(self._singles, _SINGLE_BREAKS, _SINGLES_WEIGH)
        self._by_other = _hazard_of(self._others, _OTHER_BREAKS, _OTHERS_WEIGH)

    def _removed(self, mask: Subset) -> Mask:
        """Returns what a subset removes from the largest one."""
        return self._full ^ mask ^ self._flip

    def _without(self, removed: Mask) -> Subset:
        return Subset(self._full ^ removed ^ self._flip)

    def _forget_unknown(self, removed: Mask) -> None:
        """One ancestor fewer is unknown to everything below."""
        unknown, rest = self._unknown, self._full ^ removed
        more = rest
        while unknown is not None and more:
            unknown[removed | more] -= 1
            more = (more - 1) & rest

    def _is_ruled_out(self, removed: Mask) -> bool:
        for broken in self._minimal_breaks:  # noqa: SIM110 -- a generator costs more
            if removed & broken == broken:
                return True
        return False

    def _safest(self, is_taken: Callable[[Subset], bool]) -> Mask | None:
        def is_open(removed: Mask) -> bool:
            return not is_taken(self._without(removed)) and not self._is_ruled_out(removed)

        if self._news >= self._patience or not self._best:
            self._news = 0
            # Neither is ever undone, so what fails once is never looked at again.
            self._candidates = [
                each for each in self._candidates if each not in self._open and is_open(each)
            ]
            self._best = list(zip(self._hazards(self._candidates), self._candidates, strict=True))
            heapq.heapify(self._best)
        while self._best:
            _, removed = heapq.heappop(self._best)
            if removed not in self._open and is_open(removed):
                return removed
        return None

    def _likely_wasted(self, several: Iterable[Mask]) -> float:
        """Returns how many of them will be, to be expected: the sum of their probabilities."""
        return -sum(map(math.expm1, (-hazard for hazard in self._hazards(several))))

    def _hazards(self, several: Iterable[Mask]) -> list[float]:
        # In one go: this is most of what guessing costs.
        unknown, to_hold = self._unknown or (), ~self._holding
        other, more = self._by_other, self._by_single - self._by_other
        return [unknown[each] * other + (each & to_hold).bit_count() * more for each in several]


def _hazard_of(seen: list[int], assumed: float, weight: int) -> float:
    held, broke = seen
    return -math.log1p(-(broke + assumed * weight) / (held + broke + weight))
