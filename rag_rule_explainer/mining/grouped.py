"""The paper's divide and conquer: rules over groups of sources, of which only what rules name is divided.

All sources are one group to begin with. Each round mines the minimal rules over the groups there are,
every group retained or left out as a whole; drops the groups that no rule names; and divides the others,
until all are single sources. It takes a few probes for each time a source's group is halved, and finds
all rules over the sources that it kept in the end; a dropped source was only ever tried together with the
rest of its group.

Antecedents never contain what was dropped: retention rules are mined with it left out, as in the paper,
and omission rules with it retained. So a rule that more of the same cannot spoil is one of all sources.
Where more of it can, what a round saw break stands: no antecedent inside it is a rule in any later one,
and none of them is asked about. So a rule over the groups of one round is still one in the next. In the
end each rule is tried the other way round, with all that was dropped in its antecedent; if one breaks,
the last round is mined anew with every subset tried both ways.
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
"""Groups that are mined exactly, as in the paper; of more, rules are tested on random subsets."""
ENOUGH = 4
"""Groups on all of whose subsets the condition must hold before it is said that no source matters."""

MiningRound = Generator[Wanted, Verdicts, tuple[Claim, ...]]
GroupTrial = Generator[Wanted, Verdicts, bool]
Open = tuple[Mask, Ask]
"""A subset of groups without a verdict: as an antecedent of sources, and as the round asks for it."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """Minimal rules of one kind over the sources that are kept, each *relative* to these; *proved* is
    what held on all subsets there are.

    ``partitions``: what groups are, coarse ones first, each all sources as disjoint masks; what these do
    not divide is halved. ``sampled``, ``seed`` and ``kinds``: how rules are tested over more than
    ``MOST_EXACT`` groups.
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
        """Returns the miner of a round with so many of them."""
        if groups <= MOST_EXACT:
            return Mono(self.kind)
        return Transversal(self.kind, self.sampled, self.seed, self.kinds)


@dataclass(frozen=True, slots=True)
class _Groups:
    """This class represents the units of one round, as disjoint antecedents."""

    masks: tuple[Mask, ...]

    @property
    def lattice(self) -> Lattice:
        return Lattice(len(self.masks))

    @property
    def kept(self) -> Mask:
        """Returns all sources in them."""
        return sum(self.masks)

    @property
    def are_single(self) -> bool:
        return all(mask.bit_count() == 1 for mask in self.masks)

    def sources(self, antecedent: Mask) -> Antecedent:
        """Returns an antecedent of groups as one of sources."""
        return Antecedent(sum(self.masks[unit] for unit in self.lattice.units(antecedent)))

    def of(self, units: Mask) -> tuple[Mask, ...]:
        """Returns the groups in an antecedent of groups."""
        return tuple(self.masks[unit] for unit in self.lattice.units(units))


