"""One rule, tried where it speaks: on all subsets, or on random ones, up to the first that breaks it."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from ..lattice import Antecedent, Lattice, Mask, Subset
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Verdicts, Wanted
from .sampled import Draws, Sampled

NO_OTHER = "one rule was asked about, and no other was looked for"
"""Why the search stops although there may be more rules."""


@dataclass(frozen=True, slots=True)
class Verifying:
    """Whether ``antecedent`` makes a rule; nothing is said of any other, nor that it is minimal.

    Its own subset is asked for first and alone, then all others together; after the first that breaks,
    nothing more. ``sampled``: how random ones are drawn, where not all are tried; ``pinned``: how many
    sources are retained with every subset. As there may be other rules it never finishes, but stops.
    """

    kind: RuleKind
    antecedent: Mask
    sampled: Sampled | None = None
    seed: int = 0
    pinned: int = 0

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Returns a fresh trial over ``lattice``."""
        return _Trial(self, lattice).run()

    def supersets(self, lattice: Lattice) -> tuple[Sequence[Mask], str]:
        """Returns the antecedents to try, with repetition where they are drawn, and what that
        guarantees."""
        if self.sampled is None:
            return list(lattice.supersets(self.antecedent)), ""
        draws = Draws(self.kind, lattice, self.antecedent, self.sampled.sizes or (), self.pinned)
        count = self.sampled.draws(self.sampled.error(0))
        # Not what a search has drawn that came up with this rule: that would be no further evidence.
        draw = Random(f"verify {self.seed} {self.kind.value} {self.antecedent}")  # noqa: S311 -- reproducible
        return list(draws.supersets(count, draw)), self.sampled.statement(count, draws)


class _Trial:
    """Speaks of antecedents; the flip to concrete subsets is made where it asks."""

    def __init__(self, miner: Verifying, lattice: Lattice) -> None:
        self.lattice, self.kind, self.own = lattice, miner.kind, Antecedent(miner.antecedent)
        self.flip = miner.kind.flip(lattice)
        self.supersets, self.statement = miner.supersets(lattice)
        self.held = 0
        self.own_held = self.broken = self.unknown = self.tried = False

    def run(self) -> Mining:
        yield from self.learn([Ask(Subset(self.own ^ self.flip), 0, crucial=True)])
        others = sorted({*self.supersets} - {self.own}, key=self.likely_to_break)
        yield from self.learn(
            [Ask(Subset(mask ^ self.flip), rank) for rank, mask in enumerate(others, 1)]
        )
        self.tried = True
        while True:  # what was in flight when it broke is told still
            self.learned((yield Wanted((), self.claims, NO_OTHER)))

    def learn(self, asks: Iterable[Ask]) -> Generator[Wanted, Verdicts, None]:
        """Waits for these, or for one that breaks."""
        asks = tuple(asks)
        missing = len(asks)
        while missing and not self.broken:
            verdicts = yield Wanted(asks, self.claims)
            missing, asks = missing - len(verdicts), ()
            self.learned(verdicts)

    def learned(self, verdicts: Verdicts) -> None:
        for mask, verdict in verdicts.items():
            self.held += verdict is Verdict.HOLDS
            self.broken |= verdict is Verdict.BREAKS
            self.unknown |= verdict is Verdict.UNKNOWN
            self.own_held |= mask ^ self.flip == self.own and verdict is Verdict.HOLDS

    def likely_to_break(self, mask: Mask) -> tuple[int, Mask]:
        """From both ends inwards: one more source undoes a rule sooner than a random half of them."""
        left_out = self.lattice.complement(mask)
        added, rest = (mask ^ self.own).bit_count(), left_out.bit_count()
        # Then in counting order: consecutive prompts share what they can.
        return min(added, rest), left_out

    def claims(self) -> tuple[Claim, ...]:
        if self.broken or not self.own_held:
            return ()
        if self.held == 1 << (self.lattice.size - self.own.bit_count()):
            return (Claim(self.kind, self.own, "proved"),)
        if self.tried and self.statement and not self.unknown:
            return (Claim(self.kind, self.own, "tested", len(self.supersets), self.statement),)
        return (Claim(self.kind, self.own, "unverified"),)
