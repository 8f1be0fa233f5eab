"""This module guesses keys that a top-down search will need, for slots that would otherwise be idle.

Validity is closed upwards: an antecedent is needed iff none of its ancestors breaks. So a guess is wasted
iff one of its ancestors without a verdict turns out to break. The probability of that follows from the
number of these ancestors, and from the share of the others that broke.
"""

import heapq
import math
from array import array
from collections.abc import Callable, Iterable

from ..lattice import Lattice, Mask, Subset
from ..rules import RuleKind
from ..verdicts import Verdict

MOST_UNITS = 14
"""The largest number of units for guesses: with more, many candidates are ready and hardly any slot is
idle."""

_SINGLE_BREAKS, _SINGLES_WEIGH = 0.3, 5
_OTHER_BREAKS, _OTHERS_WEIGH = 0.05, 20
"""The prior probability that the removal of one source, or of several without a breaking part, breaks the
condition; and the number of observations that this prior weighs."""
_SLACK = 2
"""The factor by which the expected waste may exceed ``share``, once a guess contains only single sources
whose removal is known to hold: its waste is found out soon."""


class Speculation:
    """A Speculation chooses masks that one search may probe before it is known whether they are needed.

    ``share``: the share of all issued probes that may be wasted, that is, issued as a guess and then
    known to be unneeded. A guess is not issued if its waste would exceed the share, given the waste that
    is known. Waste that is found out later adds to that, and is likely to be small.
    """

    def __init__(self, kind: RuleKind, lattice: Lattice, share: float) -> None:
        self._flip, self._full = kind.flip(lattice), lattice.full
        self._share = share
        possible = lattice.size <= MOST_UNITS
        # All masks below are sets of removed units.
        self._candidates = list(range(1, 1 << lattice.size)) if possible else []
        self._unknown = (
            array("i", [(1 << mask.bit_count()) - 2 for mask in lattice.masks()]) if possible else None
        )
        self._holding = 0
        self._minimal_breaks: list[Mask] = []
        self._singles = [0, 0]
        self._others = [0, 0]
        # The hazards that one unknown ancestor adds; kept, since they are read often and change with each
        # verdict.
        self._by_single = _hazard_of(self._singles, _SINGLE_BREAKS, _SINGLES_WEIGH)
        self._by_other = _hazard_of(self._others, _OTHER_BREAKS, _OTHERS_WEIGH)
        self._open: set[Mask] = set()
        self._wasted: set[Mask] = set()
        self._best: list[tuple[float, Mask]] = []
        self._news, self._patience = 0, max(1, (1 << lattice.size) >> 8)

    @property
    def wasted(self) -> frozenset[Subset]:
        """The issued masks that are known to be unneeded."""
        return frozenset(map(self._without, self._wasted))

    @property
    def unneeded(self) -> frozenset[Subset]:
        """The issued masks that are not needed so far."""
        return frozenset(map(self._without, self._wasted | self._open))

    def __contains__(self, mask: Subset) -> bool:
        """Returns True iff the mask was issued and is not needed so far."""
        removed = self._removed(mask)
        return removed in self._open or removed in self._wasted

    def next(self, issued: int, is_taken: Callable[[Subset], bool]) -> Subset | None:
        """Returns the safest guess, or None if it is too risky. ``issued``: the number of probes so
        far."""
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
        """Records that the search has requested a guessed mask."""
        removed = self._removed(mask)
        self._open.discard(removed)
        self._wasted.discard(removed)

    def learn(self, mask: Subset, verdict: Verdict) -> None:
        """Records a verdict, on a guess or on a requested mask."""
        removed = self._removed(mask)
        if self._unknown is None or not removed or verdict is Verdict.UNKNOWN:
            return
        self._news += 1
        is_single = removed & (removed - 1) == 0
        seen = self._singles if is_single else self._others
        if verdict is Verdict.HOLDS:
            seen[0] += 1
            self._holding |= removed if is_single else 0
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
        """Returns the units that a subset removes from the largest one."""
        return self._full ^ mask ^ self._flip

    def _without(self, removed: Mask) -> Subset:
        return Subset(self._full ^ removed ^ self._flip)

    def _forget_unknown(self, removed: Mask) -> None:
        """Counts one unknown ancestor less for every mask below."""
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
            # A mask that is taken or ruled out stays so, and is dropped for good.
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

    def _likely_wasted(self, guesses: Iterable[Mask]) -> float:
        """Returns the expected number of wasted ones among these: the sum of their probabilities."""
        return -sum(map(math.expm1, (-hazard for hazard in self._hazards(guesses))))

    def _hazards(self, guesses: Iterable[Mask]) -> list[float]:
        # One comprehension for all, since this is most of the cost of guessing.
        unknown, to_hold = self._unknown or (), ~self._holding
        other, more = self._by_other, self._by_single - self._by_other
        return [unknown[each] * other + (each & to_hold).bit_count() * more for each in guesses]


def _hazard_of(seen: list[int], assumed: float, weight: int) -> float:
    held, broke = seen
    return -math.log1p(-(broke + assumed * weight) / (held + broke + weight))
