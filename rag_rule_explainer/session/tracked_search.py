"""A search together with the probes behind it, and what votes have come to."""

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
"""How many an explanation keeps: all subsets of 12 sources."""


@dataclass(frozen=True, slots=True, eq=False)
class TrackedSearch:
    """One search, how its predicate is judged, and its probes by mask, ``MOST_PROBES`` of them.

    Those that break or are unknown are kept before those that hold, which say the least. ``voting``:
    knows what votes have come to. ``doubt``: says why no verdict can be relied on, in words for a reader;
    nothing where they can be.
    """

    search: RuleSearch
    judging: Judging
    sources: SourceSet
    voting: Voting
    doubt: Callable[[], str] = str
    _telling: dict[Subset, Probe] = field(default_factory=dict[Subset, Probe])
    _holding: dict[Subset, Probe] = field(default_factory=dict[Subset, Probe])

    def keep(self, mask: Subset, probe: Probe) -> None:
        """Keeps a probe, as long as there is room for it."""
        if probe.ballot is not None:
            # It was asked about once, and may have said something else.
            self._telling.pop(mask, None)
            self._holding.pop(mask, None)
        holds = probe.judgement.verdict is Verdict.HOLDS
        if len(self._telling) + len(self._holding) >= MOST_PROBES:
            if holds or not self._holding:
                return
            self._holding.popitem()
        (self._holding if holds else self._telling)[mask] = probe

    def get(self, mask: Subset) -> Probe | None:
        """Returns the probe of a mask, where it was made and kept."""
        return self._telling.get(mask) or self._holding.get(mask)

    def overrule(self, mask: Subset, probe: Probe) -> None:
        """Takes in a vote that another search of the same base has had on a subset probed here too."""
        if probe.ballot is not None and self.get(mask) is not None:
            judgement = self.judging.turned(probe.ballot.outcome)
            self.keep(mask, probe._replace(judgement=judgement))

    def voted(self, mask: Subset) -> Verdict | None:
        """Returns what a vote on the base predicate has come to; None where there was none."""
        return self.voting.outcome(Arrangement.of(self.sources, mask), self.judging.base)

    def standing(self) -> dict[Subset, Verdict] | None:
        """Returns the verdicts as the votes have it; None where these confirmed them all."""
        verdicts = self.search.verdicts
        voted = {
            mask: ~verdict if self.judging.is_negation else verdict
            for mask, verdict in ((mask, self.voted(mask)) for mask in verdicts)
            if verdict is not None
        }
        overruled = any(verdicts[mask] is not verdict for mask, verdict in voted.items())
        return {**verdicts, **voted} if overruled else None

    def with_search(self, search: RuleSearch) -> "TrackedSearch":
        """Another search in its place; all that is known stays."""
        return replace(self, search=search)

    def votes(self, probe: Probe) -> Votes | None:
        """For and against the condition; None where there was no vote."""
        if probe.ballot is None:
            return None
        holds, breaks = probe.ballot.holds, probe.ballot.breaks
        return Votes(breaks, holds) if self.judging.is_negation else Votes(holds, breaks)

    def hanging(self) -> list[Subset]:
        """Returns the subsets on which the rules of the search hang."""
        search = self.search
        hangs_on = dict.fromkeys(antecedent for claim in search.claims for antecedent in claim.hangs_on)
        return [search.kind.subset(search.lattice, antecedent) for antecedent in hangs_on]

    @property
    def probes(self) -> dict[Subset, Probe]:
        """Returns those that are kept; first those that say the most."""
        return {**self._telling, **self._holding}
