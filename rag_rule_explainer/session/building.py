"""This module builds an explanation from the searches and their probes. It makes no probes itself."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from ..explanation.explanation import Explanation
from ..explanation.records import (
    DOUBTED,
    DROPPED,
    JUDGED_TOGETHER,
    Counts,
    Finding,
    MinerRecord,
    ProbeRecord,
    SourceRecord,
    Spent,
)
from ..explanation.wording import joined
from ..jsonable import as_json, encodable, json_object, recorded, recorded_judgement
from ..lattice import Antecedent, Subset
from ..predicates import negation_of
from ..probing.budget import Budget, summed
from ..probing.prices import TokensByModel, cost_of
from ..probing.prober import Probe
from ..probing.replaying import Baseline
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Source, SourceSet
from ..verdicts import Verdict
from ..version import __version__
from .plan import ByGroups, MiningPlan
from .search_report import SearchReport, with_relations
from .tracked_search import MOST_PROBES, TrackedSearch

_OWN_VERSIONS = {"rag-rule-explainer": __version__, "python": platform.python_version()}
CONSTANT_CONDITION = (
    "the condition comes out the same whatever is retrieved, so no source decides about it: ask about "
    "something else, or see whether the model goes by what it is shown at all"
)
ONE_SOURCE = (
    "one source was retrieved, so rules can only say whether the answer depends on it: let the retriever "
    "return more, such as by a larger k, to see which of several it depends on"
)


@dataclass(slots=True, repr=False)
class ExplanationBuilder:
    """An ExplanationBuilder takes the results of a session and builds the explanation from them."""

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
    _probes: dict[Subset, Probe] = field(init=False)

    def __post_init__(self) -> None:
        kept: dict[Subset, Probe] = {}
        for tracked in self.tracked_searches:
            kept.update(tracked.probes)
        self._probes = kept if len(kept) <= MOST_PROBES else dict(islice(kept.items(), MOST_PROBES))

    def explanation(self) -> Explanation:
        """Returns the explanation that the results of the session give."""
        baseline, settings = self.baseline, self.settings
        method = self.plan.method
        reports = tuple(
            SearchReport(each, self.sources, settings.noise, method) for each in self.tracked_searches
        )
        rules = self._rules(reports)
        together = (JUDGED_TOGETHER,) if any(each.judged_together for each in reports) else ()
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
            settings=json_object(settings.as_dict()),
            miner=MinerRecord(name=self.plan.name, reason=self.plan.reason),
            seed=settings.seed,
            retention_rules=rules.get(RuleKind.RETENTION, ()),
            omission_rules=rules.get(RuleKind.OMISSION, ()),
            witnesses=tuple(witness for report in reports for witness in report.witnesses()),
            counterfactuals=tuple(change for report in reports for change in report.counterfactuals()),
            importance=tuple(index for report in reports for index in report.importance()),
            probes=tuple(self._probe_records()),
            counts=self._counts(),
            spent=self._spent(),
            complete=all(report.resolved for report in reports) and not self._may_have_missed(rules),
            stop_reason=self._why_stopped(reports) or self._may_have_missed(rules),
            unresolved=tuple(entry for report in reports for entry in report.unresolved()),
            warnings=(*map(encodable, self.warnings), *together),
            notes=(*baseline.notes, *self.notes, *self._own_notes(reports, rules)),
            versions={**_OWN_VERSIONS, **baseline.versions},
        )

    def _own_notes(
        self, reports: tuple[SearchReport, ...], rules: Mapping[RuleKind, Sequence[Finding]]
    ) -> Iterator[str]:
        yield from self._tied()
        yield from self._why_no_rules(reports)
        yield from self._why_little(rules)
        yield from self._notes_on_answers()

    def _record(self, source: Source) -> SourceRecord:
        metadata, pinned = json_object(source.metadata), source.id in self.sources.pinned
        return SourceRecord(source.id, encodable(source.text), metadata, pinned)

    def _tied(self) -> Iterator[str]:
        """Yields a note for each group of tied sources: near-duplicates that are retained or omitted
        together."""
        for tie in self.sources.ties:
            yield (
                f"{joined(tie.sources)} are tied as near-duplicates: retained or left out together, and "
                f"counted as one source. Any two of them share {tie.shared} of their word "
                "shingles"
            )
        if self.settings.merge_duplicates and not self.sources.ties:
            yield "no sources are near-duplicates, so none are tied"

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
        """Returns why there may be rules that the searches did not find, although they have ended; empty
        if they found all."""
        if any(tracked.doubt() for tracked in self.tracked_searches):
            return DOUBTED
        units = set(self.sources.ids_of(self.sources.lattice.full)) - self.sources.pinned
        named = [{each for rule in found for each in rule.sources} for found in rules.values() if found]
        return (
            DROPPED
            if isinstance(self.plan.method, ByGroups) and any(units - each for each in named)
            else ""
        )

    def _why_stopped(self, reports: tuple[SearchReport, ...]) -> str:
        stopped = (report.search.stop_reason for report in reports)
        unsettled = "" if all(report.settled for report in reports) else self.stop_reason
        return next((reason for reason in stopped if reason), unsettled)

    def _one_condition(self) -> bool:
        """Returns True iff both kinds of rule are mined for the same condition."""
        predicates = {tracked.judging.predicate for tracked in self.tracked_searches}
        return len(self.tracked_searches) > 1 and len(predicates) == 1

    def _probe_records(self) -> Iterator[ProbeRecord]:
        tracked_searches = [
            (tracked.search.kind, tracked, tracked.probes) for tracked in self.tracked_searches
        ]
        record = _voted_record if self.settings.noise.votes else _record
        for mask in sorted(self._probes, reverse=True):
            yield record(
                [(kind, each, probes[mask]) for kind, each, probes in tracked_searches if mask in probes]
            )

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

    def _notes_on_answers(self) -> Iterator[str]:
        """Yields each note that answers have, with the number of probes that have it. Also yields notes
        on limits that had no effect, and on probes that are not kept."""
        answers = (probe.reply.answer for probe in self._probes.values())
        notes = Counter(answer.note for answer in answers if answer is not None and answer.note)
        for note, count in notes.items():
            yield f"{encodable(note)} ({count} of {len(self._probes)} probes)"
        limits = self.budget.limits
        capped = limits.tokens is not None or limits.cost is not None
        if capped and self.budget.replays and not self.budget.tokens:
            yield "no model said what tokens it spent, so the limits on tokens and cost bounded nothing"
        if self.probed > len(self._probes):
            yield f"{len(self._probes):,} of {self.probed:,} probes are kept here"

    def _why_no_rules(self, reports: tuple[SearchReport, ...]) -> Iterator[str]:
        """Yields a note for each kind of rule for which there can be no rule, since the condition breaks
        even with all sources in the antecedent."""
        for report in reports if self.settings.noise.min_confidence == 1 else ():
            search = report.tracked.search
            easiest = search.kind.subset(search.lattice, Antecedent(search.lattice.full))
            if search.verdicts.get(easiest) is Verdict.BREAKS:
                where = "all sources" if easiest else "no sources"
                opposite = negation_of(report.tracked.judging.predicate)
                kind = search.kind.value
                yield f"there is no {kind} rule: with {where} retained, {encodable(opposite)}"

    def _why_little(self, rules: Mapping[RuleKind, Sequence[Finding]]) -> Iterator[str]:
        """Yields advice for the user if the rules say little about the answer."""
        if any(rule.proved and not rule.sources for each in rules.values() for rule in each):
            yield CONSTANT_CONDITION
        elif len(self.sources) == 1:
            yield ONE_SOURCE

    def _counts(self) -> Counts:
        budget = self.budget
        return Counts(
            probes=self.probed,
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
        """Returns the number of guesses that were probed in vain: no search needed their verdicts."""
        searches = [tracked.search for tracked in self.tracked_searches]
        guessed = frozenset[Subset]().union(*(search.wasted - search.in_flight for search in searches))
        return len(guessed.difference(*(search.verdicts for search in searches)))


Seen: TypeAlias = Sequence[tuple[RuleKind, TrackedSearch, Probe]]
"""The probes of one arrangement, each with the kind of rule and the search that it was made for."""


def _record(seen: Seen) -> ProbeRecord:
    _, _, first = seen[0]
    answer, latency, cause, _ = first.reply
    # Explanations keep thousands of records, so this call is made fast: with arguments by position, and a
    # literal for no votes, it takes half the time.
    verdicts = {kind: recorded_judgement(probe.judgement) for kind, _, probe in seen}
    answers = () if answer is None else (recorded(answer),)
    error = "" if cause is None else encodable(first.reply.error)
    return ProbeRecord(first.arrangement.ids, answers, verdicts, {}, latency, error)


def _voted_record(seen: Seen) -> ProbeRecord:
    ballots = [probe.ballot for _, _, probe in seen if probe.ballot is not None]
    if not ballots:
        return _record(seen)
    # The kinds of rule draw from the same numbered samples, so the longest ballot has all of them.
    replies = max((ballot.replies for ballot in ballots), key=len)
    votes = {kind: tracked.votes(probe) for kind, tracked, probe in seen}
    return replace(
        _record(seen),
        answers=tuple([recorded(reply.answer) for reply in replies if reply.answer is not None]),
        votes={kind: count for kind, count in votes.items() if count is not None},
    )
