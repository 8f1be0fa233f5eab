"""This module keeps a search together with its probes and votes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..explanation.records import Votes
from ..lattice import Subset
from ..mining import RuleSearch
from ..probing.judging import Judging
from ..probing.prober import Probe
from ..probing.voting import Voting
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict

MOST_PROBES = 4096
"""The largest number of probes that an explanation keeps: all subsets of 12 sources."""


@dataclass(frozen=True, slots=True, eq=False)
class TrackedSearch:
    """A TrackedSearch holds one search, its predicate's judging, and up to ``MOST_PROBES`` of its probes
    by mask.

    Probes that break or are unknown are kept before those that hold, which say the least. ``voting``: has
    the outcomes of votes. ``doubt``: returns why no verdict can be relied on, for a reader; empty if they
    can.
    """

    search: RuleSearch
    judging: Judging
    sources: SourceSet
    voting: Voting
    doubt: Callable[[], str] = str
    _informative: dict[Subset, Probe] = field(default_factory=dict[Subset, Probe])
    _holding: dict[Subset, Probe] = field(default_factory=dict[Subset, Probe])

    def keep(self, mask: Subset, probe: Probe) -> None:
        """Keeps a probe if there is room for it."""
        if probe.ballot is not None:
            # An earlier probe of a single answer may have had another verdict.
            self._informative.pop(mask, None)
            self._holding.pop(mask, None)
        holds = probe.judgement.verdict is Verdict.HOLDS
        if len(self._informative) + len(self._holding) >= MOST_PROBES:
            if holds or not self._holding:
                return
            self._holding.popitem()
        (self._holding if holds else self._informative)[mask] = probe

    def get(self, mask: Subset) -> Probe | None:
        """Returns the probe of a mask; None if it was not made or not kept."""
        return self._informative.get(mask) or self._holding.get(mask)

    def overrule(self, mask: Subset, probe: Probe) -> None:
        """Records a vote by another search with the same base, if this search probed the subset too."""
        if probe.ballot is not None and self.get(mask) is not None:
            judgement = self.judging.turned(probe.ballot.outcome)
            self.keep(mask, probe._replace(judgement=judgement))

    def voted(self, mask: Subset) -> Verdict | None:
        """Returns the outcome of a vote on the base predicate; None if there was none."""
        return self.voting.outcome(Arrangement.of(self.sources, mask), self.judging.base)

    def standing(self) -> dict[Subset, Verdict] | None:
        """Returns the verdicts with the outcomes of votes; None if no vote changes any."""
        verdicts = self.search.verdicts
        voted = {
            mask: ~verdict if self.judging.is_negation else verdict
            for mask, verdict in ((mask, self.voted(mask)) for mask in verdicts)
            if verdict is not None
        }
        overruled = any(verdicts[mask] is not verdict for mask, verdict in voted.items())
        return {**verdicts, **voted} if overruled else None

    def with_search(self, search: RuleSearch) -> "TrackedSearch":
        """Returns this object with another search; the probes stay."""
        return replace(self, search=search)

    def votes(self, probe: Probe) -> Votes | None:
        """Returns the votes for and against the condition; None if there was no vote."""
        if probe.ballot is None:
            return None
        holds, breaks = probe.ballot.holds, probe.ballot.breaks
        return Votes(breaks, holds) if self.judging.is_negation else Votes(holds, breaks)

    def subsets_of_rules(self) -> list[Subset]:
        """Returns the subsets on which the search's rules depend."""
        search = self.search
        hangs_on = dict.fromkeys(antecedent for claim in search.claims for antecedent in claim.hangs_on)
        return [search.kind.subset(search.lattice, antecedent) for antecedent in hangs_on]

    @property
    def probes(self) -> dict[Subset, Probe]:
        """The kept probes by mask, the most informative first."""
        return {**self._informative, **self._holding}
