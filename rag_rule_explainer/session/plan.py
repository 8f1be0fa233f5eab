"""A miner that was chosen, and the limits that come with it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..lattice import Lattice, Mask
from ..mining import (
    Confidence,
    Exhaustive,
    Grouped,
    Miner,
    Mono,
    Partition,
    Partitioned,
    RuleSearch,
    Sampled,
    Transversal,
    Verifying,
)
from ..probing.limits import Limits
from ..rules import RuleKind
from ..settings import Settings
from ..verdicts import Verdict

MOST_AGAIN = 8
"""Replays that are made again at the end, at most, where an application holds something else by then."""
MOST_REWOUND = 6
"""Replays that are made with what the application held before the baseline, at most, for the same
reason."""


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """A miner that was chosen: its name, why, and the limits that come with it.

    ``share``: the confidence that its rules have at least; ``sampled``: how they are tested, where they
    are not mined exactly; ``samples``: answers to a subset at the most; ``pinned``: how many sources are
    retained with every subset; ``partitions``: what groups are to begin with; ``partition``: how the
    ``batches`` are mined, where each is by itself, and in how many ``ways`` the others are held;
    ``antecedent``: of the one rule to verify, where no
    others are looked for.
    """

    name: str
    reason: str
    limits: Limits
    share: float = 1.0
    samples: int = 1
    sampled: Sampled | None = None
    pinned: int = 0
    antecedent: Mask | None = None
    partitions: tuple[tuple[Mask, ...], ...] = ()
    partition: Partition | None = None
    batches: tuple[Mask, ...] = ()
    ways: int = 1

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """The miner of one kind of rule."""
        if self.antecedent is not None:
            return Verifying(kind, self.antecedent, self.sampled, settings.seed, self.pinned)
        if self.sampled is not None:
            return Transversal(kind, self.sampled, settings.seed, len(settings.kinds), self.pinned)
        if self.name == "grouped":
            return Grouped(kind, self.partitions, seed=settings.seed, kinds=len(settings.kinds))
        if self.partition is not None:
            return Partitioned(kind, self.batches, self.partition.held(kind), settings.minimal)
        if self.name == "confidence":
            return Confidence(kind, self.share, settings.minimal)
        exhaustive = self.name == "exhaustive"
        return Exhaustive(kind, settings.minimal) if exhaustive else Mono(kind, settings.minimal)

    @property
    def sees_everything(self) -> bool:
        """Whether it looks at every subset that matters."""
        return self.name not in {"sampled", "grouped", "partitioned"}

    @property
    def finds_all(self) -> bool:
        """Whether its rules are all there are when it has ended."""
        return self.name not in {"grouped", "partitioned"}

    def search(
        self,
        kind: RuleKind,
        lattice: Lattice,
        settings: Settings,
        known: Mapping[Mask, Verdict] | None = None,
    ) -> RuleSearch:
        """A search for the rules of one kind; ``known``: verdicts that are not asked for again."""
        # Who asks for everything at once has nothing left to guess.
        speculate = settings.speculate if self.name == "exact" else 0.0
        return RuleSearch(self.miner(kind, settings), lattice, known=known, speculate=speculate)

    def worst_case(self, sources: int) -> int:
        """Most replays it can come to, but for retries: every subset, the baseline, the repeat check."""
        cap = self.limits.replays
        return self.everything(sources) if cap is None else min(self.everything(sources), cap)

    def everything(self, sources: int) -> int:
        """What that is without a cap."""
        return self.subsets(sources) * self.samples + 2

    def subsets(self, sources: int) -> int:
        """Most subsets of so many sources that it can look at."""
        subsets = 1 << (sources - (self.antecedent or 0).bit_count())
        if self.batches:
            # The one with nothing of any of them but what is held is common to all.
            within = 1 + sum((1 << batch.bit_count()) - 1 for batch in self.batches)
            subsets = min(subsets, self.ways * within)
        if self.antecedent is not None and self.sampled is not None:
            subsets = min(subsets, 1 + self.sampled.draws(self.sampled.error(0)))
        return subsets
