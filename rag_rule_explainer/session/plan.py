"""This module defines how rules are mined: the methods, and a plan with the reason and the limits."""

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
"""The largest number of replays that are repeated at the end if the application's state has changed."""
MOST_REWOUND = 7
"""The largest number of replays that are repeated with the state from before the baseline."""


@dataclass(frozen=True, slots=True)
class Method:
    """A Method is one way to mine; these defaults are those of a method that probes every relevant
    subset.

    ``sees_everything``: it probes every relevant subset. ``finds_all``: once it has finished, there are
    no other rules. ``guesses``: idle slots may be filled with guesses.
    """

    name: ClassVar[str]
    sees_everything: ClassVar[bool] = True
    finds_all: ClassVar[bool] = True
    guesses: ClassVar[bool] = False

    def subsets(self, sources: int) -> int:
        """Returns the largest number of subsets of this many sources that the method probes."""
        return 1 << sources


@dataclass(frozen=True, slots=True)
class Exactly(Method):
    """This method uses the paper's miners."""

    name = "exact"
    guesses = True

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Mono(kind, settings.minimal)


@dataclass(frozen=True, slots=True)
class Exhaustively(Method):
    """This method probes every subset."""

    name = "exhaustive"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Exhaustive(kind, settings.minimal)


@dataclass(frozen=True, slots=True)
class WithConfidence(Method):
    """This method finds rules that hold on at least a ``share`` of their subsets."""

    share: float
    name = "confidence"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Confidence(kind, self.share, settings.minimal)


@dataclass(frozen=True, slots=True)
class BySamples(Method):
    """This method tests rules on random subsets; ``pinned``: the number of sources that are always
    retained."""

    sampled: Sampled
    pinned: int
    name = "sampled"
    sees_everything = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Transversal(kind, self.sampled, settings.seed, len(settings.kinds), self.pinned)


@dataclass(frozen=True, slots=True)
class ByGroups(Method):
    """This method mines groups of sources and divides those in rules; ``partitions``: the first
    groups."""

    partitions: tuple[tuple[Mask, ...], ...]
    name = "grouped"
    sees_everything = False
    finds_all = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Grouped(kind, self.partitions, seed=settings.seed, kinds=len(settings.kinds))


@dataclass(frozen=True, slots=True)
class ByBatches(Method):
    """This method mines batches of sources separately; ``ways``: the number of states of the other
    batches, 1 or 2."""

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
        """Returns the largest number of subsets of this many sources that the method probes."""
        # All batches share the subset in which none of their sources is in the antecedent.
        within = 1 + sum((1 << batch.bit_count()) - 1 for batch in self.batches)
        return min(1 << sources, self.ways * within)


@dataclass(frozen=True, slots=True)
class OneRule(Method):
    """This method tests one rule, by its ``antecedent``; ``sampled``: on random subsets. ``pinned``: the
    number of sources that are always retained."""

    antecedent: Mask
    sampled: Sampled | None = None
    pinned: int = 0
    name = "verify"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Verifying(kind, self.antecedent, self.sampled, settings.seed, self.pinned)

    def subsets(self, sources: int) -> int:
        """Returns the largest number of subsets of this many sources that the method probes."""
        subsets = 1 << (sources - self.antecedent.bit_count())
        drawn = subsets if self.sampled is None else 1 + self.sampled.draws(self.sampled.error(0))
        return min(subsets, drawn)


AnyMethod: TypeAlias = (
    Exactly | Exhaustively | WithConfidence | BySamples | ByGroups | ByBatches | OneRule
)


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """A MiningPlan holds a method, the reason for it, and its limits. ``limits``: those in force, which
    may be stricter than the settings'. ``samples``: the largest number of answers to one subset."""

    method: AnyMethod
    reason: str
    limits: Limits
    samples: int = 1

    @property
    def name(self) -> str:
        """The name of the method in an explanation."""
        return self.method.name

    def search(
        self,
        kind: RuleKind,
        lattice: Lattice,
        settings: Settings,
        known: Mapping[Subset, Verdict] | None = None,
    ) -> RuleSearch:
        """Returns a search for the rules of one kind; ``known``: verdicts that are not requested
        again."""
        # A method that requests all subsets at once leaves nothing to guess.
        share = settings.speculate if self.method.guesses else 0.0
        guesses = Speculation(kind, lattice, share) if share else None
        return RuleSearch(self.method.miner(kind, settings), lattice, known=known, guesses=guesses)

    def worst_case(self, sources: int) -> int:
        """Returns the largest number of replays without retries: every subset, the baseline and the
        repeat check."""
        cap = self.limits.replays
        return self.everything(sources) if cap is None else min(self.everything(sources), cap)

    def everything(self, sources: int) -> int:
        """Returns the number of ``worst_case`` without the cap on replays."""
        return self.method.subsets(sources) * self.samples + 2
