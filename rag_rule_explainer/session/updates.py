"""Findings as they become known: told when there is a first word of them, when more is known, and when
they fall."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from ..explanation.records import Finding
from ..lattice import Antecedent, Subset
from ..mining import RuleSearch
from ..rules import Claim, RuleKind
from ..settings import Settings
from ..sources import SourceSet
from ..verdicts import Verdict
from .plan import ByBatches, Exhaustively, MiningPlan, WithConfidence
from .search_report import SearchReport
from .tracked_search import TrackedSearch

LOOK_AGAIN = 16
"""What is known is looked through after every 16th part more of verdicts: looking costs as much as there
are."""


@dataclass(frozen=True, slots=True)
class Update:
    """This class represents a finding as far as it is known after so many ``probes``: for the first time,
    stronger than before, or withdrawn.

    ``withdrawn``: why it is not reported any more, such as that it was seen to break; empty while it
    stands.
    """

    finding: Finding
    probes: int
    withdrawn: str = ""

    def __str__(self) -> str:
        after = f"after {self.probes} probe{'s' * (self.probes != 1)}"
        if self.withdrawn:
            return f"{after}: WITHDRAWN, {self.withdrawn}: {self.finding.rule}"
        return f"{after}: {self.finding}"


class Announcer:
    """Notices what has changed in what searches claim, and keeps it until it is taken.

    A finding of an exact search, be it of a batch, is told once it is known to be minimal: until then
    each is only the last one on the way down. ``open``: is set while somebody waits for more; ``news``:
    what he waits for.
    """

    def __init__(self, sources: SourceSet, settings: Settings, plan: MiningPlan) -> None:
        self.sources, self.settings, self.plan = sources, settings, plan
        self.news, self.open = asyncio.Event(), asyncio.Event()
        self.open.set()
        self._updates = deque[Update]()
        self._abandoned = False
        self._told = defaultdict[RuleKind, dict[Antecedent, tuple[Claim, Finding]]](dict)
        self._due = dict[RuleSearch, int]()

    def take(self) -> Update | None:
        """Returns the next of what is to be told, if anything is."""
        return self._updates.popleft() if self._updates else None

    async def wait(self) -> None:
        """For something new, which is looked for meanwhile."""
        self.news.clear()
        self.open.set()
        await self.news.wait()

    def abandon(self) -> None:
        """Nobody will take anything any more."""
        self._abandoned = True
        self.open.set()

    def told(self, tracked: TrackedSearch, mask: Subset, verdict: Verdict, probes: int) -> None:
        """Looks at what is claimed after a verdict, if that is due, or if it breaks what was told."""
        search = tracked.search
        count = len(search.verdicts)
        broken = verdict is Verdict.BREAKS and self._speaks_about(search, mask)
        # Those claim nothing until they have seen everything, or are slow to say what they claim.
        silent = isinstance(self.plan.method, (Exhaustively, WithConfidence))
        if broken or (not silent and count >= self._due.get(search, 0)):
            self._due[search] = count + max(1, count // LOOK_AGAIN)
            self._look(tracked, probes)

    def conclude(
        self, tracked_searches: Iterable[TrackedSearch], rules: Sequence[Finding], probes: int
    ) -> None:
        """Tells how what is reported in the end differs from what was told."""
        for tracked in tracked_searches:
            report, told = self._report_on(tracked), self._told[tracked.search.kind]
            reported = {
                Antecedent(self.sources.mask_of(f.sources)): f for f in rules if f.kind is report.kind
            }
            for antecedent, finding in reported.items():
                _, before = told.get(antecedent, (None, None))
                if before is None or _rests_on(before) != _rests_on(finding):
                    self._tell(Update(finding, probes))
            self._withdraw(report, told, reported.keys(), probes)

    def _speaks_about(self, search: RuleSearch, mask: Subset) -> bool:
        antecedent = search.kind.antecedent(search.lattice, mask)
        return any(antecedent & rule == rule for rule in self._told[search.kind])

    def _look(self, tracked: TrackedSearch, probes: int) -> None:
        report, told = self._report_on(tracked), self._told[tracked.search.kind]
        claims = tracked.search.claims
        claimed, rules = {claim.antecedent for claim in claims}, report.rules(claims)
        for claim in claims:
            before, _ = told.get(claim.antecedent, (None, None))
            if claim == before or (before is None and not self._is_ripe(claim, claimed, report)):
                continue
            finding = report.finding(claim, rules)
            told[claim.antecedent] = claim, finding
            self._tell(Update(finding, probes))
        self._withdraw(report, told, claimed, probes)

    def _is_ripe(self, claim: Claim, claimed: Set[Antecedent], report: SearchReport) -> bool:
        if claim.status == "unverified" and claim.antecedent == report.search.lattice.full:
            return False  # that the condition holds to begin with is no news
        if not self.settings.minimal:
            return True
        if any(other & claim.antecedent == other != claim.antecedent for other in claimed):
            return False
        within_batch = claim.status == "relative" and isinstance(self.plan.method, ByBatches)
        if not (claim.status == "proved" or within_batch):
            return True
        smaller = report.search.lattice.one_fewer(claim.antecedent)
        return all(map(report.evidence.is_broken, smaller))

    def _withdraw(
        self,
        report: SearchReport,
        told: dict[Antecedent, tuple[Claim, Finding]],
        standing: Set[Antecedent],
        probes: int,
    ) -> None:
        for antecedent in [each for each in told if each not in standing]:
            claim, finding = told.pop(antecedent)
            seen, own = report.evidence, claim.hangs_on[0]
            if seen.is_broken(own):
                why = "seen to break"
            elif any(other & antecedent == other for other in standing):
                why = "a smaller one stands in its place"
            elif self._lacks_a_verdict(report.search, antecedent):
                why = "not every subset that it was to be tried on has a verdict"
            else:
                why = "not found again once votes had overruled what it followed from"
            counts = seen.observed(own), seen.broken(own)
            now = replace(finding, claim="unverified", observed=counts[0], broken=counts[1])
            self._tell(Update(now, probes, why))

    def _lacks_a_verdict(self, search: RuleSearch, antecedent: Antecedent) -> bool:
        unknown = (mask for mask, verdict in search.verdicts.items() if verdict is Verdict.UNKNOWN)
        return any(search.kind.antecedent(search.lattice, m) & antecedent == antecedent for m in unknown)

    def _report_on(self, tracked: TrackedSearch) -> SearchReport:
        return SearchReport(tracked, self.sources, self.settings.noise, self.plan.method)

    def _tell(self, update: Update) -> None:
        if not self._abandoned:
            self._updates.append(update)
            self.news.set()
            self.open.clear()


def _rests_on(finding: Finding) -> tuple[object, ...]:
    """All but the counts, which grow as long as anything is asked."""
    return finding.claim, finding.minimal, finding.draws, finding.sampling, finding.kept
