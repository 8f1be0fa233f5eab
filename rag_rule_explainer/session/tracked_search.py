"""This module stores a search together with its probes and the votes on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..explanation.probed_subsets import MOST_PROBES
from ..explanation.records import Votes
from ..lattice import Subset
from ..mining import RuleSearch
from ..probing.judging import Judging
from ..probing.prober import Probe
from ..probing.voting import Voting
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict


@dataclass(frozen=True, slots=True, eq=False)
class TrackedSearch:
    """A TrackedSearch holds one search, the Judging of its predicate, and at most ``MOST_PROBES`` of its
    probes, by the mask of their subset.

    If there are more probes, probes with the verdict HOLDS are dropped first, because they matter least
    to the reader. ``voting``: the object that has the outcomes of votes. ``doubt``: a function that
    returns a text for the user with the reason why the verdicts may be wrong; empty if there is no such
    reason.
    """

    search: RuleSearch
    judging: Judging
    sources: SourceSet
    voting: Voting
    doubt: Callable[[], str] = str
    _informative: dict[Subset, Probe] = field(default_factory=dict[Subset, Probe])
    _holding: dict[Subset, Probe] = field(default_factory=dict[Subset, Probe])

    def keep(self, mask: Subset, probe: Probe) -> None:
        """Keeps a probe, unless there are ``MOST_PROBES`` already and none of them can be dropped for
        it."""
        if probe.ballot is not None:
            # An earlier probe of this subset, by a single answer, may have had another verdict. It is
            # dropped, since the vote counts more.
            self._informative.pop(mask, None)
            self._holding.pop(mask, None)
        holds = probe.judgement.verdict is Verdict.HOLDS
        if len(self._informative) + len(self._holding) >= MOST_PROBES:
            if holds or not self._holding:
                return
            self._holding.popitem()
        (self._holding if holds else self._informative)[mask] = probe

    def get(self, mask: Subset) -> Probe | None:
        """Returns the probe of a subset; None if it was not made or not kept."""
        return self._informative.get(mask) or self._holding.get(mask)

    def overrule(self, mask: Subset, probe: Probe) -> None:
        """Replaces the probe of a subset by one that another search has made by vote. Both searches have
        the same base predicate (the predicate without its negation). Does nothing if this search has not
        probed the subset."""
        if probe.ballot is not None and self.get(mask) is not None:
            judgement = self.judging.turned(probe.ballot.outcome)
            self.keep(mask, probe._replace(judgement=judgement))

    def voted(self, mask: Subset) -> Verdict | None:
        """Returns the outcome of the vote on a subset, for the base predicate (the predicate without its
        negation); None if there was no vote."""
        return self.voting.outcome(Arrangement.of(self.sources, mask), self.judging.base)

    def standing(self) -> dict[Subset, Verdict] | None:
        """Returns the verdicts of the search after their correction by votes; None if the votes change
        none of them."""
        verdicts = self.search.verdicts
        voted = {
            mask: ~verdict if self.judging.is_negation else verdict
            for mask, verdict in ((mask, self.voted(mask)) for mask in verdicts)
            if verdict is not None
        }
        overruled = any(verdicts[mask] is not verdict for mask, verdict in voted.items())
        return {**verdicts, **voted} if overruled else None

    def with_search(self, search: RuleSearch) -> "TrackedSearch":
        """Returns a copy of this object with another search and the same probes."""
        return replace(self, search=search)

    def votes(self, probe: Probe) -> Votes | None:
        """Returns the numbers of votes for and against the search's condition; None if there was no
        vote, or if no sample of it had a verdict."""
        if probe.ballot is None or not probe.ballot.holds + probe.ballot.breaks:
            return None
        holds, breaks = probe.ballot.holds, probe.ballot.breaks
        return Votes(breaks, holds) if self.judging.is_negation else Votes(holds, breaks)

    def subsets_of_rules(self) -> list[Subset]:
        """Returns the subsets whose verdicts the rules of the search depend on."""
        search = self.search
        hangs_on = dict.fromkeys(antecedent for claim in search.claims for antecedent in claim.hangs_on)
        return [search.kind.subset(search.lattice, antecedent) for antecedent in hangs_on]

    @property
    def probes(self) -> dict[Subset, Probe]:
        """The kept probes by the mask of their subset. Those with the verdict HOLDS come last."""
        return {**self._informative, **self._holding}


def judge_opposites(searches: Sequence[TrackedSearch]) -> bool:
    """Returns True iff there are two searches, and their conditions are the negations of each other.

    Only the structure of the conditions is compared. Two conditions with opposite meanings but a
    different structure, such as ``a & b`` and ``~a | ~b``, are not recognised as opposite.
    """
    judgings = [tracked.judging for tracked in searches]
    bases = {judging.base for judging in judgings}
    return len(bases) == 1 and {judging.is_negation for judging in judgings} == {True, False}
