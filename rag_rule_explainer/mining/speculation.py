"""This module guesses which subsets a search will request later. If fewer probes run than the concurrency
allows, these subsets are probed in advance.

The guesses are for searches that begin with the largest antecedents, such as ``Mono``. The *ancestors* of
an antecedent are the antecedents that contain it. These searches request an antecedent iff none of its
ancestors breaks the condition. So a guess is wasted iff an ancestor that has no verdict yet breaks it.
The probability of this is computed from the number of such ancestors, and from the share of earlier
verdicts that were BREAKS.
"""

import heapq
import math
from array import array
from collections.abc import Callable, Iterable

from ..lattice import Lattice, Mask, Subset
from ..rules import RuleKind
from ..verdicts import Verdict

MOST_UNITS = 14
"""The maximum number of sources (or groups of tied ones) for which guesses are made. With more sources, a
search nearly always has enough requests for all workers, so guesses are not needed."""

_SINGLE_BREAKS, _SINGLES_WEIGH = 0.3, 5
_OTHER_BREAKS, _OTHERS_WEIGH = 0.05, 20
"""The assumptions from which the probabilities start. ``_SINGLE_BREAKS``: the probability that the
removal of a single unit breaks the condition. ``_OTHER_BREAKS``: the probability that the removal of
several units breaks it, if no removal of only some of these units does. ``_SINGLES_WEIGH`` and
``_OTHERS_WEIGH``: each assumption counts as much as this number of verdicts. A unit is one source, or
several tied sources."""
_SLACK = 2
"""Usually, the expected waste must stay below ``share``, the largest share of probes that may be wasted.
For some guesses, the expected waste may be larger by this factor. Such a guess removes several units, and
the condition is known to hold if any one of them is removed alone. The search will probably request this
subset soon, so a higher risk is accepted."""


class Speculation:
    """A Speculation chooses subsets that one search may probe before it is known whether it will need
    them.

    ``share``: the largest share of all probes that may be wasted. A probe is wasted if it was issued as a
    guess and is later known to be unneeded. A guess is issued only if the known and the expected waste
    stay below this share. The actual waste may exceed it later, but probably not by much.
    """

    def __init__(self, kind: RuleKind, lattice: Lattice, share: float) -> None:
        self._flip, self._full = kind.flip(lattice), lattice.full
        self._share = share
        possible = lattice.size <= MOST_UNITS
        # In this class, a mask is a set of units that are removed from the largest antecedent, except
        # where the name of the variable says otherwise.
        self._candidates = list(range(1, 1 << lattice.size)) if possible else []
        self._unknown = (
            array("i", [(1 << mask.bit_count()) - 2 for mask in lattice.masks()]) if possible else None
        )
        self._holding = 0
        self._minimal_breaks: list[Mask] = []
        self._singles = [0, 0]
        self._others = [0, 0]
        # The hazard of a guess is the negative logarithm of the probability that the guess is not wasted.
        # Each larger antecedent without a verdict adds one amount to it: ``_by_single`` if it leaves out
        # one unit, and else ``_by_other``. The two are read often and change only with a verdict.
        self._by_single = _hazard_of(self._singles, _SINGLE_BREAKS, _SINGLES_WEIGH)
        self._by_other = _hazard_of(self._others, _OTHER_BREAKS, _OTHERS_WEIGH)
        self._open: set[Mask] = set()
        self._wasted: set[Mask] = set()
        self._best: list[tuple[float, Mask]] = []
        self._news, self._patience = 0, max(1, (1 << lattice.size) >> 8)

    @property
    def wasted(self) -> frozenset[Subset]:
        """Returns the guesses that were issued and that the search will certainly not request."""
        return frozenset(map(self._without, self._wasted))

    @property
    def unneeded(self) -> frozenset[Subset]:
        """Returns the guesses that were issued and that the search has not requested so far: the guesses
        in ``wasted``, and guesses that it may still request."""
        return frozenset(map(self._without, self._wasted | self._open))

    def __contains__(self, mask: Subset) -> bool:
        """Returns True iff the subset was issued as a guess and the search has not requested it so
        far."""
        removed = self._removed(mask)
        return removed in self._open or removed in self._wasted

    def next(self, issued: int, is_taken: Callable[[Subset], bool]) -> Subset | None:
        """Returns the guess that is the least likely to be wasted; None if even this one is too risky.
        ``issued``: the number of probes so far; the more there are, the more guesses may be wasted.
        ``is_taken``: a function that returns True for a mask that must not be guessed, because it is
        already probed or requested."""
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
        """Records that the search has requested a subset that was issued as a guess. ``mask``: the
        subset."""
        removed = self._removed(mask)
        self._open.discard(removed)
        self._wasted.discard(removed)

    def learn(self, mask: Subset, verdict: Verdict) -> None:
        """Records a verdict, and updates the probabilities by it. The subset may be a guess, or one that
        the search has requested."""
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
        """Returns the units that the antecedent of this subset lacks. The antecedent is the set of units
        that the subset retains (for omission rules: omits)."""
        return self._full ^ mask ^ self._flip

    def _without(self, removed: Mask) -> Subset:
        return Subset(self._full ^ removed ^ self._flip)

    def _forget_unknown(self, removed: Mask) -> None:
        """Records that the antecedent without the units ``removed`` has a verdict.

        For each smaller antecedent inside this one, the number of its ancestors (antecedents that
        contain it) without a verdict becomes smaller by one.
        """
        unknown, rest = self._unknown, self._full ^ removed
        more = rest
        while unknown is not None and more:
            unknown[removed | more] -= 1
            more = (more - 1) & rest

    def _is_ruled_out(self, removed: Mask) -> bool:
        for broken in self._minimal_breaks:  # noqa: SIM110 -- any() with a generator is slower
            if removed & broken == broken:
                return True
        return False

    def _safest(self, is_taken: Callable[[Subset], bool]) -> Mask | None:
        def is_open(removed: Mask) -> bool:
            return not is_taken(self._without(removed)) and not self._is_ruled_out(removed)

        if self._news >= self._patience or not self._best:
            self._news = 0
            # A mask that is already probed, requested or ruled out can never become a guess again. So
            # it is removed from the list and not checked again.
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
        """Returns how many of these guesses will probably be wasted: the sum of the probabilities that
        each guess is wasted."""
        return -sum(map(math.expm1, (-hazard for hazard in self._hazards(guesses))))

    def _hazards(self, guesses: Iterable[Mask]) -> list[float]:
        # Most of the time of guessing is spent here, so all guesses are handled by one comprehension.
        unknown, to_hold = self._unknown or (), ~self._holding
        other, more = self._by_other, self._by_single - self._by_other
        return [unknown[each] * other + (each & to_hold).bit_count() * more for each in guesses]


def _hazard_of(seen: list[int], assumed: float, weight: int) -> float:
    held, broke = seen
    return -math.log1p(-(broke + assumed * weight) / (held + broke + weight))
