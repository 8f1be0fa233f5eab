"""This module chooses further subsets to vote on, after a search with ``vote="border"`` or
``vote="sequential"``.

Such a search gets one answer on every subset, and holds a vote only if this answer breaks the condition.
So a minimal rule may depend on a single answer for which the condition holds only by chance. Therefore
there is a vote on the rule's subset before the rule is printed. If the vote changes the verdict, the
search runs once more with the corrected verdicts, and rules that name more sources become candidates.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..lattice import Antecedent, ArrangementKey
from ..probing.noise import Noise
from ..rules import RuleKind
from ..settings import Settings
from ..sources import SourceSet
from .plan import MiningPlan
from .tracked_search import TrackedSearch


@dataclass(slots=True, repr=False)
class VoteConfirmation:
    """A ``VoteConfirmation`` finds the subsets that must still be voted on before rules are printed."""

    sources: SourceSet
    settings: Settings
    plan: MiningPlan
    _rechecked: set[tuple[RuleKind, Antecedent]] = field(default_factory=set[tuple[RuleKind, Antecedent]])

    @property
    def _noise(self) -> Noise:
        return self.settings.noise

    def wanted(
        self, tracked_searches: Iterable[TrackedSearch]
    ) -> list[tuple[TrackedSearch, ArrangementKey]]:
        """Returns the subsets to vote on next, each with its search. First, these are the own subsets of
        the rules: for each rule, the subset with only its sources retained (or omitted). After votes on
        all own subsets, returns random subsets to which the rules apply."""
        tracked_searches = tuple(tracked_searches)
        own = [(tracked, key) for tracked in tracked_searches for key in self._own(tracked)]
        return own or [(tracked, key) for tracked in tracked_searches for key in self._above(tracked)]

    def renewed(self, tracked: TrackedSearch) -> TrackedSearch:
        """Returns a new search that begins with the verdicts after their correction by votes. Returns
        ``tracked`` itself if the votes changed no verdict."""
        known = tracked.standing()
        if known is None:
            return tracked
        search = self.plan.search(tracked.search.kind, self.sources.lattice, self.settings, known)
        return tracked.with_search(search)

    def _own(self, tracked: TrackedSearch) -> list[ArrangementKey]:
        return [key for key in tracked.search.decisive() if tracked.voted(key) is None]

    def _above(self, tracked: TrackedSearch) -> list[ArrangementKey]:
        """Returns random subsets to which the rules apply and for which only one answer was drawn.

        The setting ``recheck`` is the number of subsets for each rule. For a rule that already got its
        subsets, later calls return none.
        """
        search, chosen = tracked.search, set[ArrangementKey]()
        evidence = search.evidence()
        for claim in search.claims if self._noise.recheck else ():
            if (search.kind, claim.antecedent) in self._rechecked:
                continue
            self._rechecked.add((search.kind, claim.antecedent))
            draw = random.Random(f"{self.settings.seed} {search.kind.value} {claim.antecedent}")  # noqa: S311 -- the draws must be reproducible, not secret
            once = [key for key in evidence.holding(claim.hangs_on) if tracked.voted(key) is None]
            chosen.update(draw.sample(sorted(once), min(self._noise.recheck, len(once))))
        return sorted(chosen)