class _Search:
    """Speaks of antecedents; the flips to concrete subsets are made where it asks."""

    def __init__(self, miner: Grouped, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Mask, Verdict] = {}
        self.broken: list[Mask] = []
        first = (lattice.full,) if lattice.size else ()
        self.groups = _Groups(miner.partitions[0] if miner.partitions else first)
        self.is_last = False
        # What each subset is tried with.
        self.beside: tuple[Mask, ...] = (0,)
        # What the round can claim so far, and what the one before it came to.
        self.found: Callable[[], tuple[Claim, ...]] = tuple
        self.before: tuple[Claim, ...] = ()
        self.stop = ""

    def run(self) -> Mining:
        while True:
            self.is_last = self.groups.are_single
            rules = yield from self.mined()
            self.found = lambda rules=rules: rules
            if self.is_last and (yield from self.spoilt(rules)):
                self.before, self.found = self.claims(), tuple
                self.beside = (0, self.dropped)
                rules = yield from self.mined()
                self.found = lambda rules=rules: rules
            divided = None if self.is_last else self.divided(rules)
            if divided is None:
                break
            coarse = tuple(map(self.unverified, rules))
            self.before = (*coarse, *self.beyond(coarse))
            self.groups, self.found = divided, tuple
        self.is_last = True
        if self.stop:
            yield Wanted((), self.claims, self.stop)
        return self.claims()

    def mined(self) -> MiningRound:
        """The rules over the groups there are; what is known of their subsets is not asked for."""
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
                answers = self.answers(self.told(verdicts, waiting), waiting, asks)
            try:
                wanted = mining.send(answers)
            except StopIteration as end:
                return end.value

    def answers(
        self, opened: Iterable[Open], waiting: dict[Mask, Open], asks: list[Ask]
    ) -> dict[Subset, Verdict]:
        """Returns the verdicts that are known, by the subset of groups; the others wait for what is
        asked."""
        answers = dict[Subset, Verdict]()
        for antecedent, ask in opened:
            verdict, missing = self.known(antecedent)
            if verdict is None:
                waiting[missing] = antecedent, ask
                # What is retained together is dropped together: each verdict is about many sources.
                crucial = ask.crucial or not self.is_last
                asks.append(ask._replace(key=Subset(missing ^ self.flip), crucial=crucial))
            else:
                answers[ask.key] = verdict
        return answers

    def told(self, verdicts: Verdicts, waiting: dict[Mask, Open]) -> list[Open]:
        """Takes the verdicts in; what waited for them."""
        told = {mask ^ self.flip: verdict for mask, verdict in verdicts.items()}
        self.seen.update(told)
        self.broken += [mask for mask, verdict in told.items() if verdict is Verdict.BREAKS]
        return [waiting.pop(mask) for mask in told if mask in waiting]

    def known(self, antecedent: Mask) -> tuple[Verdict | None, Mask]:
        """Returns its verdict, or what is to be asked; nothing inside what breaks is a rule, whatever it
        says itself."""
        if self.is_broken(antecedent):
            return Verdict.BREAKS, 0
        for others in self.beside:
            verdict = self.seen.get(antecedent | others)
            if verdict is not Verdict.HOLDS:
                return verdict, antecedent | others
        return Verdict.HOLDS, 0

    def spoilt(self, rules: tuple[Claim, ...]) -> GroupTrial:
        """Returns whether any of the rules breaks together with all that was dropped."""
        subsets = [self.groups.sources(rule.antecedent) | self.dropped for rule in rules]
        missing = [mask for mask in subsets if mask not in self.seen]
        asks = tuple(Ask(Subset(mask ^ self.flip), self.lattice.complement(mask)) for mask in missing)
        while any(mask not in self.seen for mask in missing):
            self.told((yield Wanted(asks, self.claims)), {})
            asks = ()
        return any(self.seen[mask] is Verdict.BREAKS for mask in subsets)

    @property
    def dropped(self) -> Mask:
        return self.lattice.full ^ self.groups.kept

    def divided(self, rules: tuple[Claim, ...]) -> _Groups | None:
        """Returns the groups of the next round; None where there is none to come."""
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
        """Returns a group divided once, if it can be."""
        for partition in self.miner.partitions:
            parts = tuple(part & group for part in partition if part & group)
            if len(parts) > 1:
                return parts
        first = sum(list(bits(group))[group.bit_count() // 2 :])
        return (first, group ^ first) if first != group else (group,)

    def claims(self) -> tuple[Claim, ...]:
        found = self.unbroken(map(self.stated, self.found()) if self.is_last else ())
        above = self.unbroken(self.beyond(claim for claim in found if claim.status != "unverified"))
        claims = {claim.antecedent: claim for claim in (*found, *above)}
        return tuple(claims[antecedent] for antecedent in sorted(claims, key=smallest_first))

    def beyond(self, rules: Iterable[Claim]) -> tuple[Claim, ...]:
        """Returns what was claimed before and contains none of these: a round that has not come down to
        it, or has no verdict on it, leaves it as true as it was."""
        smaller = [rule.rule for rule in rules]
        return tuple(
            claim for claim in self.before if not any(rule.subsumes(claim.rule) for rule in smaller)
        )

    def unbroken(self, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        return tuple(claim for claim in claims if not self.is_broken(claim.antecedent))

    def is_broken(self, antecedent: Mask) -> bool:
        return any(antecedent & broken == antecedent for broken in self.broken)

    def unverified(self, rule: Claim) -> Claim:
        """Returns a rule over groups that are still to be divided."""
        antecedent = self.groups.sources(rule.antecedent)
        return Claim(self.kind, antecedent, "unverified", sampling=self._of_groups())

    def stated(self, rule: Claim) -> Claim:
        """Returns what can be said of a rule of the last round."""
        antecedent = self.groups.sources(rule.antecedent)
        if self.is_seen_through(antecedent):
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

    def is_seen_through(self, antecedent: Mask) -> bool:
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
