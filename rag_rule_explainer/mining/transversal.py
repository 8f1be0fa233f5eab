"""This module finds minimal rules of many sources, each tested with a stated guarantee, by hitting sets.

An antecedent is no rule iff a *falsifier* contains it: an antecedent whose own subset breaks the
condition. So the minimal rules are the minimal hitting sets of the falsifiers' complements, for any
condition, monotone or not. The next candidate is the smallest hitting set for the known falsifiers: its
own subset is probed first, then random supersets together. A superset that breaks is grown to a maximal
falsifier, which leaves fewer candidates. If none breaks, the candidate is reported. No smaller antecedent
inside it is a rule, since a falsifier that was seen contains each.

Redundant sources make more falsifiers below the first rule than a search can pay for. After
``SEEDS_WITHOUT_RULE`` candidates without a rule, the search therefore goes on from above, as in
dualization: from a largest set that contains no rule found so far. If it holds, it is shrunk to a
candidate; else it is a falsifier.
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
"""The number of candidates in a row without a rule before the search goes on from the other end."""
FIRST_DRAWS = 8
"""The number of random subsets that a candidate is tried on first: most candidates that fail do so
here."""

STUCK = 4
"""The number of units in a row that cannot be added to a falsifier before it counts as maximal."""

MiningSteps = Generator[Wanted, Verdicts, None]
Growing = Generator[Wanted, Verdicts, Mask]
Bisection = Generator[Wanted, Verdicts, int]
Test = Generator[Wanted, Verdicts, bool]


@dataclass(frozen=True, slots=True)
class Transversal:
    """This miner finds minimal rules of one kind that no random superset broke; a rule is *proved* if it
    held on all.

    ``kinds``: the number of searches that share the admissible error of a joint guarantee. ``pinned``:
    the number of sources that are retained in every subset.
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
    """A _Search works on antecedents; only its asks are flipped to concrete subsets."""

    def __init__(self, miner: Transversal, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Mask, Verdict] = {}
        self.asked = self.tested = 0
        # The number of draws and the guarantee of each rule, by antecedent; no guarantee: it was tried on
        # all subsets.
        self.found: dict[Mask, tuple[int, str]] = {}
        self.trying: Mask | None = None
        # The candidates with an UNKNOWN superset; and the sets of units whose omission was UNKNOWN, which
        # must not be the whole omission of a seed from above.
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
        """Sets up both ends: candidates from below, and the units to omit from above so that no known
        rule remains."""
        outside = [self.lattice.complement(falsifier) for falsifier in self.falsifiers]
        done = [*self.found, *self.unresolved]
        self.candidates = HittingSets(self.lattice, outside, done)
        self.remainders = HittingSets(self.lattice, done, [*outside, *self.doubtful])

    def tried(self, candidate: Mask) -> MiningSteps:
        """Reports a candidate as a rule, or learns a falsifier of it, or leaves it unresolved."""
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
            # From above, a unit may have seemed needed because the subset without it is UNKNOWN.
            for larger in [rule for rule in self.found if rule & candidate == candidate]:
                del self.found[larger]
            self.found[candidate] = count, statement
        else:
            # A superset of this candidate is UNKNOWN. Excluding it would make a new candidate for each
            # unit, too many to test, so the candidate stays unresolved.
            self.unresolved.append(candidate)
        self.candidates.block(candidate)
        self.remainders.hit(candidate)

    def drawn(self, candidate: Mask) -> tuple[list[Mask], int, str]:
        """Returns the supersets on which to try a candidate, the number of draws, and the guarantee; the
        guarantee is empty if these are all supersets."""
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
        """Excludes all antecedents inside this subset, which breaks or is UNKNOWN, once it has been
        grown."""
        outside = self.lattice.complement((yield from self.grown(falsifier)))
        self.falsifiers.append(self.lattice.complement(outside))
        self.candidates.hit(outside)
        self.remainders.block(outside)

    def shrunk(self, left_out: Mask) -> MiningSteps:
        """Shrinks a set that contains no known rule to a candidate, and tries the candidate."""
        start = self.lattice.complement(left_out)
        yield from self.learn([start])
        if self.seen[start] is Verdict.BREAKS:
            yield from self.ruled_out(start)
            return
        if self.seen[start] is Verdict.UNKNOWN:
            # The rules inside it are searched from below.
            self.doubtful.append(left_out)
            self.remainders.block(left_out)
            return
        candidate, rest = 0, self.lattice.units(start)
        while (yield from self.fails(candidate)):
            # The candidate needs the first unit without which, and without all later ones, it is no rule.
            needed = yield from self.longest(candidate, rest, self.fails)
            candidate |= self.lattice.bit(rest[needed])
            rest = rest[:needed]
        yield from self.tried(candidate)

    def grown(self, falsifier: Mask) -> Growing:
        """Returns a falsifier that contains this one, grown until no unit is left or ``STUCK`` units in a
        row failed.

        Each step finds the first unit whose addition makes the condition hold again, and leaves it out.
        """
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
        """Returns how many of the first of these units can be added so that ``wanted`` stays true, by
        bisection.

        It must be true without any of them and false with all. ``start``: the first number to try, which
        is doubled while it is too low.
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
        """Returns True iff this antecedent's own subset breaks the condition."""
        yield from self.learn([mask])
        return self.seen[mask] is Verdict.BREAKS

    def fails(self, mask: Mask) -> Test:
        """Returns True iff a falsifier contains the mask, or its own subset does not hold."""
        if any(mask & falsifier == mask for falsifier in self.falsifiers):
            return True
        yield from self.learn([mask])
        return self.seen[mask] is not Verdict.HOLDS

    def random(self, mask: Mask) -> Random:
        # The seed depends on the mask alone, so that a search that is run again draws the same subsets.
        return Random(f"{self.miner.seed} {self.kind.value} {mask}")  # noqa: S311 -- reproducible

    def largest(self, candidate: Mask, among: Iterable[Mask], verdict: Verdict) -> Mask | None:
        """Returns the largest of these masks that contains the candidate and has this verdict."""
        above = (
            mask for mask in among if mask & candidate == candidate and self.seen.get(mask) is verdict
        )
        return max(above, key=lambda mask: (mask.bit_count(), mask), default=None)

    def learn(self, masks: Iterable[Mask], *, crucial: bool = False) -> MiningSteps:
        """Waits until all of these masks have a verdict."""
        missing = {mask for mask in masks if mask not in self.seen}
        # Counting order: consecutive prompts share a long prefix.
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
        """Takes back reported rules that a new verdict breaks; they are candidates again."""
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
