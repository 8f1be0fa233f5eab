"""This module tests one rule on all its applicable subsets, or on random ones, until one of them breaks
it."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from ..lattice import Antecedent, Lattice, Mask, Subset
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Verdicts, Wanted
from .sampled import Draws, Sampled

NO_OTHER = "one rule was asked about, and no other was looked for"
"""The reason why the search stops although there may be more rules."""


@dataclass(frozen=True, slots=True)
class Verifying:
    """Verifying tests whether ``antecedent`` is a rule; it claims nothing on other rules, nor that it is
    minimal.

    Its own subset is requested first and alone, then all others together; after the first BREAKS, nothing
    more. ``sampled``: how random subsets are drawn; None tries all. ``pinned``: the number of sources
    that are retained in every subset. The search stops instead of finishing, since other rules may exist.
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
        """Returns the antecedents to try, with repetition if they are drawn, and the guarantee in
        words."""
        if self.sampled is None:
            return list(lattice.supersets(self.antecedent)), ""
        draws = Draws(self.kind, lattice, self.antecedent, self.sampled.sizes or (), self.pinned)
        count = self.sampled.draws(self.sampled.error(0))
        # A seed of its own: the draws of the search that found this rule would be no new evidence.
        draw = Random(f"verify {self.seed} {self.kind.value} {self.antecedent}")  # noqa: S311 -- reproducible
        return list(draws.supersets(count, draw)), self.sampled.statement(count, draws)


class _Trial:
    """A _Trial works on antecedents; only its asks are flipped to concrete subsets."""

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
        while True:  # verdicts of probes that were in flight still arrive
            self.learned((yield Wanted((), self.claims, NO_OTHER)))

    def learn(self, asks: Iterable[Ask]) -> Generator[Wanted, Verdicts, None]:
        """Waits for the verdicts on these asks, or for the first BREAKS."""
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
        """Returns a sort key that puts both ends first: one more source breaks a rule more often than
        random halves."""
        left_out = self.lattice.complement(mask)
        added, rest = (mask ^ self.own).bit_count(), left_out.bit_count()
        # Counting order comes second: consecutive prompts then share a long prefix.
        return min(added, rest), left_out

    def claims(self) -> tuple[Claim, ...]:
        if self.broken or not self.own_held:
            return ()
        if self.held == 1 << (self.lattice.size - self.own.bit_count()):
            return (Claim(self.kind, self.own, "proved"),)
        if self.tried and self.statement and not self.unknown:
            return (Claim(self.kind, self.own, "tested", len(self.supersets), self.statement),)
        return (Claim(self.kind, self.own, "unverified"),)
