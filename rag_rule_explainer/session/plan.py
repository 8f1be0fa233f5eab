"""This module defines the methods of searching for rules (mining). A plan consists of a method, the
reason for choosing it, and its limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from ..lattice import Lattice, Mask
from ..mining import (
    Confidence,
    Exhaustive,
    Grouped,
    Miner,
    Mono,
    Partition,
    Partitioned,
    Quick,
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
"""The largest number of replays that are repeated after the application's state was set back to the state
before the baseline. If that state may depend on the sources, subsets that prove rules are repeated beyond
this limit."""
MOST_PROMOTING = 8
"""The largest number of replays, after the searches, that test whether sources that the model did not see
in the baseline reach it when some of the other sources are omitted."""


@dataclass(frozen=True, slots=True)
class Method:
    """A Method is one way to mine rules.

    ``sees_everything``: True if the method probes every subset whose verdict can change the rules.
    ``finds_all``: True if it has found all rules when it has finished. ``guesses``: True if free slots
    for replays may be used to probe subsets that the method will probably request later.
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
    """This method finds all rules by the miners of the paper on which this package is based. The miners
    skip subsets whose verdict cannot change the rules."""

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
    """This method finds rules that hold on at least a ``share`` of the subsets to which they apply."""

    share: float
    name = "confidence"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Confidence(kind, self.share, settings.minimal)


@dataclass(frozen=True, slots=True)
class BySamples(Method):
    """This method tests rules on random subsets. ``sampled``: its settings. ``pinned``: the number of
    sources that are always retained. ``missed``: the chance that a subset that breaks the condition is
    judged to hold."""

    sampled: Sampled
    pinned: int
    missed: float = 0.0
    name = "sampled"
    sees_everything = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Transversal(
            kind, self.sampled, settings.seed, len(settings.kinds), self.pinned, self.missed
        )


@dataclass(frozen=True, slots=True)
class ByBisection(BySamples):
    """This method finds rules by bisection before it tests them on random subsets."""

    name = "quick"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        kinds = len(settings.kinds)
        return Quick(kind, self.sampled, settings.seed, kinds, self.pinned, self.missed)


@dataclass(frozen=True, slots=True)
class ByGroups(Method):
    """This method first mines rules about groups of sources, and then divides the groups that are in
    rules.

    ``partitions``: ways to divide all sources into groups, the one to begin with first.
    """

    partitions: tuple[tuple[Mask, ...], ...]
    name = "grouped"
    sees_everything = False
    finds_all = False

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Grouped(kind, self.partitions, seed=settings.seed, kinds=len(settings.kinds))


@dataclass(frozen=True, slots=True)
class ByBatches(Method):
    """This method divides the sources into batches and mines each batch separately. Meanwhile, the
    sources of all other batches are either retained or omitted.

    ``ways``: 2 if each batch is mined twice, once with all other batches retained and once with all other
    batches omitted, as is needed for two kinds of rule; otherwise 1.
    """

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
        # A rule without sources is tested on the same subset in all batches, so this subset is counted
        # once.
        within = 1 + sum((1 << batch.bit_count()) - 1 for batch in self.batches)
        return min(1 << sources, self.ways * within)


@dataclass(frozen=True, slots=True)
class OneRule(Method):
    """This method tests one rule. ``antecedent``: the sources of the rule. ``sampled``: the settings to
    test it on random subsets; None to test it on all subsets to which it applies. ``pinned``: the number
    of sources that are always retained. ``missed``: the chance that a subset that breaks the condition is
    judged to hold."""

    antecedent: Mask
    sampled: Sampled | None = None
    pinned: int = 0
    missed: float = 0.0
    name = "verify"

    def miner(self, kind: RuleKind, settings: Settings) -> Miner:
        """Returns the miner of one kind of rule."""
        return Verifying(kind, self.antecedent, self.sampled, settings.seed, self.pinned, self.missed)

    def subsets(self, sources: int) -> int:
        """Returns the largest number of subsets of this many sources that the method probes."""
        subsets = 1 << (sources - self.antecedent.bit_count())
        drawn = subsets if self.sampled is None else 1 + self.drawn
        return min(subsets, drawn)

    @property
    def drawn(self) -> int:
        """Returns the number of random subsets that are drawn; 0 if all are tested."""
        sampled = self.sampled
        return 0 if sampled is None else sampled.draws(sampled.error(0), self.missed)


AnyMethod: TypeAlias = (
    Exactly | Exhaustively | WithConfidence | BySamples | ByGroups | ByBatches | OneRule
)


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """A MiningPlan holds the method of a search, the reason for this method, and the limits. ``limits``:
    the limits that apply, which may be stricter than the limits in the settings. ``samples``: the largest
    number of answers that are drawn on one subset."""

    method: AnyMethod
    reason: str
    limits: Limits
    samples: int = 1

    @property
    def name(self) -> str:
        """Returns the name of the method in an explanation."""
        return self.method.name

    def search(
        self,
        kind: RuleKind,
        lattice: Lattice,
        settings: Settings,
        known: Mapping[Any, Verdict] | None = None,
    ) -> RuleSearch:
        """Returns a search for the rules of one kind. ``known``: verdicts that are known already, so the
        search does not request them; None if there are none."""
        # A method that requests all its subsets at once keeps all slots for replays busy. So no subsets
        # are probed in advance.
        share = settings.speculate if self.method.guesses else 0.0
        guesses = Speculation(kind, lattice, share) if share else None
        return RuleSearch(self.method.miner(kind, settings), lattice, known=known, guesses=guesses)

    def worst_case(self, sources: int) -> int:
        """Returns the largest number of replays that this plan can need, without retries. The cap on
        replays is taken into account."""
        cap = self.limits.replays
        return self.everything(sources) if cap is None else min(self.everything(sources), cap)

    def everything(self, sources: int) -> int:
        """Returns the number of replays for all subsets, the baseline and the repeat check (one more
        replay on all sources), without retries and without the cap on replays."""
        return self.method.subsets(sources) * self.samples + 2
