"""This module provides the partition of the paper on which this package is based: it divides the sources
into batches and mines each batch separately.

While one batch is mined, the sources of all other batches are either omitted or retained. Usually they
are not part of any antecedent: they are omitted while retention rules are mined, and retained while
omission rules are mined. With the opposite setting they are part of every antecedent. A rule is then
"whenever S and all other batches are retained", which says nothing about S alone.

The cost is the sum of the costs of the batches, so it does not grow with 2^n for n sources. Rules that
name sources of two batches are not found.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..lattice import FAMILY_LIMIT, Antecedent, Lattice, Mask, Subset, bits, smallest_first, subset_count
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .mono import Mono
from .partition import Others, as_unnamed
from .protocol import Ask, Mining, Verdicts, Wanted


@dataclass(frozen=True, slots=True)
class Partitioned:
    """This miner finds the minimal rules of one kind within each batch of units (sources, or groups of
    tied ones). Its rules are *relative* to the batch.

    ``batches``: disjoint masks that together contain all units, with at most ``FAMILY_LIMIT`` units each.
    ``others``: "omitted" or "retained", as all other batches are while one batch is mined. ``minimal``:
    False to find all valid rules.
    """

    kind: RuleKind
    batches: tuple[Mask, ...]
    others: Others
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new search over the subsets of ``lattice``."""
        return _Search(self, lattice).run()


@dataclass(slots=True)
class _Batch:
    """A _Batch mines one batch by a miner on a small lattice, which has only the units of the batch.

    ``mask``: the units of the batch. ``others``: the units of all other batches if they are retained; 0
    if they are omitted. ``rank``: a number that is added to the ranks of all asks, so that earlier
    batches come first.
    """

    kind: RuleKind
    mask: Mask
    others: Mask
    rank: int
    minimal: bool
    places: tuple[Mask, ...] = field(init=False)
    mining: Mining = field(init=False)
    wanted: Wanted = field(init=False)

    def __post_init__(self) -> None:
        self.places = tuple(bits(self.mask))
        self.mining = Mono(self.kind, self.minimal)(Lattice(len(self.places)))
        self.wanted = next(self.mining)

    def spread(self, own: Mask) -> Mask:
        """Converts ``own``, a mask over the units of this batch alone, to a mask over all units."""
        return sum(bit for place, bit in enumerate(self.places) if own >> place & 1)

    def asks(self) -> list[tuple[Ask, Subset]]:
        """Returns the asks (requests for verdicts) of the batch's miner. Each is paired with its key in
        the small lattice; the ask itself is for a subset of all units."""
        return [
            (Ask(Subset(self.spread(ask.key) | self.others), self.rank + ask.rank), ask.key)
            for ask in self.wanted.asks
        ]

    def tell(self, verdicts: Verdicts) -> None:
        try:
            self.wanted = self.mining.send(verdicts)
        except StopIteration:
            self.wanted = Wanted((), self.wanted.claims)

    def rules(self) -> list[tuple[Mask, int]]:
        """Returns the sets of units that make rules in this batch, each with the number of subsets of
        the batch on which the rule was seen to hold."""
        size = len(self.places)
        return [
            (self.spread(claim.antecedent), 1 << (size - claim.antecedent.bit_count()))
            for claim in self.wanted.claims()
        ]


