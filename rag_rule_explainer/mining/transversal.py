"""This module finds minimal rules over many sources by hitting sets, and tests each on random subsets.

The *own subset* of an antecedent retains (or omits) exactly its units. A *falsifier* is an antecedent
whose own subset breaks the condition. An antecedent is a rule iff no falsifier contains it, that is, iff
it has a unit outside each falsifier. So the minimal rules are the minimal hitting sets of the complements
of all falsifiers; this is true for any condition. The next *candidate* is the smallest hitting set for
the known falsifiers. Its own subset is probed first, then random supersets. If the condition breaks on a
superset, the superset is grown to a maximal falsifier, which excludes many candidates. If it breaks on
none, the candidate is reported as a rule. The rule is minimal: each smaller antecedent inside it is
contained in a known falsifier.

If several sources say the same, there may be more falsifiers than a search can pay for before the first
rule is found. So after ``SEEDS_WITHOUT_RULE`` candidates without a rule, the search goes on from above:
from a largest set of units that contains no rule found so far. If the condition holds on it, it is shrunk
to a candidate; otherwise it is a falsifier.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from ..lattice import Antecedent, Lattice, Mask, Subset, smallest_first
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .hitting import HittingSets
from .protocol import Ask, Mining, Verdicts, Wanted
from .sampled import Draws, Sampled

SEEDS_WITHOUT_RULE = 8
"""After this number of candidates in a row that are no rules, the search changes its direction: from
below to above, or back."""
FIRST_DRAWS = 8
"""The number of random subsets on which a candidate is tested first. Most candidates that are no rules
already fail on these."""

STUCK = 4
"""A falsifier is regarded as maximal if this number of units in a row cannot be added to it."""

MiningSteps = Generator[Wanted, Verdicts, None]
Growing = Generator[Wanted, Verdicts, Mask]
Bisection = Generator[Wanted, Verdicts, int]
Test = Generator[Wanted, Verdicts, bool]


@dataclass(frozen=True, slots=True)
class Transversal:
    """This miner finds minimal rules of one kind, each tested on random supersets of its antecedent. A
    rule is *proved* only if it was seen to hold on all supersets.

    ``sampled``: the settings of the tests. ``kinds``: the number of searches that share a joint
    guarantee. ``pinned``: the number of sources that are always retained. ``missed``: the chance that a
    subset that breaks the condition is judged to hold.
    """

    kind: RuleKind
    sampled: Sampled = field(default_factory=Sampled)
    seed: int = 0
    kinds: int = 1
    pinned: int = 0
    missed: float = 0.0

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        return _Search(self, lattice).run()


class _Search:
    """A _Search is one run of the miner. It works with the masks of antecedents. Only its requests for
    verdicts use masks of retained sources: XOR with ``flip`` turns an antecedent into such a mask."""

    def __init__(self, miner: Transversal, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Mask, Verdict] = {}
        self.asked = self.tested = 0
        # For each antecedent that was found to be a rule, the number of draws and the guarantee in words.
        # The guarantee is empty if the rule was tested on all subsets.
        self.found: dict[Mask, tuple[int, str]] = {}
        self.trying: Mask | None = None
        # ``unresolved``: candidates with a superset whose verdict is UNKNOWN. ``doubtful``: sets of units
        # that the search from above omits only once, because the verdict without them is UNKNOWN.
        self.unresolved: list[Mask] = []
        self.doubtful: list[Mask] = []
        self.falsifiers: list[Mask] = []

    def run(self) -> Mining:
        full, most = self.lattice.full, self.miner.sampled.max_rules
        yield from self.learn([full])
        if self.seen[full] is not Verdict.HOLDS:
            return ()
        self.start()
        from_below, fruitless = True, 0
        while len(self.found) < most:
            found = len(self.found)
            mask = (self.candidates if from_below else self.remainders).smallest()
            if mask is not None:
                yield from self.tried(mask) if from_below else self.shrunk(mask)
            elif from_below or not self.doubtful:
                return self.claims()
            fruitless = 0 if len(self.found) > found else fruitless + 1
            if mask is None or fruitless == SEEDS_WITHOUT_RULE:
                from_below, fruitless = not from_below, 0
        asked_for = f"{most} {self.kind.value} rules were found, as many as max_rules={most} asks for"
        yield Wanted((), self.claims, f"{asked_for}; more may exist")
        return self.claims()

    def start(self) -> None:
        """Prepares both directions of the search. For the search from below, ``candidates`` has sets that
        may be rules. For the search from above, ``remainders`` has sets of units whose removal leaves no
        known rule."""
        outside = [self.lattice.complement(falsifier) for falsifier in self.falsifiers]
        done = [*self.found, *self.unresolved]
        self.candidates = HittingSets(self.lattice, outside, done)
        self.remainders = HittingSets(self.lattice, done, [*outside, *self.doubtful])

    def tried(self, candidate: Mask) -> MiningSteps:
        """Tests a candidate. The result is one of three: it is recorded as a rule; it is excluded,
        because an antecedent that contains it breaks the condition (a falsifier); or it is recorded as
        unresolved, because a verdict is UNKNOWN."""
        known = self.largest(candidate, self.seen, Verdict.BREAKS)
        if known is None:
            yield from self.learn([candidate], crucial=True)
            known = None if self.seen[candidate] is Verdict.HOLDS else candidate
        if known is not None:
            yield from self.ruled_out(known)
            return
        self.trying = candidate
        supersets, count, statement = self.drawn(candidate)
        broken, ahead = None, 0
        for upto in (FIRST_DRAWS, len(supersets)):
            if broken is None:
                yield from self.learn(supersets[ahead:upto])
                broken, ahead = self.largest(candidate, supersets[ahead:upto], Verdict.BREAKS), upto
        self.trying = None
        unknown = self.largest(candidate, supersets, Verdict.UNKNOWN)
        if broken is not None:
            yield from self.ruled_out(broken)
            return
        if unknown is not None and not statement:
            yield from self.ruled_out(unknown)
            return
        if unknown is None:
            # The search from above keeps a unit if the verdict without it is UNKNOWN. So it may have
            # found a larger rule that contains this one. That rule is not minimal, so it is dropped.
            for larger in [rule for rule in self.found if rule & candidate == candidate]:
                del self.found[larger]
            self.found[candidate] = count, statement
        else:
            # If an UNKNOWN superset were treated as a falsifier, it would lead to too many candidates:
            # one for each unit outside it.
            self.unresolved.append(candidate)
        self.candidates.block(candidate)
        self.remainders.hit(candidate)

    def drawn(self, candidate: Mask) -> tuple[list[Mask], int, str]:
        """Returns the supersets on which to test a candidate, the number of draws, and the guarantee in
        words. The guarantee is empty if these are all supersets."""
        sampled = self.miner.sampled
        draws = Draws(self.kind, self.lattice, candidate, sampled.sizes or (), self.miner.pinned)
        count = sampled.draws(sampled.error(self.tested, self.miner.kinds), self.miner.missed)
        self.tested += 1
        if draws.everything <= count:
            return list(self.lattice.supersets(candidate)), count, ""
        supersets = list(draws.supersets(count, self.random(candidate)))
        statement = sampled.statement(count, draws)
        return [*supersets, *(draws.neighbours if sampled.neighbours else ())], count, statement

    def ruled_out(self, falsifier: Mask) -> MiningSteps:
        """Excludes a falsifier and all antecedents that it contains, because they are no rules. First
        grows it, so that it excludes more. An antecedent with the verdict UNKNOWN is excluded in the same
        way, because it cannot be tested."""
        outside = self.lattice.complement((yield from self.grown(falsifier)))
        self.falsifiers.append(self.lattice.complement(outside))
        self.candidates.hit(outside)
        self.remainders.block(outside)

    def shrunk(self, left_out: Mask) -> MiningSteps:
        """Continues the search from above, with a set of units that contains no known rule. If the
        condition holds on it, shrinks it to a candidate and tests that. ``left_out``: all other units."""
        start = self.lattice.complement(left_out)
        yield from self.learn([start])
        if self.seen[start] is Verdict.BREAKS:
            yield from self.ruled_out(start)
            return
        if self.seen[start] is Verdict.UNKNOWN:
            # Its verdict is UNKNOWN, so it is not shrunk. The search from below can find its rules.
            self.doubtful.append(left_out)
            self.remainders.block(left_out)
            return
        candidate, rest = 0, self.lattice.units(start)
        while (yield from self.fails(candidate)):
            # If enough of the first units of ``rest`` are added to the candidate, it no longer fails. The
            # last of these units is necessary for that, so it is kept; the units after it are not.
            needed = yield from self.longest(candidate, rest, self.fails)
            candidate |= self.lattice.bit(rest[needed])
            rest = rest[:needed]
        yield from self.tried(candidate)

    def grown(self, falsifier: Mask) -> Growing:
        """Returns a falsifier that contains this one and as many further units as this search can add. A
        step adds units up to the first one with which the condition holds again, and leaves this unit
        out. The search ends when each unit was tried, or ``STUCK`` steps in a row could add no unit."""
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
        """Returns True iff the condition breaks if exactly these sources are retained (or omitted)."""
        yield from self.learn([mask])
        return self.seen[mask] is Verdict.BREAKS

    def fails(self, mask: Mask) -> Test:
        """Returns True iff an antecedent is already known to be no rule: a known falsifier contains it,
        or the condition does not hold on its own subset."""
        if any(mask & falsifier == mask for falsifier in self.falsifiers):
            return True
        yield from self.learn([mask])
        return self.seen[mask] is not Verdict.HOLDS

    def random(self, mask: Mask) -> Random:
        # The seed does not depend on earlier draws. So if the search runs once more, it draws the same
        # subsets for the same mask, and a store has their answers already.
        return Random(f"{self.miner.seed} {self.kind.value} {mask}")  # noqa: S311 -- the draws must be reproducible, not secret

    def largest(self, candidate: Mask, among: Iterable[Mask], verdict: Verdict) -> Mask | None:
        """Returns the largest of the masks in ``among`` that contains the candidate and has this verdict;
        None if there is none."""
        above = (
            mask for mask in among if mask & candidate == candidate and self.seen.get(mask) is verdict
        )
        return max(above, key=lambda mask: (mask.bit_count(), mask), default=None)

    def learn(self, masks: Iterable[Mask], *, crucial: bool = False) -> MiningSteps:
        """Requests verdicts on the masks that have none yet, and waits until all masks have one."""
        missing = {mask for mask in masks if mask not in self.seen}
        # In this order, consecutive prompts have a long common prefix, which providers may cache.
        in_order = sorted(missing, key=self.lattice.complement)
        ranked = enumerate(in_order, self.asked)
        asks = tuple(Ask(Subset(mask ^ self.flip), rank, crucial=crucial) for rank, mask in ranked)
        self.asked += len(asks)
        while missing:
            verdicts: Verdicts = yield Wanted(asks, self.claims)
            new = {mask ^ self.flip: verdict for mask, verdict in verdicts.items()}
            self.seen.update(new)
            missing.difference_update(new)
            asks = ()
            self.withdraw(mask for mask, verdict in new.items() if verdict is Verdict.BREAKS)

    def withdraw(self, broken: Iterable[Mask]) -> None:
        """Removes earlier found rules that a new verdict breaks. The search then continues from all that
        is known."""
        broken = list(broken)
        fallen = [rule for rule in self.found if any(mask & rule == rule for mask in broken)]
        for rule in fallen:
            del self.found[rule]
        if fallen:
            self.start()

    def claims(self) -> tuple[Claim, ...]:
        claims = [self.claim(rule) for rule in sorted(self.found, key=smallest_first)]
        if self.trying is not None and self.largest(self.trying, self.seen, Verdict.BREAKS) is None:
            claims.append(Claim(self.kind, Antecedent(self.trying), "unverified"))
        return tuple(claims)

    def claim(self, rule: Mask) -> Claim:
        draws, statement = self.found[rule]
        above = 1 << (self.lattice.size - rule.bit_count())
        if above <= len(self.seen) and all(
            self.seen.get(mask) is Verdict.HOLDS for mask in self.lattice.supersets(rule)
        ):
            return Claim(self.kind, Antecedent(rule), "proved")
        return Claim(self.kind, Antecedent(rule), "tested", draws, statement)
