"""This module votes, after searches with votes at the border, on the subsets that their rules depend on.

Such a search samples every subset once, and votes only where that sample breaks the condition. A false
HOLDS may therefore survive on the own subset of a minimal rule, which is voted on before the rule is
printed. If the vote overturns it, the search runs again on the corrected verdicts, and larger antecedents
become candidates.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..lattice import Antecedent, Subset
from ..probing.noise import Noise
from ..rules import RuleKind
from ..settings import Settings
from ..sources import SourceSet
from ..verdicts import Verdict
from .plan import MiningPlan
from .tracked_search import TrackedSearch


@dataclass(slots=True, repr=False)
class VoteConfirmation:
    """A VoteConfirmation finds the subsets that must still be voted on."""

    sources: SourceSet
    settings: Settings
    plan: MiningPlan
    _rechecked: set[tuple[RuleKind, Antecedent]] = field(default_factory=set[tuple[RuleKind, Antecedent]])

    @property
    def _noise(self) -> Noise:
        return self.settings.noise

    def wanted(self, tracked_searches: Iterable[TrackedSearch]) -> list[tuple[TrackedSearch, Subset]]:
        """Returns the subsets to vote on now: the rules' own ones, and after these, random ones above the
        rules."""
        tracked_searches = tuple(tracked_searches)
        own = [(tracked, mask) for tracked in tracked_searches for mask in self._own(tracked)]
        return own or [(tracked, mask) for tracked in tracked_searches for mask in self._above(tracked)]

    def renewed(self, tracked: TrackedSearch) -> TrackedSearch:
        """Returns the search again on the corrected verdicts; the same object if the votes changed
        none."""
        known = tracked.standing()
        if known is None:
            return tracked
        search = self.plan.search(tracked.search.kind, self.sources.lattice, self.settings, known)
        return tracked.with_search(search)

    def _own(self, tracked: TrackedSearch) -> list[Subset]:
        return [mask for mask in tracked.subsets_of_rules() if tracked.voted(mask) is None]

    def _above(self, tracked: TrackedSearch) -> list[Subset]:
        """Returns ``recheck`` random subsets above each rule among those with one sample."""
        search, chosen = tracked.search, set[Subset]()
        flip = search.kind.flip(search.lattice)
        for claim in search.claims if self._noise.recheck else ():
            if (search.kind, claim.antecedent) in self._rechecked:
                continue
            self._rechecked.add((search.kind, claim.antecedent))
            draw = random.Random(f"{self.settings.seed} {search.kind.value} {claim.antecedent}")  # noqa: S311 -- no secret
            once = [
                mask
                for mask, verdict in search.verdicts.items()
                if verdict is Verdict.HOLDS
                and tracked.voted(mask) is None
                and any((mask ^ flip) & own == own for own in claim.hangs_on)
            ]
            chosen.update(draw.sample(sorted(once), min(self._noise.recheck, len(once))))
        return sorted(chosen)
