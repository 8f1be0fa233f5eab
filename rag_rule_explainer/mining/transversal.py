"""This module finds minimal rules over many sources by hitting sets, and tests each rule on random
subsets.

A *falsifier* is an antecedent on which the condition breaks, when exactly its units are retained (or
omitted). Searching *from below*, the next *candidate* for a rule is the smallest hitting set for the
known falsifiers. First the candidate itself is probed, then random supersets of it. If the condition
breaks on a superset, units are added to the superset as long as the condition still breaks. The result is
a maximal falsifier, which excludes many candidates. If the condition breaks neither on the candidate nor
on a superset, the candidate is reported as a rule. The rule is minimal: each smaller antecedent inside it
is contained in a known falsifier.

If several sources say the same, there may be more falsifiers than a search can pay for before the first
rule is found. So after ``SEEDS_WITHOUT_RULE`` candidates without a rule, the search goes on *from above*:
it begins with large sets of units on which the condition holds, and shrinks them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..lattice import Antecedent, Lattice, Mask
from ..rules import Claim
from ..verdicts import Verdict
from .antecedent_search import (
    AntecedentSearch,
    Bisection,
    MiningSteps,
    RandomTest,
    TestingMiner,
    enough_found,
)
from .protocol import Mining, Wanted
from .sampled import FIRST_DRAWS, Draws


@dataclass(frozen=True, slots=True)
class Transversal(TestingMiner):
    """This miner finds minimal rules of one kind, each tested on random subsets to which it applies. A
    rule is *proved* only if it was seen to hold on all subsets to which it applies."""

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        return _Search(self, lattice).run()


class _Search:
    """A _Search is one run of the miner."""

    def __init__(self, miner: Transversal, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.known = AntecedentSearch(miner.kind, lattice, miner.seed, self.claims)
        self.tested = 0
        self.trying: Mask | None = None

    def run(self) -> Mining:
        known, full, most = self.known, self.lattice.full, self.miner.sampled.max_rules
        yield from known.learn([full])
        if known.seen[full] is not Verdict.HOLDS:
            return ()
        known.start()
        is_done = yield from known.rules_sought(
            self.tried, self.found_within, lambda: len(known.found) >= most, begin_below=True
        )
        if not is_done:
            yield Wanted((), self.claims, enough_found(most, self.kind))
        return self.claims()

    def tried(self, candidate: Mask) -> MiningSteps:
        """Tests a candidate on its own subset (which retains or omits exactly the candidate's units), and
        on the own subsets of random antecedents that contain the candidate. If the condition holds on all
        these subsets, records the candidate as a rule. If the condition breaks on one of them, or broke
        earlier on the own subset of another antecedent that contains the candidate, excludes the
        candidate.

        Otherwise, at least one verdict is UNKNOWN. If the verdict on the candidate's own subset is
        UNKNOWN, or if all antecedents that contain the candidate were tested, excludes the candidate. In
        all other cases, records the candidate as unresolved.
        """
        known = self.known
        falsifier = known.largest(candidate, known.seen, Verdict.BREAKS)
        if falsifier is None:
            yield from known.learn([candidate], crucial=True)
            falsifier = None if known.seen[candidate] is Verdict.HOLDS else candidate
        if falsifier is not None:
            yield from known.ruled_out(falsifier)
            return
        self.trying = candidate
        supersets, count, statement = self.drawn(candidate)
        broken, ahead = None, 0
        for upto in (FIRST_DRAWS, len(supersets)):
            if broken is None:
                yield from known.learn(supersets[ahead:upto])
                broken, ahead = known.largest(candidate, supersets[ahead:upto], Verdict.BREAKS), upto
        self.trying = None
        unknown = known.largest(candidate, supersets, Verdict.UNKNOWN)
        if broken is not None:
            yield from known.ruled_out(broken)
        elif unknown is None:
            known.record(candidate, RandomTest(count, statement))
        elif not statement:
            yield from known.ruled_out(unknown)
        else:
            # An UNKNOWN superset is not treated as a falsifier, because the search would then try one
            # more candidate for each unit that the superset lacks.
            known.unresolved.append(candidate)
            known.set_aside(candidate)

    def drawn(self, candidate: Mask) -> tuple[list[Mask], int, str]:
        """Returns the supersets on which to test a candidate, the number of random draws that the test
        needs, and a sentence that says how sure a passed test is. If there are no more supersets than
        draws, returns all supersets, with an empty sentence."""
        sampled = self.miner.sampled
        draws = Draws(self.kind, self.lattice, candidate, sampled.sizes or (), self.miner.pinned)
        count = sampled.draws(sampled.error(self.tested, self.miner.kinds), self.miner.missed)
        self.tested += 1
        if draws.everything <= count:
            return list(self.lattice.supersets(candidate)), count, ""
        supersets = list(draws.supersets(count, self.known.random(candidate)))
        statement = sampled.statement(count, draws)
        return [*supersets, *(draws.neighbours if sampled.neighbours else ())], count, statement

    def found_within(self, left_out: Mask) -> MiningSteps:
        """Makes the next step of the search from above, with a set of units that contains no known rule:
        all units except ``left_out``. If the condition holds on this set, shrinks the set to a candidate
        and tests the candidate; if it breaks, excludes the set. If the verdict is UNKNOWN, this set is
        not tried again."""
        known, start = self.known, self.lattice.complement(left_out)
        yield from known.learn([start])
        if known.seen[start] is Verdict.BREAKS:
            yield from known.ruled_out(start)
        elif known.seen[start] is Verdict.UNKNOWN:
            known.leave_in_doubt(left_out)
        else:
            candidate = yield from known.shrunk(self.lattice.units(start), self.boundary)
            yield from self.tried(candidate)

    def boundary(self, candidate: Mask, rest: Sequence[int]) -> Bisection:
        return self.known.longest(candidate, rest, self.known.fails)

    def claims(self) -> tuple[Claim, ...]:
        claims, trying = self.known.claims(), self.trying
        if trying is None or self.known.largest(trying, self.known.seen, Verdict.BREAKS) is not None:
            return claims
        return *claims, Claim(self.kind, Antecedent(trying), "unverified")
