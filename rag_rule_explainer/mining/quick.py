"""This module finds minimal rules over many sources with few probes: it first finds rules by bisection,
and then tests several together on the same random subsets.

The search goes from above: it begins with all sources, on which the condition holds, and removes sources
as long as it still holds. The remaining sources are a minimal antecedent: a set of units (sources, or
groups of tied ones) that may be a rule, while no smaller set inside it is a rule.

The units are in a fixed order. Bisection finds a number n such that the condition holds with the first n
units and breaks with the first n - 1. The n-th unit is then necessary and is kept. The search repeats
this with the units before the n-th, until a minimal antecedent is left. If exactly the first units of the
order are retained, exactly the last units are omitted. So both kinds of rule need the same subsets, and
each subset is replayed once.

The rules are tested when ``TOGETHER`` of them were found, after ``PROBES_WITHOUT_TEST`` probes, or when
no more are found. Each random subset tests all rules that apply to it. This is as strict as a separate
test of each rule: ``shared_draws`` makes sure that the drawn subsets to which a rule applies are a random
choice of all subsets to which this rule applies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from ..lattice import Lattice, Mask
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .antecedent_search import (
    AntecedentSearch,
    Bisection,
    MiningSteps,
    RandomTest,
    Test,
    TestingMiner,
    enough_found,
)
from .protocol import Mining, Wanted
from .sampled import FIRST_DRAWS, Draws, Sampled

QUICK_SAMPLING = Sampled(max_violation=0.2)
"""The tests for ``miner="quick"``: each rule is tested on 14 random subsets."""
TOGETHER, PROBES_WITHOUT_TEST = 8, 40
"""Rules are tested when ``TOGETHER`` of them are untested, or when at least one is untested and
``PROBES_WITHOUT_TEST`` probes were made since the last test. So if a limit ends the search early, some
rules are already tested."""


@dataclass(frozen=True, slots=True)
class Quick(TestingMiner):
    """This miner finds minimal rules of one kind by bisection, and tests several rules at a time on
    random subsets. A rule is *proved* only if it was seen to hold on all subsets to which it applies.

    If a condition is monotone (more sources never undo what fewer bring about), a rule of k out of n
    sources is found by about k·log2(n) probes.
    """

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        return _QuickSearch(self, lattice).run()


class _QuickSearch:
    """A _QuickSearch is one run of the miner. ``errors``: for each rule that was found, the largest
    accepted chance that it passes its test although it is wrong. ``tested_at``: the number of probes that
    were made before the last test."""

    def __init__(self, miner: Quick, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.known = AntecedentSearch(miner.kind, lattice, miner.seed, self.known_claims)
        self.errors: dict[Mask, float] = {}
        self.tested_at = 0

    def run(self) -> Mining:
        known, full, most = self.known, self.lattice.full, self.miner.sampled.max_rules
        yield from known.learn([full])
        if known.seen[full] is not Verdict.HOLDS:
            return ()
        known.start()
        is_done = False
        while not is_done or self.pending():
            if not is_done:
                is_done = yield from known.rules_sought(
                    self.tried, self.found_within, self.is_enough, begin_below=False
                )
            if self.pending():
                is_done = (yield from self.passed()) and is_done
            elif not is_done and len(known.found) >= most:
                yield Wanted((), known.claims, enough_found(most, self.kind))
                break
        return known.claims()

    def known_claims(self) -> tuple[Claim, ...]:
        return self.known.claims()

    def is_enough(self) -> bool:
        pending, most = len(self.pending()), self.miner.sampled.max_rules
        if pending and self.known.asked - self.tested_at >= PROBES_WITHOUT_TEST:
            return True
        return pending >= TOGETHER or len(self.known.found) >= most

    def pending(self) -> list[Mask]:
        """Returns the rules that were found and whose tests are not complete."""
        return [rule for rule, test in self.known.found.items() if test.draws < self.needed(rule)]

    def needed(self, rule: Mask) -> int:
        """Returns the number of random subsets on which a rule is to be tested."""
        return self.miner.sampled.draws(self.errors[rule], self.miner.missed)

    def tried(self, candidate: Mask) -> MiningSteps:
        """Probes a candidate on its own subset. If the condition holds there, and is not known to break
        on another subset to which the candidate applies, records the candidate as a rule that is still to
        be tested. Otherwise excludes the candidate."""
        known = self.known
        broken = known.largest(candidate, known.seen, Verdict.BREAKS)
        if broken is None:
            yield from known.learn([candidate], crucial=True)
        if broken is not None or known.seen[candidate] is not Verdict.HOLDS:
            yield from self.ruled_out(candidate)
            return
        self.errors[candidate] = self.miner.sampled.error(len(self.errors), self.miner.kinds)
        known.record(candidate, RandomTest(0, ""))

    def ruled_out(self, antecedent: Mask) -> MiningSteps:
        """Excludes an antecedent that is no rule. At least one probed antecedent that contains this
        antecedent has the verdict BREAKS or UNKNOWN. The largest one with BREAKS (if there is none, with
        UNKNOWN) is excluded, together with all antecedents that it contains."""
        known, verdicts = self.known, (Verdict.BREAKS, Verdict.UNKNOWN)
        found = (known.largest(antecedent, known.seen, verdict) for verdict in verdicts)
        yield from known.ruled_out(next(each for each in found if each is not None))

    def found_within(self, left_out: Mask) -> MiningSteps:
        """Makes the next step of the search from above, with a set of units that contains no known rule:
        all units except ``left_out``. If the condition holds on this set, shrinks the set to a
        candidate; if it breaks, excludes the set. If the verdict is UNKNOWN, this set is not tried
        again."""
        known, start = self.known, self.lattice.complement(left_out)
        yield from known.learn([start])
        if known.seen[start] is Verdict.BREAKS:
            # With one unit more, this set would contain a known rule. So no unit is added to the set
            # before it is excluded.
            known.exclude(start)
        elif known.seen[start] is Verdict.UNKNOWN:
            known.leave_in_doubt(left_out)
        else:
            units = self.lattice.units(start)
            in_order = units if self.kind is RuleKind.RETENTION else units[::-1]
            candidate = yield from known.shrunk(in_order, self.boundary)
            yield from self.tried(candidate)

    def boundary(self, candidate: Mask, rest: Sequence[int]) -> Bisection:
        """Returns how many units, from the start of ``rest``, can be added to the candidate so that it is
        still no rule. Known verdicts are used first; between the numbers that they leave open, the number
        is found by bisection."""
        low, high = 0, len(rest)
        antecedent = candidate
        for number, unit in enumerate(rest[:-1], 1):
            antecedent |= self.lattice.bit(unit)
            verdict = self.known.seen.get(antecedent)
            if self.known.is_falsified(antecedent) or verdict not in {None, Verdict.HOLDS}:
                low = number
            elif verdict is Verdict.HOLDS:
                high = number
                break
        while high - low > 1:
            # For omission rules, the units are counted from the other end. So the middle is rounded up
            # for them, and both kinds of rule probe the same subset.
            middle = (low + high + (self.kind is RuleKind.OMISSION)) // 2
            if (yield from self.known.fails(candidate | self.lattice.mask(rest[:middle]))):
                low = middle
            else:
                high = middle
        return low

    def passed(self) -> Test:
        """Tests the pending rules; those that name the same number of units are tested together. If a
        rule was seen to break, excludes this rule and returns False. Otherwise returns True."""
        known, before = self.known, list(self.known.found)
        by_size: dict[int, list[Mask]] = {}
        for rule in self.pending():
            by_size.setdefault(rule.bit_count(), []).append(rule)
        subsets: dict[Mask, Sequence[Mask]] = {}
        for rules in by_size.values():
            subsets |= self.drawn(sorted(rules))
        yield from known.learn(mask for each in subsets.values() for mask in each)
        for rule, masks in subsets.items():
            if rule in known.found:
                self.note(rule, masks)
        self.tested_at = known.asked
        fallen = [rule for rule in before if rule not in {*known.found, *known.unresolved}]
        for rule in fallen:
            if not known.is_falsified(rule):
                yield from self.ruled_out(rule)
        return not fallen

    def drawn(self, rules: Sequence[Mask]) -> dict[Mask, Sequence[Mask]]:
        """Returns the subsets on which to test each rule next. All ``rules`` name the same number of
        units."""
        subsets: dict[Mask, Sequence[Mask]] = {}
        wanted: dict[Mask, int] = {}
        most: dict[Mask, int] = {}
        for rule in rules:
            done, needed = self.known.found[rule].draws, self.needed(rule)
            if self.draws_of(rule).everything <= needed:
                subsets[rule] = list(self.lattice.supersets(rule))
            else:
                most[rule] = needed - done
                wanted[rule] = most[rule] if done else min(FIRST_DRAWS, needed)
        if wanted:
            done_so_far = [self.known.found[rule].draws for rule in wanted]
            draws = {rule: self.draws_of(rule) for rule in wanted}
            draw = self.known.random("together", [*wanted], done_so_far)
            subsets |= shared_draws(draws, wanted, most, draw)
        return subsets

    def draws_of(self, rule: Mask) -> Draws:
        sizes = self.miner.sampled.sizes or ()
        return Draws(self.kind, self.lattice, rule, sizes, self.miner.pinned)

    def note(self, rule: Mask, masks: Sequence[Mask]) -> None:
        """Records the verdicts on these subsets; the rule was seen to break on none of them. If one of
        the verdicts is UNKNOWN, the rule is not reported."""
        known, needed, draws = self.known, self.needed(rule), self.draws_of(rule)
        if known.largest(rule, masks, Verdict.UNKNOWN) is not None:
            del known.found[rule]
            if draws.everything > needed:
                known.unresolved.append(rule)
            known.start()
            return
        if draws.everything <= needed:
            known.found[rule] = RandomTest(needed, "")
            return
        count, sampled = known.found[rule].draws + len(masks), self.miner.sampled
        share = sampled.most_violated(count, self.errors[rule], self.miner.missed)
        known.found[rule] = RandomTest(count, sampled.statement(count, draws, share))


def shared_draws(
    draws: Mapping[Mask, Draws], wanted: Mapping[Mask, int], most: Mapping[Mask, int], draw: Random
) -> dict[Mask, list[Mask]]:
    """Returns random supersets of each mask: at least ``wanted[mask]`` and at most ``most[mask]``.

    Each mask is the antecedent of a rule, and its supersets test the rule. A superset that contains
    several of the masks is used for each of them, which saves probes. All masks have the same number of
    units. ``draws``: for each mask, its generator of supersets. ``draw``: the random generator.

    The supersets for one mask have the same distribution as if its generator alone had made them. For
    this, a mask that already has its ``wanted`` supersets still gets those that are drawn for other
    masks, up to ``most``.
    """
    drawn = {mask: list[Mask]() for mask in wanted}
    while any(len(drawn[mask]) < count for mask, count in wanted.items()):
        (superset,) = draws[draw.choice(list(wanted))].supersets(1, draw)
        within = [mask for mask in wanted if superset & mask == mask]
        # A superset of m of the masks is drawn m times as often as a superset of only one mask. So it is
        # used only with a chance of 1/m, and all supersets become equally likely.
        if draw.randrange(len(within)) == 0:
            for mask in within:
                if len(drawn[mask]) < most[mask]:
                    drawn[mask].append(superset)
    return drawn
