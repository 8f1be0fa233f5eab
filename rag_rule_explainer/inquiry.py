"""One question under way: baseline, repeat check, searches, explanation."""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .errors import AnswerNotRepeatable, BaselineFailed
from .explanation import (
    Counts,
    Explanation,
    Finding,
    MinerRecord,
    ProbeRecord,
    SourceRecord,
    Spent,
    as_json,
    encodable,
    json_object,
    recorded,
    recorded_judgement,
)
from .findings import Account, with_relations
from .lattice import Mask
from .mining import RuleSearch
from .predicates import Predicate, negation_of
from .probing.drivers import drive
from .probing.judging import Judging, judgings
from .probing.limits import LimitReached
from .probing.prober import Probe, Prober, Reply
from .probing.replaying import Baseline, Replay
from .progress import Progress, ProgressReport
from .rules import RuleKind
from .settings import Choice, Settings
from .sources import Arrangement, SourceSet
from .verdicts import Answer, Case, Judgement, Verdict
from .version import __version__

INTERRUPTED = "interrupted"
"""The stop reason after Ctrl-C."""


@dataclass(slots=True, repr=False)
class Inquiry:
    """Everything one call of explain() needs, and what it has found out so far."""

    question: str
    sources: SourceSet
    baseline: Baseline | None
    replay: Replay
    predicates: Mapping[RuleKind, Predicate]
    settings: Settings
    choice: Choice
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list[str])
    failures: int = 0
    _prober: Prober = field(init=False)
    _searches: tuple[RuleSearch, ...] = field(init=False)
    _judgings: dict[RuleKind, Judging] = field(init=False)
    _probes: dict[RuleKind, dict[Mask, Probe]] = field(init=False)

    def __post_init__(self) -> None:
        settings, lattice = self.settings, self.sources.lattice
        self._prober = Prober(
            self.question,
            self.replay,
            concurrency=settings.concurrency,
            limits=self.choice.limits,
            reuse_answers=settings.reuse_answers,
            answer_without_sources=settings.answer_without_sources,
        )
        self._judgings = dict(zip(self.predicates, judgings(self.predicates.values()), strict=True))
        self._probes = {kind: {} for kind in self.predicates}
        self._searches = tuple(
            RuleSearch(self.choice.miner(kind, minimal=settings.minimal), lattice)
            for kind in self.predicates
        )

    async def explanation(self) -> Explanation:
        """Runs the inquiry to its end. To be called once."""
        baseline = await self._baseline()
        try:
            await self._check_repeatable(baseline.answer)
        except LimitReached as limit:
            self._stop(str(limit))
        await drive(self._searches, self._probe, self.settings.concurrency)
        return self._assembled(baseline)

    def interrupt(self) -> None:
        """Asks for nothing more; what is in flight is still awaited."""
        self._stop(INTERRUPTED)

    def _stop(self, reason: str) -> None:
        for search in self._searches:
            search.stop(reason)

    @property
    def _full(self) -> Arrangement:
        return Arrangement.of(self.sources, self.sources.lattice.full)

    async def _baseline(self) -> Baseline:
        tally = self._prober.tally
        if self.baseline is None:
            tally.baseline += 1
            reply = await self._prober.run(self._full)
            if reply.answer is None:
                raise BaselineFailed(
                    f"the application failed on all {len(self.sources)} sources, so there is no "
                    f"answer to explain; make it answer first: {reply.error}"
                ) from reply.cause
            baseline = Baseline(reply.answer, replays=1)
        else:
            baseline = self.baseline
            tally.baseline += baseline.replays
            tally.spend(baseline.answer.usage or {})
        self._prober.baseline = baseline.answer
        self._prober.remember(self._full, Reply(baseline.answer))
        return baseline

    async def _check_repeatable(self, first: Answer) -> None:
        """Replays the full set once more: a predicate that disagrees with itself explains nothing."""
        if not self.settings.check_repeatable:
            return
        self._prober.charge()
        self._prober.tally.repeat_check += 1
        reply = await self._prober.run(self._full)
        if reply.answer is None:
            self.notes.append(f"the repeat check failed: {reply.error}")
            return
        for judging in {judging.base: judging for judging in self._judgings.values()}.values():
            await self._compare(judging, first, reply.answer)
        self._prober.remember(self._full, reply)

    async def _compare(self, judging: Judging, first: Answer, second: Answer) -> None:
        kept = self.sources.sources
        verdicts = {
            (await judging.judge(Case(self.question, first, answer, kept))).verdict
            for answer in (first, second)
        }
        if {Verdict.HOLDS, Verdict.BREAKS} <= verdicts:
            raise AnswerNotRepeatable(str(judging.predicate), (first.text, second.text))

    async def _probe(self, search: RuleSearch, mask: Mask) -> Verdict:
        probe = await self._prober.probe(Arrangement.of(self.sources, mask), self._judgings[search.kind])
        self._probes[search.kind][mask] = probe
        self.failures += probe.reply.answer is None
        if self.progress is not None:
            self.progress(self._report())
        return probe.judgement.verdict

    def _report(self) -> ProgressReport:
        upper_bound = len(self.sources.lattice.masks())
        replays = self._prober.tally.replays
        return ProgressReport(len(self._masks()), upper_bound, replays, self.failures)

    def _accounts(self) -> tuple[Account, ...]:
        def account(search: RuleSearch) -> Account:
            return Account(
                search,
                self.sources,
                str(self.predicates[search.kind]),
                self._probes[search.kind].get,
            )

        return tuple(account(search) for search in self._searches)

    def _assembled(self, baseline: Baseline) -> Explanation:
        accounts = self._accounts()
        rules = self._rules(accounts)
        return Explanation(
            question=encodable(self.question),
            raw_input=as_json(baseline.input),
            baseline=recorded(baseline.answer),
            scope=baseline.scope,
            sources=tuple(
                SourceRecord(
                    id=source.id,
                    text=encodable(source.text),
                    metadata=json_object(source.metadata),
                )
                for source in self.sources
            ),
            predicates={kind: encodable(str(p)) for kind, p in self.predicates.items()},
            settings=json_object(self.settings.as_dict()),
            miner=MinerRecord(name=self.choice.name, reason=self.choice.reason),
            seed=self.settings.seed,
            retention_rules=rules.get(RuleKind.RETENTION, ()),
            omission_rules=rules.get(RuleKind.OMISSION, ()),
            witnesses=tuple(witness for a in accounts for witness in a.witnesses()),
            counterfactuals=tuple(change for a in accounts for change in a.counterfactuals()),
            importance=tuple(index for a in accounts for index in a.importance()),
            probes=tuple(self._probe_records()),
            counts=self._counts(),
            spent=Spent(replays=dict(self._prober.tally.usage)),
            complete=all(account.resolved for account in accounts),
            stop_reason=next((s.stop_reason for s in self._searches if s.stop_reason), ""),
            unresolved=tuple(entry for a in accounts for entry in a.unresolved()),
            notes=(*baseline.notes, *self.notes, *self._why_no_rules(accounts)),
            versions={
                "rag-rule-explainer": __version__,
                "python": platform.python_version(),
                **baseline.versions,
            },
        )

    def _rules(self, accounts: tuple[Account, ...]) -> dict[RuleKind, tuple[Finding, ...]]:
        rules = {account.kind: account.findings() for account in accounts}
        if not self._one_condition():
            return rules
        return {
            account.kind: with_relations(
                rules[account.kind], rules[other.kind], others_complete=other.resolved
            )
            for account, other in zip(accounts, reversed(accounts), strict=True)
        }

    def _one_condition(self) -> bool:
        """True iff both kinds are mined for one and the same condition."""
        return len(self.predicates) > 1 and len(set(self.predicates.values())) == 1

    def _why_no_rules(self, accounts: tuple[Account, ...]) -> Iterator[str]:
        """What stands against any rule of a kind: the condition fails where it holds most easily."""
        for account in accounts:
            search, predicate = account.search, self.predicates[account.kind]
            easiest = account.kind.subset(search.lattice, search.lattice.full)
            if search.verdicts.get(easiest) is Verdict.BREAKS:
                where = "all sources" if easiest else "no sources"
                yield (
                    f"there is no {account.kind.value} rule: with {where} retained, "
                    f"{encodable(negation_of(predicate))}"
                )

    def _probe_records(self) -> Iterator[ProbeRecord]:
        """In counting order of what was removed: the full set first."""
        by_kind = [(kind, probes.get) for kind, probes in self._probes.items()]
        for mask in sorted(self._masks(), reverse=True):
            probe, verdicts = None, dict[RuleKind, Judgement]()
            for kind, probe_of in by_kind:
                if (found := probe_of(mask)) is not None:
                    probe = found
                    verdicts[kind] = recorded_judgement(found.judgement)
            if probe is not None:
                yield self._probe_record(probe, verdicts)

    def _probe_record(self, probe: Probe, verdicts: dict[RuleKind, Judgement]) -> ProbeRecord:
        reply = probe.reply
        answer = reply.answer if self.settings.reuse_answers else None
        return ProbeRecord(
            probe.arrangement.ids,
            () if answer is None else (recorded(answer),),
            verdicts,
            latency=reply.latency,
            error=encodable(reply.error) if reply.cause else "",
        )

    def _masks(self) -> set[Mask]:
        return {mask for probes in self._probes.values() for mask in probes}

    def _counts(self) -> Counts:
        tally = self._prober.tally
        return Counts(
            probes=len(self._masks()),
            replays=tally.replays,
            reused=tally.reused,
            baseline=tally.baseline,
            repeat_check=tally.repeat_check,
            samples=tally.samples,
            retries=tally.retries,
        )
