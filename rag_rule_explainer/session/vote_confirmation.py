"""After border-voted searches: puts to the vote what their rules hang on, until nothing changes.

The searches asked once about every subset but those that said BREAKS. A false HOLDS survives there on the
own subset of a minimal rule, which is therefore put to the vote before the rule is printed; if it falls,
the search is run again on the verdicts that stand, and the rules above it become the candidates.
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
    """What is still to be put to the vote."""

    sources: SourceSet
    settings: Settings
    plan: MiningPlan
    _rechecked: set[tuple[RuleKind, Antecedent]] = field(default_factory=set[tuple[RuleKind, Antecedent]])

    @property
    def _noise(self) -> Noise:
        return self.settings.noise

    def wanted(self, tracked_searches: Iterable[TrackedSearch]) -> list[tuple[TrackedSearch, Subset]]:
        """Returns the subsets to put to the vote now: the own ones of rules, then random ones above
        them."""
        tracked_searches = tuple(tracked_searches)
        own = [(tracked, mask) for tracked in tracked_searches for mask in self._own(tracked)]
        return own or [(tracked, mask) for tracked in tracked_searches for mask in self._above(tracked)]

    def renewed(self, tracked: TrackedSearch) -> TrackedSearch:
        """Returns the same search on the verdicts that stand now; itself where the votes confirmed them
        all."""
        known = tracked.standing()
        if known is None:
            return tracked
        search = self.plan.search(tracked.search.kind, self.sources.lattice, self.settings, known)
        return tracked.with_search(search)

    def _own(self, tracked: TrackedSearch) -> list[Subset]:
        return [mask for mask in tracked.hanging() if tracked.voted(mask) is None]

    def _above(self, tracked: TrackedSearch) -> list[Subset]:
        """Random subsets above each rule that were asked about once, as many as are to be rechecked."""
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
