"""The paper's partition: rules within batches of sources, each batch mined by itself.

While one batch is mined, the sources of all others are held out, or held in. Held where a rule leaves
what it does not name (others left out for retention rules, retained for omission rules), they are in no
antecedent. Held the other way, they are in every one: "whenever S is retained" is then only known to hold
with all of the other batches retained as well.

It takes what mining each batch takes, so its cost grows with the number of batches and not with 2^n; a
rule that names sources of two batches is not looked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from ..errors import InvalidInput
from ..lattice import FAMILY_LIMIT, Antecedent, Lattice, Mask, Subset, bits, smallest_first, subset_count
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .mono import Mono
from .protocol import Ask, Mining, Verdicts, Wanted

Others: TypeAlias = Literal["omitted", "retained"]

BATCH = 7
"""Sources of a batch where nothing else is said: at most 128 probes for each kind of rule."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Mine rules separately per batch of sources (paper, on many sources).

    ``by``: how many sources a batch has at most, in the order in which they are shown, as evenly as
    can be; or a key of their metadata, the sources with the same value being a batch. ``others``: whether
    the sources of the other batches are "omitted" or "retained" meanwhile; None omits them for retention
    rules and retains them for omission rules, so that a rule is one of all sources where more of the same
    cannot spoil it.

    Raises InvalidInput for a value outside of these.
    """

    by: int | str = BATCH
    others: Others | None = None

    def __post_init__(self) -> None:
        if not (type(self.by) is int and 1 <= self.by <= FAMILY_LIMIT) and not (
            isinstance(self.by, str) and self.by
        ):
            raise InvalidInput(
                f"partition is by {self.by!r}; give a number of sources from 1 to {FAMILY_LIMIT}, or a "
                "key of their metadata, such as 'document'"
            )
        if self.others not in (*get_args(Others), None):
            raise InvalidInput(f"others is {self.others!r}; give 'omitted', 'retained' or None")

    @classmethod
    def of(cls, given: "Partition | int | str | None") -> "Partition | None":
        """Returns what is meant: a partition, or what it is by. Raises InvalidInput for anything else."""
        return given if given is None or isinstance(given, cls) else cls(given)  # type: ignore[arg-type]

    def held(self, kind: RuleKind) -> Others:
        """Returns what is done with the sources of the other batches while rules of this kind are
        mined."""
        return self.others or _as_unnamed(kind)


@dataclass(frozen=True, slots=True)
class Partitioned:
    """This class represents the minimal rules of one kind within each batch, each *relative* to it;
    ``minimal=False``: all valid ones. ``batches``: all units, as disjoint masks, each of at most
    ``FAMILY_LIMIT``."""

    kind: RuleKind
    batches: tuple[Mask, ...]
    others: Others
    minimal: bool = True

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Returns a fresh search of ``lattice``."""
        return _Search(self, lattice).run()


@dataclass(slots=True)
class _Batch:
    """One of them: a miner of its own lattice. ``rank``: what its asks come after."""

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
        """Returns a subset of its own lattice as one of all units."""
        return sum(bit for place, bit in enumerate(self.places) if own >> place & 1)

    def asks(self) -> list[tuple[Ask, Subset]]:
        """Returns what it wants to know, as it is asked for, and as it asks itself."""
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
        """Returns the antecedents of its rules, and on how many subsets each was seen to hold."""
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
        # Which batches wait for a subset, and as which of their own: all of them share one with none
        # retained, or with all.
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
        asks = self.asked(range(len(self.batches)))
        while self.waiting:
            verdicts = yield Wanted(asks, self.claims)
            self.seen.update(verdicts)
            asks = self.asked(self.told(verdicts))
        return self.claims()

    def told(self, verdicts: Verdicts) -> Iterable[int]:
        """Passes verdicts on; the batches that have heard of any."""
        own = defaultdict[int, dict[Subset, Verdict]](dict)
        for mask in verdicts:
            for place, ask in self.waiting.pop(mask, ()):
                own[place][ask] = verdicts[mask]
        for place, known in own.items():
            self.batches[place].tell(known)
        return own

    def asked(self, places: Iterable[int]) -> tuple[Ask, ...]:
        """Returns what these batches want and nobody knows; what another one knows, they are told."""
        asks = dict[Subset, Ask]()
        for place in places:
            while known := self.known(place, asks):
                self.batches[place].tell(known)
        return tuple(asks.values())

    def known(self, place: int, asks: dict[Subset, Ask]) -> dict[Subset, Verdict]:
        """Of what a batch wants, the verdicts there are; the rest it waits for."""
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
        # What needs nothing of its batch is one rule, however many batches it is found in.
        found = defaultdict[Mask, list[tuple[_Batch, int]]](list)
        for batch in self.batches:
            for antecedent, subsets in batch.rules():
                found[antecedent].append((batch, subsets))
        if self.is_apart and self.is_broken(0):
            # It would say of all sources what another batch was seen to break.
            found.pop(0, None)
        return tuple(self.claim(rule, found[rule]) for rule in sorted(found, key=smallest_first))

    def claim(self, antecedent: Mask, held: Sequence[tuple[_Batch, int]]) -> Claim:
        """``held``: the batches that it was found in, and on how many subsets of each."""
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
            tried=() if self.is_apart else tuple(tried),
        )

    @property
    def is_apart(self) -> bool:
        """Returns whether the other batches are in no antecedent that is tried; else they are in each."""
        return self.miner.others == _as_unnamed(self.kind)

    def is_broken(self, antecedent: Mask) -> bool:
        return any(
            verdict is Verdict.BREAKS and (mask ^ self.flip) & antecedent == antecedent
            for mask, verdict in self.seen.items()
        )


def _as_unnamed(kind: RuleKind) -> Others:
    """Returns what a rule's own subset does with the sources that it does not name."""
    return "omitted" if kind is RuleKind.RETENTION else "retained"


def _all(subsets: int) -> str:
    return f"all {subset_count(subsets)} subsets" if subsets > 1 else "the only subset"
