"""This module provides the divide and conquer of the paper on which this package is based: it mines rules
over groups of sources, and divides the groups that are in rules.

The search begins with one group of all sources, unless the caller gives other groups. Each round mines
the minimal rules over the current groups; each group is retained or omitted as a whole. Then it drops the
groups that no rule names, and divides the others, until all groups are single sources. The search finds
all rules over the sources that remain. A dropped source was probed only together with the rest of its
group, so rules with it may be missed.

Dropped sources are in no antecedent: they are omitted while retention rules are mined, as in the paper,
and retained for omission rules. So a retention rule may break when some of them are retained, and an
omission rule when some are omitted. At the end, each rule is therefore also probed with all dropped
sources added. If the condition breaks on one of these probes, the last round is mined once more, with two
probes for each antecedent: without and with the dropped sources. If an antecedent breaks, no subset of it
is a rule, so later rounds do not probe such subsets.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace

from ..lattice import Antecedent, Lattice, Mask, Subset, bits, smallest_first, subset_count
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .mono import Mono
from .protocol import Ask, Miner, Mining, Verdicts, Wanted
from .sampled import Sampled
from .transversal import Transversal

MOST_EXACT = 10
"""The largest number of groups for which the search is exact, so that it misses no rule. With more
groups, it tests rules on random subsets."""
ENOUGH = 4
"""With at least this many groups, the search ends if the condition holds on all subsets of the groups.
With fewer, the groups are divided once more, because this result could be chance."""

MiningRound = Generator[Wanted, Verdicts, tuple[Claim, ...]]
GroupTrial = Generator[Wanted, Verdicts, bool]
Open = tuple[Mask, Ask]
"""A request for a verdict that waits for its answer: the antecedent (a mask of sources), and the ask by
which the miner of the current round requested it (with a mask of groups as its key)."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """This miner finds minimal rules of one kind over the sources that were not dropped. Its rules are
    *relative* to these sources. A rule is *proved* if it was seen to hold on all subsets to which it
    applies.

    ``partitions``: ways to divide all sources into groups (disjoint masks), the coarsest way first. A
    group that none of these ways divides is halved. ``sampled``, ``seed``: the settings for tests of
    rules over more than ``MOST_EXACT`` groups. ``kinds``: the number of searches that a joint guarantee
    covers, if the settings ask for a guarantee about all rules together.
    """

    kind: RuleKind
    partitions: tuple[tuple[Mask, ...], ...] = ()
    sampled: Sampled = field(default_factory=Sampled)
    seed: int = 0
    kinds: int = 1

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        return _Search(self, lattice).run()

    def over(self, groups: int) -> Miner:
        """Returns the miner for this number of groups; it is exact for at most ``MOST_EXACT`` groups."""
        if groups <= MOST_EXACT:
            return Mono(self.kind)
        return Transversal(self.kind, self.sampled, self.seed, self.kinds)


@dataclass(frozen=True, slots=True)
class _Groups:
    """A ``_Groups`` holds the groups of sources in one round, as disjoint masks."""

    masks: tuple[Mask, ...]

    @property
    def lattice(self) -> Lattice:
        return Lattice(len(self.masks))

    @property
    def kept(self) -> Mask:
        """Returns the mask of all sources that are in a group and so were not dropped."""
        return sum(self.masks)

    @property
    def are_single(self) -> bool:
        return all(mask.bit_count() == 1 for mask in self.masks)

    def sources(self, antecedent: Mask) -> Antecedent:
        """Converts an antecedent that is a mask of groups to the mask of the sources in these groups."""
        return Antecedent(sum(self.masks[unit] for unit in self.lattice.units(antecedent)))

    def of(self, units: Mask) -> tuple[Mask, ...]:
        """Returns the groups in ``units``, a mask of groups. Each is returned as a mask of sources."""
        return tuple(self.masks[unit] for unit in self.lattice.units(units))


class _Search:
    """A _Search is one run of the miner. It works with the masks of antecedents. Its requests for
    verdicts use masks of retained sources: XOR with ``flip`` turns an antecedent into such a mask."""

    def __init__(self, miner: Grouped, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Mask, Verdict] = {}
        self.broken: list[Mask] = []
        first = (lattice.full,) if lattice.size else ()
        self.groups = _Groups(miner.partitions[0] if miner.partitions else first)
        self.is_last = False
        # The probes add these masks to an antecedent: 0, and later also all dropped sources.
        self.beside: tuple[Mask, ...] = (0,)
        # ``found`` returns the rules claimed now; ``before`` has the rules of the previous round.
        self.found: Callable[[], tuple[Claim, ...]] = tuple
        self.before: tuple[Claim, ...] = ()
        self.stop = ""

    def run(self) -> Mining:
        while True:
            self.is_last = self.groups.are_single
            rules = yield from self.mined()
            self.found = lambda rules=rules: rules
            if self.is_last and (yield from self.breaks_with_dropped(rules)):
                self.before, self.found = self.claims(), tuple
                self.beside = (0, self.dropped)
                rules = yield from self.mined()
                self.found = lambda rules=rules: rules
            divided = None if self.is_last else self.divided(rules)
            if divided is None:
                break
            coarse = tuple(map(self.unverified, rules))
            self.before = (*coarse, *self.not_subsumed(coarse))
            self.groups, self.found = divided, tuple
        self.is_last = True
        if self.stop:
            yield Wanted((), self.claims, self.stop)
        return self.claims()

    def mined(self) -> MiningRound:
        """Mines the rules over the current groups and returns them. A subset whose verdict is already
        known is not requested again."""
        groups, waiting, asks = self.groups, dict[Mask, Open](), list[Ask]()
        flip = self.kind.flip(groups.lattice)
        mining = self.miner.over(len(groups.masks))(groups.lattice)
        wanted = next(mining)
        while True:
            self.found = wanted.claims
            if wanted.stop:
                where = "" if self.is_last else f"over {len(groups.masks)} groups of sources, "
                self.stop = self.stop or where + wanted.stop
                return wanted.claims()
            new = [(groups.sources(ask.key ^ flip), ask) for ask in wanted.asks]
            answers = self.answers(new, waiting, asks)
            while not answers:
                verdicts = yield Wanted(tuple(asks), self.claims)
                asks.clear()
                answers = self.answers(self.add_verdicts(verdicts, waiting), waiting, asks)
            try:
                wanted = mining.send(answers)
            except StopIteration as end:
                return end.value

    def answers(
        self, opened: Iterable[Open], waiting: dict[Mask, Open], asks: list[Ask]
    ) -> dict[Subset, Verdict]:
        """Returns the known verdicts on the requests ``opened``, each under the key of its ask. For each
        other request, adds an ask to ``asks`` and the request to ``waiting``."""
        answers = dict[Subset, Verdict]()
        for antecedent, ask in opened:
            verdict, missing = self.known(antecedent)
            if verdict is None:
                waiting[missing] = antecedent, ask
                # Before the last round, a wrong verdict may drop a whole group. So each ask (request for
                # a verdict) is then crucial: if the settings have votes, it is always voted on.
                crucial = ask.crucial or not self.is_last
                asks.append(ask._replace(key=Subset(missing ^ self.flip), crucial=crucial))
            else:
                answers[ask.key] = verdict
        return answers

    def add_verdicts(self, verdicts: Verdicts, waiting: dict[Mask, Open]) -> list[Open]:
        """Records new verdicts. Returns the requests that waited for these verdicts, and removes the
        requests from ``waiting``."""
        new = {mask ^ self.flip: verdict for mask, verdict in verdicts.items()}
        self.seen.update(new)
        self.broken += [mask for mask, verdict in new.items() if verdict is Verdict.BREAKS]
        return [waiting.pop(mask) for mask in new if mask in waiting]

    def known(self, antecedent: Mask) -> tuple[Verdict | None, Mask]:
        """Returns the verdict on an antecedent, which is BREAKS if the condition is known to break on a
        larger one. If the verdict is not known, returns None and the sources to probe."""
        if self.is_broken(antecedent):
            return Verdict.BREAKS, 0
        for others in self.beside:
            verdict = self.seen.get(antecedent | others)
            if verdict is not Verdict.HOLDS:
                return verdict, antecedent | others
        return Verdict.HOLDS, 0

    def breaks_with_dropped(self, rules: tuple[Claim, ...]) -> GroupTrial:
        """Probes each rule with all dropped sources added. Returns True iff a verdict is BREAKS."""
        subsets = [self.groups.sources(rule.antecedent) | self.dropped for rule in rules]
        missing = [mask for mask in subsets if mask not in self.seen]
        asks = tuple(Ask(Subset(mask ^ self.flip), self.lattice.complement(mask)) for mask in missing)
        while any(mask not in self.seen for mask in missing):
            self.add_verdicts((yield Wanted(asks, self.claims)), {})
            asks = ()
        return any(self.seen[mask] is Verdict.BREAKS for mask in subsets)

    @property
    def dropped(self) -> Mask:
        return self.lattice.full ^ self.groups.kept

    def divided(self, rules: tuple[Claim, ...]) -> _Groups | None:
        """Returns the parts of all groups that the rules name: the groups of the next round. Returns None
        if no rule was found, or the only rule names no group and there are at least ``ENOUGH`` groups."""
        named = 0
        for rule in rules:
            named |= rule.antecedent
        if not rules:
            return None
        if named:
            kept = self.groups.of(named)
        elif len(self.groups.masks) < ENOUGH:
            kept = self.groups.masks
        else:
            return None
        return _Groups(tuple(part for group in kept for part in self.parts(group)))

    def parts(self, group: Mask) -> tuple[Mask, ...]:
        """Divides a group by the first partition that divides it, or else into halves. Returns the parts,
        or only the group if it is a single source."""
        for partition in self.miner.partitions:
            parts = tuple(part & group for part in partition if part & group)
            if len(parts) > 1:
                return parts
        first = sum(list(bits(group))[group.bit_count() // 2 :])
        return (first, group ^ first) if first != group else (group,)

    def claims(self) -> tuple[Claim, ...]:
        found = self.without_broken(map(self.claim_for, self.found()) if self.is_last else ())
        verified = [claim for claim in found if claim.status != "unverified"]
        above = self.without_broken(self.not_subsumed(verified))
        claims = {claim.antecedent: claim for claim in (*found, *above)}
        return tuple(claims[antecedent] for antecedent in sorted(claims, key=smallest_first))

    def not_subsumed(self, rules: Iterable[Claim]) -> tuple[Claim, ...]:
        """Returns the claims of the previous round that no smaller rule in ``rules`` replaces. A rule
        replaces a claim if the claim has all sources of the rule."""
        smaller = [rule.rule for rule in rules]
        return tuple(
            claim for claim in self.before if not any(rule.subsumes(claim.rule) for rule in smaller)
        )

    def without_broken(self, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        return tuple(claim for claim in claims if not self.is_broken(claim.antecedent))

    def is_broken(self, antecedent: Mask) -> bool:
        return any(antecedent & broken == antecedent for broken in self.broken)

    def unverified(self, rule: Claim) -> Claim:
        """Returns an unverified claim for a rule over groups that will be divided further."""
        antecedent = self.groups.sources(rule.antecedent)
        return Claim(self.kind, antecedent, "unverified", sampling=self._of_groups())

    def claim_for(self, rule: Claim) -> Claim:
        """Returns the claim for a rule of the last round. The claim says which subsets were tried."""
        antecedent = self.groups.sources(rule.antecedent)
        if self.is_proved(antecedent):
            return Claim(self.kind, antecedent, "proved")
        whole = not self.groups.are_single
        if rule.status == "unverified" or not (self.dropped or whole):
            return replace(rule, antecedent=antecedent)
        above = 1 << (len(self.groups.masks) - rule.antecedent.bit_count())
        seen = f"all {subset_count(above)} subsets" if above > 1 else "the only subset"
        held = rule.sampling or f"held on {seen}"
        kept = 0 if whole else self.groups.kept
        where = self._of_groups() if whole else self._without(antecedent)
        return Claim(self.kind, antecedent, "relative", rule.draws, f"{held}, {where}", kept)

    def is_proved(self, antecedent: Mask) -> bool:
        above = 1 << (self.lattice.size - antecedent.bit_count())
        return above <= len(self.seen) and all(
            self.seen.get(mask) is Verdict.HOLDS for mask in self.lattice.supersets(antecedent)
        )

    def _without(self, antecedent: Mask) -> str:
        count = self.dropped.bit_count()
        done, other = ("left out", "retained")[:: 1 if self.kind is RuleKind.RETENTION else -1]
        sources = f"with the {count} dropped source{'s' * (count > 1)}"
        if len(self.beside) > 1:
            return f"{sources} {done} and with them {other}"
        held = self.seen.get(antecedent | self.dropped) is Verdict.HOLDS
        return f"{sources} {done}" + (f", and by itself with them {other}" if held else "")

    def _of_groups(self) -> str:
        count = len(self.groups.masks)
        groups = f"{count} groups of sources, each" if count > 1 else "all sources as one group,"
        return f"of {groups} retained or left out as a whole"
