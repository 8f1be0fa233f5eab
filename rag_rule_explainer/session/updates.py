"""This module announces findings (claimed rules, each with its evidence) during a search: when a finding
is new, when there is more evidence for it, and when it is withdrawn."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from ..explanation.records import Finding
from ..lattice import Antecedent, ArrangementKey, is_subset
from ..mining import AnySearch
from ..rules import Claim, RuleKind
from ..settings import Settings
from ..sources import SourceSet
from ..verdicts import Verdict
from .plan import ByBatches, Exhaustively, MiningPlan, WithConfidence
from .search_report import SearchReport
from .tracked_search import TrackedSearch

LOOK_AGAIN = 16
"""The claims of a search are checked for changes each time the number of verdicts has grown by a 16th. A
check after every verdict would take too long, because its time grows with the number of claims."""


@dataclass(frozen=True, slots=True)
class Update:
    """An ``Update`` is a finding (a claimed rule with its evidence) as it is known after ``probes``
    probes. The finding is new, or has changed since its last update, or is withdrawn.

    ``withdrawn``: the reason why the finding is withdrawn, for example that a probe breaks it; empty if
    it is not withdrawn.
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
    """An ``Announcer`` finds out how the claims of the searches change, and stores the updates until the
    stream takes them.

    A finding of an exact search, or of one of its batches, is announced only when it is known to be
    minimal. Otherwise, a smaller finding might soon replace it. ``open``: an event that is set while the
    stream waits for an update; probes begin only then. ``news``: an event that is set when there is an
    update, or when the session has ended.
    """

    def __init__(self, sources: SourceSet, settings: Settings, plan: MiningPlan) -> None:
        self.sources, self.settings, self.plan = sources, settings, plan
        self.news, self.open = asyncio.Event(), asyncio.Event()
        self.open.set()
        self._updates = deque[Update]()
        self._abandoned = False
        self._announced = defaultdict[RuleKind, dict[Antecedent, tuple[Claim, Finding]]](dict)
        self._due = dict[AnySearch, int]()

    def take(self) -> Update | None:
        """Removes and returns the next update; None if there is none."""
        return self._updates.popleft() if self._updates else None

    async def wait(self) -> None:
        """Lets the searches make probes, and waits for an update or the end of the session."""
        self.news.clear()
        self.open.set()
        await self.news.wait()

    def abandon(self) -> None:
        """Drops all later updates, since the consumer has closed the stream."""
        self._abandoned = True
        self.open.set()

    def on_verdict(
        self, tracked: TrackedSearch, key: ArrangementKey, verdict: Verdict, probes: int
    ) -> None:
        """Checks the claims of the search for changes whenever the number of verdicts has grown by a
        16th, or if the verdict breaks a rule that was announced. The caller must call this after each
        verdict. ``probes``: the number of probes so far."""
        search = tracked.search
        count = len(search.verdicts)
        broken = verdict is Verdict.BREAKS and self._concerns_announced(search, key)
        # Exhaustively and WithConfidence have no claims before their end, or need long to compute them.
        # So their claims are not checked during the search.
        silent = isinstance(self.plan.method, (Exhaustively, WithConfidence))
        if broken or (not silent and count >= self._due.get(search, 0)):
            self._due[search] = count + max(1, count // LOOK_AGAIN)
            self._announce_changes(tracked, probes)

    def conclude(
        self, tracked_searches: Iterable[TrackedSearch], rules: Sequence[Finding], probes: int
    ) -> None:
        """Announces how the final rules of the explanation differ from the rules that were announced
        before. ``probes``: the number of probes so far."""
        for tracked in tracked_searches:
            report, announced = self._report_on(tracked), self._announced[tracked.search.kind]
            reported = {
                Antecedent(self.sources.mask_of(f.sources)): f for f in rules if f.kind is report.kind
            }
            for antecedent, finding in reported.items():
                _, before = announced.get(antecedent, (None, None))
                if before is None or _rests_on(before) != _rests_on(finding):
                    self._announce(Update(finding, probes))
            self._withdraw(report, announced, reported.keys(), probes)

    def _concerns_announced(self, search: AnySearch, key: ArrangementKey) -> bool:
        return any(search.applies(rule, key) for rule in self._announced[search.kind])

    def _announce_changes(self, tracked: TrackedSearch, probes: int) -> None:
        report, announced = self._report_on(tracked), self._announced[tracked.search.kind]
        claims = tracked.search.claims
        claimed, rules = {claim.antecedent for claim in claims}, report.rules(claims)
        for claim in claims:
            before, _ = announced.get(claim.antecedent, (None, None))
            if claim == before or (before is None and not self._is_ripe(claim, claimed, report)):
                continue
            finding = report.finding(claim, rules)
            announced[claim.antecedent] = claim, finding
            self._announce(Update(finding, probes))
        self._withdraw(report, announced, claimed, probes)

    def _is_ripe(self, claim: Claim, claimed: Set[Antecedent], report: SearchReport) -> bool:
        if claim.status == "unverified" and claim.antecedent == report.search.lattice.full:
            # It is known from the start that the condition holds on all sources. So a finding that says
            # only this would tell the user nothing new.
            return False
        if not self.settings.minimal:
            return True
        if any(is_subset(each, claim.antecedent) for each in claimed if each != claim.antecedent):
            return False
        within_batch = claim.status == "relative" and isinstance(self.plan.method, ByBatches)
        if not (claim.status == "proved" or within_batch):
            return True
        smaller = report.search.lattice.one_fewer(claim.antecedent)
        return all(map(report.evidence.is_broken, smaller))

    def _withdraw(
        self,
        report: SearchReport,
        announced: dict[Antecedent, tuple[Claim, Finding]],
        standing: Set[Antecedent],
        probes: int,
    ) -> None:
        for antecedent in [each for each in announced if each not in standing]:
            claim, finding = announced.pop(antecedent)
            seen, own = report.evidence, claim.hangs_on[0]
            if seen.is_broken(own):
                why = "seen to break"
            elif any(is_subset(other, antecedent) for other in standing):
                why = "a smaller one stands in its place"
            elif self._lacks_a_verdict(report.search, antecedent):
                why = "not every subset that it was to be tried on has a verdict"
            else:
                why = "not found again once votes had overruled what it followed from"
            counts = seen.observed(own), seen.broken(own)
            now = replace(finding, claim="unverified", observed=counts[0], broken=counts[1])
            self._announce(Update(now, probes, why))

    def _lacks_a_verdict(self, search: AnySearch, antecedent: Antecedent) -> bool:
        unknown = (key for key, verdict in search.verdicts.items() if verdict is Verdict.UNKNOWN)
        return any(search.applies(antecedent, key) for key in unknown)

    def _report_on(self, tracked: TrackedSearch) -> SearchReport:
        return SearchReport(tracked, self.sources, self.settings.noise, self.plan.method)

    def _announce(self, update: Update) -> None:
        if not self._abandoned:
            self._updates.append(update)
            self.news.set()
            self.open.clear()


def _rests_on(finding: Finding) -> tuple[object, ...]:
    """Returns the values of those fields of a finding (a claimed rule with its evidence) whose change is
    announced to the user. The numbers of probes are left out, because they grow all the time."""
    return finding.claim, finding.minimal, finding.draws, finding.sampling, finding.kept
