"""Minimal rules of many sources, each tested with a stated guarantee: hitting sets of what breaks them.

An antecedent is no rule iff some *falsifier*, an antecedent whose own subset breaks the condition,
contains it. So the minimal rules are the minimal hitting sets of the complements of the falsifiers,
whatever the condition, monotone or not. The smallest hitting set of those that are known is the next
candidate: it is tried alone, then on random supersets together. One that breaks is grown to a maximal
falsifier, and there are fewer candidates; if none does, the candidate is reported. No smaller one inside
it is a rule: each is contained in a falsifier that was seen.

Where sources are redundant there are more falsifiers than anybody can pay for below the first rule. After
a while without one the search goes on from above, as in dualization: from a largest set that contains no
rule found so far; if it holds, it is shrunk to a candidate, else it is a falsifier.
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

SEEDS_IN_VAIN = 8
"""Candidates in a row that come to nothing before the search goes on from the other end."""
FIRST_DRAWS = 8
"""Random subsets that a candidate is tried on before all the others: most that fail do so here."""

STUCK = 4
"""Units in a row that could not be added to a falsifier before it is taken for a maximal one."""

MiningSteps = Generator[Wanted, Verdicts, None]
Growing = Generator[Wanted, Verdicts, Mask]
Bisection = Generator[Wanted, Verdicts, int]
Test = Generator[Wanted, Verdicts, bool]


@dataclass(frozen=True, slots=True)
class Transversal:
    """Minimal rules of one kind that no random superset broke; *proved* is what held on all.

    ``kinds``: so many searches share what a joint statement may err. ``pinned``: how many sources are
    retained with every subset.
    """

    kind: RuleKind
    sampled: Sampled = field(default_factory=Sampled)
    seed: int = 0
    kinds: int = 1
    pinned: int = 0

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Returns a fresh search of ``lattice``."""
        return _Search(self, lattice).run()