class _Search:
    def __init__(self, miner: Partitioned, lattice: Lattice) -> None:
        self.miner, self.lattice, self.kind = miner, lattice, miner.kind
        self.flip = miner.kind.flip(lattice)
        self.seen: dict[Subset, Verdict] = {}
        # This dict has, for each subset without a verdict, the batches that wait for the verdict, each
        # with the key of the subset in the batch's small lattice. Several batches may wait for the same
        # subset, such as the subset without sources.
        self.waiting = defaultdict[Subset, list[tuple[int, Subset]]](list)
        retained = miner.others == "retained"
        self.batches = [
            _Batch(
                self.kind,
                batch,
                lattice.complement(batch) if retained else 0,
                place << FAMILY_LIMIT,
                miner.minimal,
            )
            for place, batch in enumerate(miner.batches)
        ]

    def run(self) -> Mining:
        asks = self.missing(range(len(self.batches)))
        while self.waiting:
            verdicts = yield Wanted(asks, self.claims)
            self.seen.update(verdicts)
            asks = self.missing(self.pass_on(verdicts))
        return self.claims()

    def pass_on(self, verdicts: Verdicts) -> Iterable[int]:
        """Sends each verdict to the batches that wait for it. Returns the numbers of these batches."""
        own = defaultdict[int, dict[Subset, Verdict]](dict)
        for mask in verdicts:
            for place, ask in self.waiting.pop(mask, ()):
                own[place][ask] = verdicts[mask]
        for place, known in own.items():
            self.batches[place].tell(known)
        return own

    def missing(self, places: Iterable[int]) -> tuple[Ask, ...]:
        """Returns those asks (requests for verdicts) of these batches whose verdicts are not known. All
        known verdicts are sent to the batches first. ``places``: the numbers of the batches."""
        asks = dict[Subset, Ask]()
        for place in places:
            while known := self.known(place, asks):
                self.batches[place].tell(known)
        return tuple(asks.values())

    def known(self, place: int, asks: dict[Subset, Ask]) -> dict[Subset, Verdict]:
        """Returns the known verdicts on the asks (requests for verdicts) of the batch with the number
        ``place``. Records in ``waiting`` that the batch waits for the verdicts on its other asks. Adds to
        ``asks`` those for which no batch waited before."""
        known = dict[Subset, Verdict]()
        for ask, own in self.batches[place].asks():
            if ask.key in self.seen:
                known[own] = self.seen[ask.key]
                continue
            if ask.key not in self.waiting:
                asks[ask.key] = ask
            self.waiting[ask.key].append((place, own))
        return known

    def claims(self) -> tuple[Claim, ...]:
        # The rule that names no unit can be found in every batch. So rules are collected by the units
        # that they name, and this rule is claimed only once.
        found = defaultdict[Mask, list[tuple[_Batch, int]]](list)
        for batch in self.batches:
            for antecedent, subsets in batch.rules():
                found[antecedent].append((batch, subsets))
        if self.others_are_unnamed and self.is_broken(0):
            # The rule with the empty antecedent is about all subsets of the sources. This rule was found
            # in one batch, but a verdict in another batch breaks it, so the rule is dropped.
            found.pop(0, None)
        return tuple(self.claim(rule, found[rule]) for rule in sorted(found, key=smallest_first))

    def claim(self, antecedent: Mask, held: Sequence[tuple[_Batch, int]]) -> Claim:
        """Returns the claim for a rule. ``held``: the batches in which the rule was found, each with the
        number of subsets on which the rule was seen to hold."""
        (first, subsets), more = held[0], len(held) - 1
        others = "left out" if self.miner.others == "omitted" else "retained"
        sampling = f"held on {_all(subsets)}, with the sources of all other batches {others}"
        if more:
            sampling += f"; and so within {more} other batch{'es' * (more > 1)}"
        tried = (Antecedent(antecedent | self.lattice.complement(batch.mask)) for batch, _ in held)
        return Claim(
            self.kind,
            Antecedent(antecedent),
            "relative",
            sampling=sampling,
            kept=first.mask,
            tried=() if self.others_are_unnamed else tuple(tried),
        )

    @property
    def others_are_unnamed(self) -> bool:
        """Returns True if the units of all other batches are in none of the antecedents that are probed
        while one batch is mined. Returns False if the units are in each of these antecedents."""
        return self.miner.others == as_unnamed(self.kind)

    def is_broken(self, antecedent: Mask) -> bool:
        return any(
            verdict is Verdict.BREAKS and (mask ^ self.flip) & antecedent == antecedent
            for mask, verdict in self.seen.items()
        )


def _all(subsets: int) -> str:
    return f"all {subset_count(subsets)} subsets" if subsets > 1 else "the only subset"
