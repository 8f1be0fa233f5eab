"""This module tests one rule until a subset breaks the rule. It tries all subsets to which the rule
applies, or a random selection of them."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from ..lattice import Antecedent, Lattice, Mask, Subset
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Mining, Verdicts, Wanted
from .sampled import Draws, Sampled

NO_OTHER = "one rule was asked about, and no other was looked for"
"""The reason with which a test of one rule always ends. The test looks for no other rules, so it is never
a complete search."""


@dataclass(frozen=True, slots=True)
class Verifying:
    """This miner tests whether ``antecedent`` is a rule. It finds no other rules, and does not test
    whether this rule is minimal.

    The own subset of the rule (only its sources retained, or omitted) is requested first. If its verdict
    is not BREAKS, all other subsets are then requested together. The test ends at the first verdict
    BREAKS. ``sampled``: the settings for random subsets; None to test all subsets. ``pinned``: the number
    of sources that are retained in every subset. ``missed``: the chance that a subset that breaks the
    condition is judged to hold. The search always stops with a reason and is never complete, because
    there may be other rules.
    """

    kind: RuleKind
    antecedent: Mask
    sampled: Sampled | None = None
    seed: int = 0
    pinned: int = 0
    missed: float = 0.0

    def __call__(self, lattice: Lattice, /) -> Mining:
        """Starts a new test over the subsets of ``lattice``."""
        return _Trial(self, lattice).run()

    def supersets(self, lattice: Lattice) -> tuple[Sequence[Mask], str]:
        """Returns the sets of units on which the rule is tested, and the statistical guarantee in words.
        Each set contains all units that the rule names. In a test, exactly the units of one set are
        retained (for an omission rule: omitted).

        If the sets are drawn at random, some sets may occur more than once. If the result has all
        possible sets, the guarantee is empty.
        """
        if self.sampled is None:
            return list(lattice.supersets(self.antecedent)), ""
        draws = Draws(self.kind, lattice, self.antecedent, self.sampled.sizes or (), self.pinned)
        count = self.sampled.draws(self.sampled.error(0), self.missed)
        # The search that found this rule may have used the same seed. With this seed, the same subsets
        # would be drawn again, and they are no new evidence. So the word "verify" is added to the seed.
        draw = Random(f"verify {self.seed} {self.kind.value} {self.antecedent}")  # noqa: S311 -- the draws must be reproducible, not secret
        return list(draws.supersets(count, draw)), self.sampled.statement(count, draws)


class _Trial:
    """A ``_Trial`` is one test of the rule. It works with the masks of antecedents. Its requests for
    verdicts use masks of retained sources: XOR with ``flip`` turns an antecedent into such a mask."""

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
        while True:  # probes may still be running; their verdicts arrive here
            self.learned((yield Wanted((), self.claims, NO_OTHER)))

    def learn(self, asks: Iterable[Ask]) -> Generator[Wanted, Verdicts, None]:
        """Requests the verdicts on these subsets, and waits until all of them have arrived or one of them
        is BREAKS."""
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
        """Returns a sort key that puts those subsets first that are likely to break the rule: subsets
        that retain (for an omission rule: omit) only few units more than the rule names, and subsets that
        retain (or omit) nearly all units."""
        left_out = self.lattice.complement(mask)
        added, rest = (mask ^ self.own).bit_count(), left_out.bit_count()
        # Antecedents that are equally likely to break the rule are sorted by ``left_out``. Consecutive
        # prompts then have a long common prefix, which providers may cache.
        return min(added, rest), left_out

    def claims(self) -> tuple[Claim, ...]:
        if self.broken or not self.own_held:
            return ()
        if self.held == 1 << (self.lattice.size - self.own.bit_count()):
            return (Claim(self.kind, self.own, "proved"),)
        if self.tried and self.statement and not self.unknown:
            return (Claim(self.kind, self.own, "tested", len(self.supersets), self.statement),)
        return (Claim(self.kind, self.own, "unverified"),)