class _Search:
    """Speaks of antecedents; the flip to concrete subsets is made where it asks."""

    def __init__(self, miner: Transversal, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Mask, Verdict] = {}
        self.asked = self.tested = 0
        # By antecedent, on how many draws and with what statement; on all subsets where there is none.
        self.found: dict[Mask, tuple[int, str]] = {}
        self.trying: Mask | None = None
        # Candidates with a subset that has no verdict; what no seed from above may leave out alone.
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
            if mask is None or fruitless == SEEDS_IN_VAIN:
                from_below, fruitless = not from_below, 0
        asked_for = f"{most} {self.kind.value} rules were found, as many as max_rules={most} asks for"
        yield Wanted((), self.claims, f"{asked_for}; more may exist")
        return self.claims()

    def start(self) -> None:
        """The two ends: candidates, and what to leave out so that no rule found so far is left."""
        outside = [self.lattice.complement(falsifier) for falsifier in self.falsifiers]
        done = [*self.found, *self.unresolved]
        self.candidates = HittingSets(self.lattice, outside, done)
        self.remainders = HittingSets(self.lattice, done, [*outside, *self.doubtful])

    def tried(self, candidate: Mask) -> MiningSteps:
        """Reports a candidate, or learns what breaks it, or leaves it unresolved."""
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
            # From above, a unit may have seemed to be needed because what is without it has no verdict.
            for larger in [rule for rule in self.found if rule & candidate == candidate]:
                del self.found[larger]
            self.found[candidate] = count, statement
        else:
            # A superset of this candidate has no verdict. Going on around it would give one new
            # candidate for each unit, too many to test, so the candidate stays unresolved.
            self.unresolved.append(candidate)
        self.candidates.block(candidate)
        self.remainders.hit(candidate)

    def drawn(self, candidate: Mask) -> tuple[list[Mask], int, str]:
        """Returns what a candidate is tried on, how many draws that is, and what they guarantee; nothing
        of the kind where it is tried on everything."""
        sampled, sizes = self.miner.sampled, self.miner.sampled.sizes or ()
        draws = Draws(self.kind, self.lattice, candidate, sizes, self.miner.pinned)
        count = sampled.draws(sampled.error(self.tested, self.miner.kinds))
        self.tested += 1
        if draws.everything <= count:
            return list(self.lattice.supersets(candidate)), count, ""
        supersets = list(draws.supersets(count, self.random(candidate)))
        statement = sampled.statement(count, draws)
        return [*supersets, *(draws.neighbours if sampled.neighbours else ())], count, statement

    def ruled_out(self, falsifier: Mask) -> MiningSteps:
        """Looks for no rule any more inside what breaks or has no verdict, and inside what breaks beyond
        that."""
        outside = self.lattice.complement((yield from self.grown(falsifier)))
        self.falsifiers.append(self.lattice.complement(outside))
        self.candidates.hit(outside)
        self.remainders.block(outside)

    def shrunk(self, left_out: Mask) -> MiningSteps:
        """Goes down from a set that contains no rule found so far to a candidate, and tries that."""
        start = self.lattice.complement(left_out)
        yield from self.learn([start])
        if self.seen[start] is Verdict.BREAKS:
            yield from self.ruled_out(start)
            return
        if self.seen[start] is Verdict.UNKNOWN:
            # What is inside it is looked for from below.
            self.doubtful.append(left_out)
            self.remainders.block(left_out)
            return
        candidate, rest = 0, self.lattice.units(start)
        while (yield from self.fails(candidate)):
            # It needs the first unit without which, and without all behind it, it is no rule.
            needed = yield from self.longest(candidate, rest, self.fails)
            candidate |= self.lattice.bit(rest[needed])
            rest = rest[:needed]
        yield from self.tried(candidate)

    def grown(self, falsifier: Mask) -> Growing:
        """Returns a larger falsifier above this one: each time the first unit is sought whose addition
        makes the condition hold again, and left out; until none is left, or several in a row had to
        be."""
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
        """Returns how many of the first of these units can be added so that it stays what is wanted, as
        it is without any and is not with all of them; by bisection. ``start``: the first guess, which is
        doubled as long as it is too low."""
        low, high = 0, len(rest)
        while high - low > 1:
            middle = (low + high) // 2 if start is None else min(start, high - 1)
            if (yield from wanted(mask | self.lattice.mask(rest[:middle]))):
                low, start = middle, start and 2 * middle
            else:
                high, start = middle, None
        return low

    def breaks(self, mask: Mask) -> Test:
        """Returns whether this very subset breaks the condition."""
        yield from self.learn([mask])
        return self.seen[mask] is Verdict.BREAKS

    def fails(self, mask: Mask) -> Test:
        """Returns whether it is no rule by what rules candidates out, or its own subset is not seen to
        hold."""
        if any(mask & falsifier == mask for falsifier in self.falsifiers):
            return True
        yield from self.learn([mask])
        return self.seen[mask] is not Verdict.HOLDS

    def random(self, mask: Mask) -> Random:
        # By the mask: a search that is run again draws what it has drawn before.
        return Random(f"{self.miner.seed} {self.kind.value} {mask}")  # noqa: S311 -- reproducible

    def largest(self, candidate: Mask, among: Iterable[Mask], verdict: Verdict) -> Mask | None:
        """Returns the largest of these subsets under the candidate with this verdict."""
        above = (
            mask for mask in among if mask & candidate == candidate and self.seen.get(mask) is verdict
        )
        return max(above, key=lambda mask: (mask.bit_count(), mask), default=None)

    def learn(self, masks: Iterable[Mask], *, crucial: bool = False) -> MiningSteps:
        """Waits for the verdicts on these."""
        missing = {mask for mask in masks if mask not in self.seen}
        # In counting order: consecutive prompts share what they can.
        in_order = sorted(missing, key=self.lattice.complement)
        ranked = enumerate(in_order, self.asked)
        asks = tuple(Ask(Subset(mask ^ self.flip), rank, crucial=crucial) for rank, mask in ranked)
        self.asked += len(asks)
        while missing:
            verdicts: Verdicts = yield Wanted(asks, self.claims)
            told = {mask ^ self.flip: verdict for mask, verdict in verdicts.items()}
            self.seen.update(told)
            missing.difference_update(told)
            asks = ()
            self.withdraw(mask for mask, verdict in told.items() if verdict is Verdict.BREAKS)

    def withdraw(self, broken: Iterable[Mask]) -> None:
        """Takes back what was reported and is seen to break now; it is a candidate like any other."""
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
