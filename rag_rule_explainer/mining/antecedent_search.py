"""This module holds the common part of the searches for minimal rules among many sources: the data of a
search, and the steps by which it excludes antecedents.

The *own subset* of an antecedent retains (or omits) exactly its units. A *falsifier* is an antecedent
whose own subset breaks the condition. An antecedent is a rule iff no falsifier contains it, that is, iff
it has a unit outside each falsifier. So the minimal rules are the minimal hitting sets of the complements
of all falsifiers; this is true for any condition.

A search goes in two directions. *From below*, the next candidate is the smallest hitting set for the
known falsifiers. *From above*, it begins with a largest set of units that contains no rule found so far:
if the condition holds on it, it is shrunk to a candidate; otherwise it is a falsifier. Both directions
end at the same time: if each antecedent contains a known rule or is contained in a known falsifier.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from ..lattice import Antecedent, Lattice, Mask, Subset, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .hitting import HittingSets
from .protocol import Ask, Verdicts, Wanted
from .sampled import Sampled

SEEDS_WITHOUT_RULE = 8
"""After this number of candidates in a row that are no rules, the search changes its direction: from
below to above, or back."""
STUCK = 4
"""A falsifier is no longer enlarged after this number of units in a row could not be added to it. (A
falsifier is an antecedent whose own subset breaks the condition.)"""

MiningSteps = Generator[Wanted, Verdicts, None]
Growing = Generator[Wanted, Verdicts, Mask]
Bisection = Generator[Wanted, Verdicts, int]
Test = Generator[Wanted, Verdicts, bool]
CandidateTest = Callable[[Mask], MiningSteps]
"""A function that tests a candidate: a set of units that may be a rule."""
Boundary = Callable[[Mask, Sequence[int]], Bisection]
"""A function that gets an antecedent that is no rule, and a list of units. It returns how many units,
counted from the start of the list, can be added to the antecedent so that it still is no rule."""


@dataclass(frozen=True, slots=True)
class TestingMiner:
    """A ``TestingMiner`` has the fields of a miner that tests its rules on random subsets.

    ``sampled``: the settings of the tests. ``kinds``: the number of searches (one for each kind of rule)
    that share one guarantee, which is about all their rules together. ``pinned``: the number of sources
    that are always retained. ``missed``: the chance (0 to 1) that a subset gets the verdict HOLDS
    although it breaks the condition.
    """

    kind: RuleKind
    sampled: Sampled = field(default_factory=Sampled)
    seed: int = 0
    kinds: int = 1
    pinned: int = 0
    missed: float = 0.0


class RandomTest(NamedTuple):
    """A ``RandomTest`` is the result of testing a rule on random subsets. ``draws``: the number of random
    subsets on which the rule held; 0 if it was not tested yet. ``statement``: the guarantee in words;
    empty if there is none yet, or if the rule was tested on all subsets."""

    draws: int
    statement: str


class AntecedentSearch:
    """An ``AntecedentSearch`` holds the verdicts and rules that one run of a miner has found so far. The
    masks in it are antecedents. Only the requests for verdicts use masks of retained sources: XOR with
    ``flip`` turns an antecedent into such a mask.

    ``seen``: the verdict on the own subset of each antecedent that was probed. ``found``: the antecedents
    that were found to be rules. ``unresolved``: candidates that are contained in an antecedent with the
    verdict UNKNOWN. ``doubtful``: sets of units that the search from above does not remove again, because
    the verdict on the antecedent of all other units is UNKNOWN.
    """

    def __init__(
        self, kind: RuleKind, lattice: Lattice, seed: int, claims: Callable[[], tuple[Claim, ...]]
    ) -> None:
        self.kind, self.lattice, self.seed = kind, lattice, seed
        self.flip = kind.flip(lattice)
        self.current_claims = claims
        self.seen: dict[Mask, Verdict] = {}
        self.asked = 0
        self.found: dict[Mask, RandomTest] = {}
        self.unresolved: list[Mask] = []
        self.doubtful: list[Mask] = []
        self.falsifiers: list[Mask] = []

    def start(self) -> None:
        """Prepares both directions of the search. ``candidates`` gets the sets of units that may be
        rules; the search from below tests the smallest one. ``remainders`` gets the sets whose removal
        leaves no known rule; the search from above tests all units except the smallest such set."""
        outside = [self.lattice.complement(falsifier) for falsifier in self.falsifiers]
        done = [*self.found, *self.unresolved]
        self.candidates = HittingSets(self.lattice, outside, done)
        self.remainders = HittingSets(self.lattice, done, [*outside, *self.doubtful])

    def rules_sought(
        self,
        from_below: CandidateTest,
        from_above: CandidateTest,
        is_enough: Callable[[], bool],
        *,
        begin_below: bool,
    ) -> Test:
        """Searches in both directions, by turns. Returns True when there is no further candidate, and
        False if ``is_enough()`` became true before. ``from_below``: tests a set of ``candidates``.
        ``from_above``: gets one of ``remainders``, and tests all other units. ``begin_below``: True to
        begin with ``from_below``."""
        below, fruitless = begin_below, 0
        while not is_enough():
            found = len(self.found)
            mask = (self.candidates if below else self.remainders).smallest()
            if mask is not None:
                yield from from_below(mask) if below else from_above(mask)
            elif below or not self.doubtful:
                return True
            fruitless = 0 if len(self.found) > found else fruitless + 1
            if mask is None or fruitless == SEEDS_WITHOUT_RULE:
                below, fruitless = not below, 0
        return False

    def record(self, candidate: Mask, test: RandomTest) -> None:
        """Records that a candidate was found to be a rule. ``test``: the result of its test."""
        # The search from above keeps a unit if the verdict without it is UNKNOWN. So it may have found a
        # larger rule that contains the new one. The larger rule is dropped.
        for larger in [rule for rule in self.found if rule & candidate == candidate]:
            del self.found[larger]
        self.found[candidate] = test
        self.set_aside(candidate)

    def set_aside(self, candidate: Mask) -> None:
        """Excludes a candidate, and the antecedents that contain it, from both directions of the
        search."""
        self.candidates.block(candidate)
        self.remainders.hit(candidate)

    def ruled_out(self, falsifier: Mask) -> MiningSteps:
        """Excludes all antecedents that a falsifier contains, because they are no rules.

        A falsifier is an antecedent whose own subset breaks the condition. It is first enlarged as far
        as possible, so that more antecedents are excluded. An antecedent with the verdict UNKNOWN is
        excluded in the same way, because it cannot be tested.
        """
        self.exclude((yield from self.grown(falsifier)))

    def exclude(self, falsifier: Mask) -> None:
        """Makes both directions of the search skip a falsifier (an antecedent whose own subset breaks
        the condition) and all antecedents inside it, because none of them is a rule."""
        outside = self.lattice.complement(falsifier)
        self.falsifiers.append(falsifier)
        self.candidates.hit(outside)
        self.remainders.block(outside)

    def leave_in_doubt(self, left_out: Mask) -> None:
        """Records that the verdict on all units except ``left_out`` is UNKNOWN. The search from above
        does not test this set again, so only the search from below finds rules in it."""
        self.doubtful.append(left_out)
        self.remainders.block(left_out)

    def shrunk(self, units: Sequence[int], boundary: Boundary) -> Growing:
        """Returns an antecedent among these units on whose own subset the condition holds. Without any
        one of its units, the antecedent would be no rule. The condition must hold on the own subset of
        all ``units``."""
        candidate, rest = 0, units
        while (yield from self.fails(candidate)):
            # If enough of the first units of ``rest`` are added to the candidate, the condition holds.
            # The last of these units is necessary for that, so it is kept; the units after it are not
            # needed.
            needed = yield from boundary(candidate, rest)
            candidate |= self.lattice.bit(rest[needed])
            rest = rest[:needed]
        return candidate

    def grown(self, falsifier: Mask) -> Growing:
        """Returns a falsifier (an antecedent whose own subset breaks the condition) that contains
        ``falsifier``, and as many other units as this search can add. A step adds units up to the first
        one with which the condition holds again, and leaves this unit out. The search ends when each unit
        was tried, or ``STUCK`` steps in a row could add no unit."""
        rest = list(self.lattice.units(self.lattice.complement(falsifier)))
        self.random(falsifier).shuffle(rest)
        stuck = 0
        while rest and stuck < STUCK:
            everything = falsifier | self.lattice.mask(rest)
            yield from self.learn([everything], crucial=True)
            if self.seen[everything] is Verdict.BREAKS:
                return everything
            added = yield from self.longest(falsifier, rest, self.breaks, 1 if stuck else None)
            stuck = 0 if added else stuck + 1
            falsifier |= self.lattice.mask(rest[:added])
            rest = rest[added + 1 :]
        return falsifier

    def longest(
        self, mask: Mask, rest: Sequence[int], wanted: Callable[[Mask], Test], start: int | None = None
    ) -> Bisection:
        """Returns how many units of ``rest``, counted from its start, can be added to ``mask`` so that
        ``wanted`` stays true. Finds the number by bisection.

        ``wanted`` must be true without any of the units and false with all of them. ``start``: the number
        to try first, which is doubled as long as it is too low; None to begin in the middle.
        """
        low, high = 0, len(rest)
        while high - low > 1:
            middle = (low + high) // 2 if start is None else min(start, high - 1)
            if (yield from wanted(mask | self.lattice.mask(rest[:middle]))):
                low, start = middle, start and 2 * middle
            else:
                high, start = middle, None
        return low

    def breaks(self, mask: Mask) -> Test:
        """Returns True iff the condition breaks on the own subset of the antecedent ``mask``."""
        yield from self.learn([mask])
        return self.seen[mask] is Verdict.BREAKS

    def fails(self, mask: Mask) -> Test:
        """Returns True iff the antecedent cannot be a rule: a known falsifier contains it, or its own
        subset does not have the verdict HOLDS. The own subset is probed only if no known falsifier
        contains the antecedent."""
        if self.is_falsified(mask):
            return True
        yield from self.learn([mask])
        return self.seen[mask] is not Verdict.HOLDS

    def is_falsified(self, mask: Mask) -> bool:
        """Returns True iff a known falsifier (an antecedent whose own subset breaks the condition)
        contains the antecedent."""
        return any(mask & falsifier == mask for falsifier in self.falsifiers)

    def random(self, *named: object) -> Random:
        """Returns a random generator for ``named``, such as an antecedent. The same ``named`` gives the
        same draws."""
        # The seed does not depend on earlier draws. So if the search runs once more, it draws the same
        # subsets for the same mask, and a store already has the answers for them.
        return Random(" ".join(map(str, (self.seed, self.kind.value, *named))))  # noqa: S311 -- the draws must be reproducible, not secret

    def largest(self, candidate: Mask, among: Iterable[Mask], verdict: Verdict) -> Mask | None:
        """Returns the mask with the most units among those in ``among`` that contain the candidate and
        have this verdict; None if there is none."""
        above = (
            mask for mask in among if mask & candidate == candidate and self.seen.get(mask) is verdict
        )
        return max(above, key=lambda mask: (mask.bit_count(), mask), default=None)

    def learn(self, masks: Iterable[Mask], *, crucial: bool = False) -> MiningSteps:
        """Requests verdicts on the masks that have none yet, and waits until all have one. ``crucial``:
        True if a wrong verdict would do much harm, so that it is voted on if there are votes."""
        missing = {mask for mask in masks if mask not in self.seen}
        # Sorting gives consecutive prompts a long common prefix, which providers may cache.
        in_order = sorted(missing, key=self.lattice.complement)
        ranked = enumerate(in_order, self.asked)
        asks = tuple(Ask(Subset(mask ^ self.flip), rank, crucial=crucial) for rank, mask in ranked)
        self.asked += len(asks)
        while missing:
            verdicts: Verdicts = yield Wanted(asks, self.current_claims)
            new = {mask ^ self.flip: verdict for mask, verdict in verdicts.items()}
            self.seen.update(new)
            missing.difference_update(new)
            asks = ()
            self.withdraw(mask for mask, verdict in new.items() if verdict is Verdict.BREAKS)

    def withdraw(self, broken: Iterable[Mask]) -> None:
        """Removes the found rules that are contained in one of the ``broken`` antecedents, on whose
        own subsets the condition was just seen to break. Then continues the search with all known
        verdicts."""
        broken = list(broken)
        fallen = [rule for rule in self.found if any(mask & rule == rule for mask in broken)]
        for rule in fallen:
            del self.found[rule]
        if fallen:
            self.start()

    def claims(self) -> tuple[Claim, ...]:
        """Returns the claims of the rules that were found, the smallest first."""
        return tuple(self._claim(rule) for rule in sorted(self.found, key=smallest_first))

    def _claim(self, rule: Mask) -> Claim:
        draws, statement = self.found[rule]
        above = 1 << (self.lattice.size - rule.bit_count())
        if above <= len(self.seen) and all(
            self.seen.get(mask) is Verdict.HOLDS for mask in self.lattice.supersets(rule)
        ):
            return Claim(self.kind, Antecedent(rule), "proved")
        status = "tested" if draws else "unverified"
        return Claim(self.kind, Antecedent(rule), status, draws, statement)


def enough_found(most: int, kind: RuleKind) -> str:
    """Returns, in words, the reason why a search stops that has found ``most`` rules of this kind, the
    maximum that the settings allow."""
    asked_for = f"{most} {kind.value} rules were found, as many as max_rules={most} asks for"
    return f"{asked_for}; more may exist"
