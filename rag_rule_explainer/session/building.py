"""This module builds an explanation from the results of the searches and their probes. It makes no probes
itself."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ..explanation.explanation import Explanation
from ..explanation.origin import ApplicationRecord, MinerRecord, content_hash
from ..explanation.probed_subsets import MOST_PROBES
from ..explanation.records import (
    DOUBTED,
    DROPPED,
    Counts,
    Finding,
    ProbeRecord,
    SourceRecord,
    Spent,
)
from ..explanation.wording import joined
from ..lattice import Antecedent, ArrangementKey
from ..predicates import negation_of
from ..printable import as_json, encodable, json_object
from ..probing.budget import Budget, summed
from ..probing.prices import TokensByModel, cost_of
from ..probing.prober import Probe
from ..probing.replaying import Baseline
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Source, SourceSet
from ..verdicts import Answer
from ..version import __version__
from .answer_notes import notes_on_answers
from .call_notes import notes_on_calls
from .making import models_asked, note_on_time, time_of_making
from .plan import ByGroups, MiningPlan
from .probe_records import baseline_record, probe_records
from .recorded import recorded
from .search_report import SearchReport, with_relations
from .tracked_search import TrackedSearch, judge_opposites

_OWN_VERSIONS = {"rag-rule-explainer": __version__, "python": platform.python_version()}
_CONSTANT = (
    "{condition} comes out the same whichever of these sources are retained, so no source decides about "
    "it: ask about something else, or see whether the model goes by what it is shown at all"
)
_TOGETHER = ", near-duplicates together"
_CONSTANT_BESIDE_PINNED = (
    "{condition} comes out the same whichever sources that are not pinned are retained, so none of them "
    "decides about it; what happens without the pinned ones was not tried: do not pin them, or ask about "
    "something else"
)
ONE_SOURCE = (
    "one source was found, so rules can only say whether the answer depends on it. Where a retriever "
    "found it, let the retriever return more, such as by a larger k; where a tool returned it, a list "
    "has a source for each of its items"
)


@dataclass(slots=True, repr=False)
class ExplanationBuilder:
    """An ``ExplanationBuilder`` takes the results of a session and builds the explanation from them.
    ``identity``: the id of the explanation. ``probed``: the number of probes made."""

    identity: str
    question: str
    sources: SourceSet
    baseline: Baseline
    settings: Settings
    plan: MiningPlan
    tracked_searches: tuple[TrackedSearch, ...]
    budget: Budget
    probed: int
    stop_reason: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    _probes: dict[ArrangementKey, Probe] = field(init=False)

    def __post_init__(self) -> None:
        kept: dict[ArrangementKey, Probe] = {}
        for tracked in self.tracked_searches:
            kept.update(tracked.probes)
        self._probes = kept if len(kept) <= MOST_PROBES else dict(islice(kept.items(), MOST_PROBES))

    def explanation(self) -> Explanation:
        """Returns the explanation, built from the results of the session."""
        baseline, settings, reports = self.baseline, self.settings, self._reports()
        rules = self._rules(reports)
        judging = dict.fromkeys(each.judging_warning for each in reports if each.judging_warning)
        probes, replied = self._records(rules), self._replied()
        # All values come from this package and are valid, so the validation of pydantic is skipped.
        return Explanation.model_construct(
            id=self.identity,
            question=encodable(self.question),
            raw_input=as_json(baseline.input),
            baseline=recorded(baseline.answer),
            scope=baseline.scope,
            sources=tuple(self._record(source) for source in self.sources),
            ties=self.sources.ties,
            held_out=tuple(self._record(source) for source in baseline.held_out),
            predicates={report.kind: report.condition for report in reports},
            conditions_are_opposite=judge_opposites(self.tracked_searches),
            settings=json_object(settings.as_dict()),
            miner=MinerRecord(name=self.plan.name, reason=self.plan.reason),
            seed=settings.seed,
            retention_rules=rules.get(RuleKind.RETENTION, ()),
            omission_rules=rules.get(RuleKind.OMISSION, ()),
            witnesses=tuple(witness for report in reports for witness in report.witnesses()),
            counterfactuals=tuple(change for report in reports for change in report.counterfactuals()),
            importance=tuple(index for report in reports for index in report.importance()),
            probes=probes,
            counts=self._counts(len(probes)),
            spent=self._spent(),
            complete=all(report.resolved for report in reports) and not self._may_have_missed(rules),
            stop_reason=self._why_stopped(reports) or self._may_have_missed(rules),
            doubted=bool(baseline.doubt()),
            unresolved=tuple(entry for report in reports for entry in report.unresolved()),
            warnings=(*map(encodable, self.warnings), *judging),
            notes=(*baseline.notes, *self.notes, *self._own_notes(reports, rules)),
            versions={**_OWN_VERSIONS, **baseline.versions},
            made_at=time_of_making(),
            application=self._application(),
            models=tuple(models_asked(self.budget, (baseline.answer, *replied))),
        )

    def _reports(self) -> tuple[SearchReport, ...]:
        noise, method = self.settings.noise, self.plan.method
        return tuple(SearchReport(each, self.sources, noise, method) for each in self.tracked_searches)

    def _application(self) -> ApplicationRecord:
        fidelity = self.baseline.fidelity
        begun = "" if fidelity is None else fidelity.beginning
        return ApplicationRecord(encodable(self.baseline.application), begun)

    def _replied(self) -> list[Answer]:
        replies = [probe.reply.answer for probe in self._probes.values()]
        return [answer for answer in replies if answer is not None]

    def _own_notes(
        self,
        reports: tuple[SearchReport, ...],
        rules: Mapping[RuleKind, Sequence[Finding]],
    ) -> Iterator[str]:
        yield from self._tied()
        yield from self._why_no_rules(reports)
        yield from self._why_little(rules)
        yield from notes_on_answers(self._probes.values(), self.sources)
        conditions = (each.judging.predicate for each in self.tracked_searches)
        yield from notes_on_calls(conditions, [self.baseline.answer, *self._replied()])
        yield from self._notes_on_limits()
        if note := note_on_time():
            yield encodable(note)

    def _record(self, source: Source) -> SourceRecord:
        metadata, pinned = json_object(source.metadata), source.id in self.sources.pinned
        text = encodable(source.text)
        return SourceRecord(source.id, text, metadata, pinned, content_hash(text))

    def _tied(self) -> Iterator[str]:
        """Yields a note for each group of tied sources (near-duplicates that are retained or omitted
        together); if the user asked for such groups and there are none, a note that says so."""
        for tie in self.sources.ties:
            yield (
                f"{joined(tie.sources)} are tied as near-duplicates: retained or left out together, and "
                f"counted as one source. Any two of them share {tie.shared} of their word "
                "shingles"
            )
        if self.settings.merge_duplicates and not self.sources.ties:
            among = "no sources that are not pinned" if self.sources.pinned else "no sources"
            yield f"{among} are near-duplicates, so none are tied"

    def _rules(self, reports: tuple[SearchReport, ...]) -> dict[RuleKind, tuple[Finding, ...]]:
        rules = {report.kind: report.findings() for report in reports}
        if not self._one_condition():
            return rules
        return {
            report.kind: with_relations(
                rules[report.kind],
                rules[other.kind],
                others_complete=other.resolved and other.method.finds_all,
            )
            for report, other in zip(reports, reversed(reports), strict=True)
        }

    def _may_have_missed(self, rules: Mapping[RuleKind, Sequence[Finding]]) -> str:
        """Returns the reason why the searches, although they have ended, may have missed rules; empty if
        they found all rules."""
        if self.baseline.doubt():
            return DOUBTED
        units = set(self.sources.ids_of(self.sources.lattice.full)) - self.sources.pinned
        named = [{each for rule in found for each in rule.sources} for found in rules.values() if found]
        missing = isinstance(self.plan.method, ByGroups) and any(units - each for each in named)
        return DROPPED if missing else ""

    def _why_stopped(self, reports: tuple[SearchReport, ...]) -> str:
        stopped = (report.search.stop_reason for report in reports)
        unsettled = "" if all(report.settled for report in reports) else self.stop_reason
        return next((reason for reason in stopped if reason), unsettled)

    def _one_condition(self) -> bool:
        """Returns True iff rules of both kinds were searched for, and both kinds have the same
        condition."""
        predicates = {tracked.judging.predicate for tracked in self.tracked_searches}
        return len(self.tracked_searches) > 1 and len(predicates) == 1

    def _records(self, rules: Mapping[RuleKind, Sequence[Finding]]) -> tuple[ProbeRecord, ...]:
        keys, searches = sorted(self._probes, reverse=True), self.tracked_searches
        voted = self.settings.noise.votes
        records = tuple(probe_records(keys, searches, voted=voted))
        # The application ran on all sources, even if no search requested this subset. With both kinds of
        # rules, reports need this probe to say which changes flip the outcome.
        is_known = self.sources.full in self._probes or len(records) < self.probed
        if voted or is_known or len(searches) < len(RuleKind):
            return records
        known = baseline_record(self.baseline, self.question, self.sources, searches, rules)
        return records if known is None else (known, *records)

    def _spent(self) -> Spent:
        budget = self.budget
        return Spent(
            replays=summed(budget.spent),
            judge=summed(budget.judge_spent),
            replays_cost=self._cost(budget.spent),
            judge_cost=self._cost(budget.judge_spent),
        )

    def _cost(self, spent: TokensByModel) -> float | None:
        return cost_of(spent, self.budget.prices)

    def _notes_on_limits(self) -> Iterator[str]:
        """Yields notes on limits that had no effect, and on probes that the explanation does not
        contain."""
        limits = self.budget.limits
        capped = limits.tokens is not None or limits.cost is not None
        if capped and self.budget.replays and not self.budget.tokens:
            yield "no model said what tokens it spent, so the limits on tokens and cost bounded nothing"
        if self.probed > len(self._probes):
            yield f"{len(self._probes):,} of {self.probed:,} probes are kept here"

    def _why_no_rules(self, reports: tuple[SearchReport, ...]) -> Iterator[str]:
        """Yields a note for each kind of rule that cannot exist for this answer. Rules of a kind cannot
        exist if the condition breaks even when all sources are retained (for omission rules: omitted)."""
        for report in reports if self.settings.noise.min_confidence == 1 else ():
            if report.evidence.is_broken(Antecedent(report.search.lattice.full)):
                fewest = "the pinned sources alone" if self.sources.pinned else "no sources"
                where = "all sources" if report.kind is RuleKind.RETENTION else fewest
                opposite = negation_of(report.tracked.judging.predicate)
                kind = report.kind.value
                yield f"there is no {kind} rule: with {where} retained, {encodable(opposite)}"

    def _why_little(self, rules: Mapping[RuleKind, Sequence[Finding]]) -> Iterator[str]:
        """Yields advice for the user if the rules say little about the answer."""
        always = {
            rule.kind: rule.condition
            for each in rules.values()
            for rule in each
            if rule.proved and not rule.sources
        }
        constant = _CONSTANT_BESIDE_PINNED if self.sources.pinned else _CONSTANT
        constant = (
            constant.replace(" retained,", f" retained{_TOGETHER},", 1) if self.sources.ties else constant
        )
        if always and (
            len(rules) == 1 or self._one_condition() or judge_opposites(self.tracked_searches)
        ):
            yield constant.format(condition="the condition")
        elif always:
            # The condition of the other kind of rules may depend on sources. So the note names the
            # condition that does not depend on them.
            for kind, condition in always.items():
                yield constant.format(condition=f"the condition of {kind.value} rules ({condition})")
        elif len(self.sources) == 1:
            yield ONE_SOURCE
        if always and self.baseline.if_constant:
            yield self.baseline.if_constant

    def _counts(self, recorded: int) -> Counts:
        budget = self.budget
        return Counts(
            probes=max(self.probed, recorded),
            replays=budget.replays,
            reused=budget.reused,
            baseline=budget.baseline,
            repeat_check=budget.repeat_check,
            samples=budget.samples,
            retries=budget.retries,
            stored=budget.stored,
            wasted=self._wasted(),
            judge_requests=self.budget.judge_requests,
        )

    def _wasted(self) -> int:
        """Returns the number of subsets that were probed in advance, while fewer replays ran than
        allowed, and whose verdicts no search needed in the end."""
        searches = [tracked.search for tracked in self.tracked_searches]
        guessed = frozenset[ArrangementKey]().union(
            *(search.wasted - search.in_flight for search in searches)
        )
        return len(guessed.difference(*(search.verdicts for search in searches)))
