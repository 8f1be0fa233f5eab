"""How rules are mined: a method that was chosen, why, and the limits that come with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ..lattice import Lattice, Mask, Subset
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
    Speculation,
    Transversal,
    Verifying,
)
from ..probing.limits import Limits
from ..rules import RuleKind
from ..settings import Settings
from ..verdicts import Verdict

MOST_AGAIN = 8
"""Replays that are made again at the end, at most, where an application holds something else by then."""
MOST_REWOUND = 7
"""Replays that are made with what the application held before the baseline, at most, for the same
reason."""


@dataclass(frozen=True, slots=True)
class Method:
    """What all methods can say of themselves; this one looks at every subset that matters.

    ``sees_everything``: whether it looks at every subset that matters. ``finds_all``: whether its rules
    are all there are when it has ended. ``guesses``: whether idle slots may be filled with guesses.
    """

    name: ClassVar[str]
    sees_everything: ClassVar[bool] = True
    finds_all: ClassVar[bool] = True
    guesses: ClassVar[bool] = False

    def subsets(self, sources: int) -> int:
        """Most subsets of so many sources that it can look at."""
        return 1 << sources


@dataclass(frozen=True, slots=True)
class Exactly(Method):
    """This class represents the paper's miners."""

    name = "exact"
    guesses = True

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Mono(kind, settings.minimal)


@dataclass(frozen=True, slots=True)
class Exhaustively(Method):
    """Every subset."""

    name = "exhaustive"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Exhaustive(kind, settings.minimal)


@dataclass(frozen=True, slots=True)
class WithConfidence(Method):
    """Rules that hold on a ``share`` of the subsets at least."""

    share: float
    name = "confidence"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Confidence(kind, self.share, settings.minimal)


@dataclass(frozen=True, slots=True)
class BySamples(Method):
    """Rules that are tested on random subsets; ``pinned``: how many sources are retained with each."""

    sampled: Sampled
    pinned: int
    name = "sampled"
    sees_everything = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Transversal(kind, self.sampled, settings.seed, len(settings.kinds), self.pinned)


@dataclass(frozen=True, slots=True)
class ByGroups(Method):
    """Groups of sources, of which those that rules name are divided; ``partitions``: what groups are to
    begin with."""

    partitions: tuple[tuple[Mask, ...], ...]
    name = "grouped"
    sees_everything = False
    finds_all = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Grouped(kind, self.partitions, seed=settings.seed, kinds=len(settings.kinds))


@dataclass(frozen=True, slots=True)
class ByBatches(Method):
    """Batches of sources, each mined by itself while the others are held, in so many ``ways``."""

    partition: Partition
    batches: tuple[Mask, ...]
    ways: int
    name = "partitioned"
    sees_everything = False
    finds_all = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Partitioned(kind, self.batches, self.partition.held(kind), settings.minimal)

    def subsets(self, sources: int) -> int:
        """Most subsets of so many sources that it can look at."""
        # The one with nothing of any of them but what is held is common to all.
        within = 1 + sum((1 << batch.bit_count()) - 1 for batch in self.batches)
        return min(1 << sources, self.ways * within)


@dataclass(frozen=True, slots=True)
class OneRule(Method):
    """One rule, by its ``antecedent``, and no others; on random subsets where it is ``sampled``, with so
    many sources ``pinned``."""

    antecedent: Mask
    sampled: Sampled | None = None
    pinned: int = 0
    name = "verify"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Verifying(kind, self.antecedent, self.sampled, settings.seed, self.pinned)

    def subsets(self, sources: int) -> int:
        """Most subsets of so many sources that it can look at."""
        subsets = 1 << (sources - self.antecedent.bit_count())
        drawn = subsets if self.sampled is None else 1 + self.sampled.draws(self.sampled.error(0))
        return min(subsets, drawn)


AnyMethod: TypeAlias = (
    Exactly | Exhaustively | WithConfidence | BySamples | ByGroups | ByBatches | OneRule
)


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """This class represents a method, why it was chosen, and what it may spend.

    ``limits``: those that hold; what the settings say is what was wished. ``samples``: answers to a
    subset at the most.
    """

    method: AnyMethod
    reason: str
    limits: Limits
    samples: int = 1

    @property
    def name(self) -> str:
        """Returns the method's name, as it stands in an explanation."""
        return self.method.name

    def search(
        self,
        kind: RuleKind,
        lattice: Lattice,
        settings: Settings,
        known: Mapping[Subset, Verdict] | None = None,
    ) -> RuleSearch:
        """Returns a search for the rules of one kind; ``known``: verdicts that are not asked for
        again."""
        # Who asks for everything at once has nothing left to guess.
        share = settings.speculate if self.method.guesses else 0.0
        guesses = Speculation(kind, lattice, share) if share else None
        return RuleSearch(self.method.miner(kind, settings), lattice, known=known, guesses=guesses)

    def worst_case(self, sources: int) -> int:
        """Most replays it can come to, but for retries: every subset, the baseline, the repeat check."""
        cap = self.limits.replays
        return self.everything(sources) if cap is None else min(self.everything(sources), cap)

    def everything(self, sources: int) -> int:
        """Returns what that is without a cap."""
        return self.method.subsets(sources) * self.samples + 2
