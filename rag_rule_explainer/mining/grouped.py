"""This module provides the paper's divide and conquer: it mines groups of sources, and divides those in
rules.

The search begins with one group of all sources. Each round mines the minimal rules over the current
groups, each retained or omitted as a whole, drops the groups that no rule names, and divides the others,
until all groups are single sources. It takes a few probes each time that a source's group is halved. It
finds all rules over the remaining sources; a dropped source was only probed together with the rest of its
group.

Antecedents do not contain dropped sources: retention rules are mined with these omitted, as in the paper,
and omission rules with these retained. If more retained (or omitted) sources cannot break a rule, it is
therefore a rule over all sources. If they can, a BREAKS of an earlier round still counts: an antecedent
inside it is no rule in a later round, and is not probed. So a rule over the groups of a round remains one
in the next. In the end, each rule is also probed with all dropped sources in its antecedent. If one
breaks, the last round is mined again with every subset probed both ways.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace

from ..allowed import called_as
from ..lattice import Antecedent, Lattice, Mask, Subset, bits, smallest_first, subset_count
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .mono import Mono
from .protocol import Ask, Miner, Mining, Verdicts, Wanted
from .sampled import Sampled
from .transversal import Transversal

MOST_EXACT = 10
"""The largest number of groups that are mined exactly, as in the paper; with more, rules are tested on
random subsets."""
ENOUGH = 4
"""The number of groups on all of whose subsets the condition must hold before no source is reported to
matter."""

MiningRound = Generator[Wanted, Verdicts, tuple[Claim, ...]]
GroupTrial = Generator[Wanted, Verdicts, bool]
Open = tuple[Mask, Ask]
"""A subset of groups without a verdict: its antecedent of sources, and the round's ask for it."""


@called_as("Grouped")
@dataclass(frozen=True, slots=True)
class Grouped:
    """This miner finds minimal rules of one kind over the sources that were not dropped, each *relative*
    to these; a rule is *proved* if it held on all applicable subsets.

    ``partitions``: divisions of all sources into groups, as disjoint masks, coarse ones first; a group
    that none of them divides is halved. ``sampled``, ``seed`` and ``kinds``: settings for the tests of
    rules over more than ``MOST_EXACT`` groups.
    """

    kind: RuleKind
    partitions: tuple[tuple[Mask, ...], ...] = ()
    sampled: Sampled = field(default_factory=Sampled)
    seed: int = 0
    kinds: int = 1

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Returns a fresh search of ``lattice``."""
        return _Search(self, lattice).run()

    def over(self, groups: int) -> Miner:
        """Returns the miner of a round with this number of groups."""
        if groups <= MOST_EXACT:
            return Mono(self.kind)
        return Transversal(self.kind, self.sampled, self.seed, self.kinds)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The _Groups are the units of one round, as disjoint antecedents."""

    masks: tuple[Mask, ...]

    @property
    def lattice(self) -> Lattice:
        return Lattice(len(self.masks))

    @property
    def kept(self) -> Mask:
        """The sources of all groups."""
        return sum(self.masks)

    @property
    def are_single(self) -> bool:
        return all(mask.bit_count() == 1 for mask in self.masks)

    def sources(self, antecedent: Mask) -> Antecedent:
        """Returns the antecedent of sources for an antecedent of groups."""
        return Antecedent(sum(self.masks[unit] for unit in self.lattice.units(antecedent)))

    def of(self, units: Mask) -> tuple[Mask, ...]:
        """Returns the groups in an antecedent of groups."""
        return tuple(self.masks[unit] for unit in self.lattice.units(units))


class _Search:
    """A _Search works on antecedents; only its asks are flipped to concrete subsets."""

    def __init__(self, miner: Grouped, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Mask, Verdict] = {}
        self.broken: list[Mask] = []
        first = (lattice.full,) if lattice.size else ()
        self.groups = _Groups(miner.partitions[0] if miner.partitions else first)
        self.is_last = False
        # Each antecedent is probed once with each of these masks added to it.
        self.beside: tuple[Mask, ...] = (0,)
        # The claims of this round so far, and those of the round before.
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
        """Returns the rules over the current groups; subsets with a known verdict are not requested
        again."""
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
        """Returns the known verdicts by subset of groups; adds an ask for every other subset, and puts it
        into ``waiting``."""
        answers = dict[Subset, Verdict]()
        for antecedent, ask in opened:
            verdict, missing = self.known(antecedent)
            if verdict is None:
                waiting[missing] = antecedent, ask
                # A group is dropped as a whole, so one verdict decides on many sources.
                crucial = ask.crucial or not self.is_last
                asks.append(ask._replace(key=Subset(missing ^ self.flip), crucial=crucial))
            else:
                answers[ask.key] = verdict
        return answers

    def add_verdicts(self, verdicts: Verdicts, waiting: dict[Mask, Open]) -> list[Open]:
        """Adds the verdicts, and returns the subsets that waited for them."""
        new = {mask ^ self.flip: verdict for mask, verdict in verdicts.items()}
        self.seen.update(new)
        self.broken += [mask for mask, verdict in new.items() if verdict is Verdict.BREAKS]
        return [waiting.pop(mask) for mask in new if mask in waiting]

    def known(self, antecedent: Mask) -> tuple[Verdict | None, Mask]:
        """Returns the verdict on an antecedent, or None and the antecedent to request. An antecedent
        inside one that breaks has the verdict BREAKS: it is no rule, whatever its own subset does."""
        if self.is_broken(antecedent):
            return Verdict.BREAKS, 0
        for others in self.beside:
            verdict = self.seen.get(antecedent | others)
            if verdict is not Verdict.HOLDS:
                return verdict, antecedent | others
        return Verdict.HOLDS, 0

    def breaks_with_dropped(self, rules: tuple[Claim, ...]) -> GroupTrial:
        """Returns True iff any of the rules breaks with all dropped sources added."""
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
        """Returns the groups of the next round; None if this round was the last."""
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
        """Returns the parts of a group, or the group alone if it is a single source."""
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
        """Returns the claims of the round before that contain none of these rules. They are still true:
        this round has not divided their groups yet, or has no verdict on them."""
        smaller = [rule.rule for rule in rules]
        return tuple(
            claim for claim in self.before if not any(rule.subsumes(claim.rule) for rule in smaller)
        )

    def without_broken(self, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        return tuple(claim for claim in claims if not self.is_broken(claim.antecedent))

    def is_broken(self, antecedent: Mask) -> bool:
        return any(antecedent & broken == antecedent for broken in self.broken)

    def unverified(self, rule: Claim) -> Claim:
        """Returns the claim for a rule over groups that will be divided."""
        antecedent = self.groups.sources(rule.antecedent)
        return Claim(self.kind, antecedent, "unverified", sampling=self._of_groups())

    def claim_for(self, rule: Claim) -> Claim:
        """Returns the claim for a rule of the last round."""
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
