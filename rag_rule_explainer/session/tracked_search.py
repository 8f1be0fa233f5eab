"""This module stores a search together with its probes and the votes on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..explanation.probed_subsets import MOST_PROBES
from ..explanation.records import Votes
from ..lattice import ArrangementKey
from ..mining import AnySearch
from ..probing.judging import Judging
from ..probing.prober import Probe
from ..probing.voting import Voting
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict

_HOLDS = Verdict.HOLDS  # stored, because Python finds a member of an enum slowly


@dataclass(frozen=True, slots=True, eq=False)
class TrackedSearch:
    """A ``TrackedSearch`` holds one search, the object that judges answers by its predicate
    (``judging``), and some of its probes.

    It keeps at most ``MOST_PROBES`` probes, by the key of their arrangement (an ordered list of
    sources). If there are more, probes with the verdict HOLDS are dropped first, because they matter
    least to the reader. ``voting``: the object that has the outcomes of votes. ``doubt``: a function
    that returns a text for the user with the reason why the verdicts may be wrong; empty if there is no
    such reason.
    """

    search: AnySearch
    judging: Judging
    sources: SourceSet
    voting: Voting
    doubt: Callable[[], str] = str
    _informative: dict[ArrangementKey, Probe] = field(default_factory=dict[ArrangementKey, Probe])
    _holding: dict[ArrangementKey, Probe] = field(default_factory=dict[ArrangementKey, Probe])

    def keep(self, key: ArrangementKey, probe: Probe) -> None:
        """Keeps a probe. If ``MOST_PROBES`` probes are kept already, a new probe with the verdict HOLDS
        is not kept. Any other new probe then replaces a kept probe with the verdict HOLDS. If no kept
        probe has this verdict, the new probe is not kept."""
        if probe.ballot is not None:
            # An earlier probe of this arrangement, by a single answer, may have had another verdict. The
            # earlier probe is dropped, since a vote is more reliable.
            self._informative.pop(key, None)
            self._holding.pop(key, None)
        holds = probe.judgement.verdict is _HOLDS
        if len(self._informative) + len(self._holding) >= MOST_PROBES:
            if holds or not self._holding:
                return
            self._holding.popitem()
        (self._holding if holds else self._informative)[key] = probe

    def get(self, key: ArrangementKey) -> Probe | None:
        """Returns the probe of an arrangement (an ordered list of sources); None if it was not made or
        not kept."""
        return self._informative.get(key) or self._holding.get(key)

    def overrule(self, key: ArrangementKey, probe: Probe) -> None:
        """Replaces the probe of an arrangement (an ordered list of sources) by one that another search
        decided by a vote. Both searches have the same base predicate (the predicate without its
        negation). Does nothing if this search has not probed the arrangement."""
        if probe.ballot is not None and self.get(key) is not None:
            judgement = self.judging.turned(probe.ballot.outcome)
            self.keep(key, probe._replace(judgement=judgement))

    def voted(self, key: ArrangementKey) -> Verdict | None:
        """Returns the outcome of the vote on an arrangement (an ordered list of sources), for the base
        predicate (the predicate without its negation); None if there was no vote."""
        return self.voting.outcome(Arrangement.of(self.sources, key), self.judging.base)

    def standing(self) -> dict[ArrangementKey, Verdict] | None:
        """Returns the verdicts of the search after their correction by votes; None if the votes change
        none of them."""
        verdicts = self.search.verdicts
        voted = {
            key: ~verdict if self.judging.is_negation else verdict
            for key, verdict in ((key, self.voted(key)) for key in verdicts)
            if verdict is not None
        }
        overruled = any(verdicts[key] is not verdict for key, verdict in voted.items())
        return {**verdicts, **voted} if overruled else None

    def with_search(self, search: AnySearch) -> "TrackedSearch":
        """Returns a copy of this object with another search and the same probes."""
        return replace(self, search=search)

    def votes(self, probe: Probe) -> Votes | None:
        """Returns the numbers of votes for and against the search's condition; None if there was no
        vote, or if no sample of the probe had a verdict."""
        if probe.ballot is None or not probe.ballot.holds + probe.ballot.breaks:
            return None
        holds, breaks = probe.ballot.holds, probe.ballot.breaks
        return Votes(breaks, holds) if self.judging.is_negation else Votes(holds, breaks)

    @property
    def probes(self) -> dict[ArrangementKey, Probe]:
        """Returns the kept probes by the key of their arrangement (an ordered list of sources). Probes
        with the verdict HOLDS come last."""
        return {**self._informative, **self._holding}


def judge_opposites(searches: Sequence[TrackedSearch]) -> bool:
    """Returns True iff there are two searches, and their conditions are the negations of each other.

    Only the structure of the conditions is compared. Two conditions with opposite meanings but a
    different structure, such as ``a & b`` and ``~a | ~b``, are not recognised as opposite.
    """
    judgings = [tracked.judging for tracked in searches]
    bases = {judging.base for judging in judgings}
    return len(bases) == 1 and {judging.is_negation for judging in judgings} == {True, False}
