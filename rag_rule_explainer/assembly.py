"""Puts an explanation together from what the searches and the prober know. Costs no probe."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from .choice import Choice
from .explanation import Explanation
from .findings import Account, with_relations
from .jsonable import as_json, encodable, json_object, recorded, recorded_judgement
from .lattice import Mask
from .predicates import negation_of
from .probing.bill import Bill, summed
from .probing.prices import TokensByModel, cost_of
from .probing.prober import Probe
from .probing.replaying import Baseline
from .records import (
    DOUBTED,
    DROPPED,
    JUDGED_TOGETHER,
    Counts,
    Finding,
    MinerRecord,
    ProbeRecord,
    SourceRecord,
    Spent,
    joined,
)
from .rules import RuleKind
from .settings import Settings
from .sources import Source, SourceSet
from .strands import MOST_PROBES, Strand
from .verdicts import Verdict
from .version import __version__

CONSTANT = (
    "the condition comes out the same whatever is retrieved, so no source decides about it: ask about "
    "something else, or see whether the model goes by what it is shown at all"
)
ONE_SOURCE = (
    "one source was retrieved, so rules can only say whether the answer depends on it: let the retriever "
    "return more, such as by a larger k, to see which of several it depends on"
)


@dataclass(slots=True, repr=False)
class Assembly:
    """What an inquiry has come to."""

    identity: str
    question: str
    sources: SourceSet
    baseline: Baseline
    settings: Settings
    choice: Choice
    strands: tuple[Strand, ...]
    bill: Bill
    probed: int
    stop_reason: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    _probes: dict[Mask, Probe] = field(init=False)

    def __post_init__(self) -> None:
        kept = (item for strand in self.strands for item in strand.probes.items())
        self._probes = dict(islice(dict(kept).items(), MOST_PROBES))

    def explanation(self) -> Explanation:
        """All of it."""
        baseline, settings = self.baseline, self.settings
        looks = self.choice.sees_everything, self.choice.finds_all
        accounts = tuple(Account(each, self.sources, settings.noise, *looks) for each in self.strands)
        rules = self._rules(accounts)
        together = (JUDGED_TOGETHER,) if any(each.judged_together for each in accounts) else ()
        # Made of checked parts: what is checked on reading would only be checked against itself.
        return Explanation.model_construct(
            id=self.identity,
            question=encodable(self.question),
            raw_input=as_json(baseline.input),
            baseline=recorded(baseline.answer),
            scope=baseline.scope,
            sources=tuple(self._record(source) for source in self.sources),
            ties=self.sources.ties,
            held_out=tuple(self._record(source) for source in baseline.held_out),
            predicates={account.kind: account.condition for account in accounts},
            settings=json_object(settings.as_dict()),
            miner=MinerRecord(name=self.choice.name, reason=self.choice.reason),
            seed=settings.seed,
            retention_rules=rules.get(RuleKind.RETENTION, ()),
            omission_rules=rules.get(RuleKind.OMISSION, ()),
            witnesses=tuple(witness for a in accounts for witness in a.witnesses()),
            counterfactuals=tuple(change for a in accounts for change in a.counterfactuals()),
            importance=tuple(index for a in accounts for index in a.importance()),
            probes=tuple(self._probe_records()),
            counts=self._counts(),
            spent=self._spent(),
            complete=all(account.resolved for account in accounts) and not self._may_have_missed(rules),
            stop_reason=self._why_stopped(accounts) or self._may_have_missed(rules),
            unresolved=tuple(entry for a in accounts for entry in a.unresolved()),
            warnings=(*map(encodable, self.warnings), *together),
            notes=(
                *baseline.notes,
                *self.notes,
                *self._tied(),
                *self._why_no_rules(accounts),
                *self._why_little(rules),
                *self._remarks(),
            ),
            versions={
                "rag-rule-explainer": __version__,
                "python": platform.python_version(),
                **baseline.versions,
            },
        )

    def _record(self, source: Source) -> SourceRecord:
        metadata, pinned = json_object(source.metadata), source.id in self.sources.pinned
        return SourceRecord(source.id, encodable(source.text), metadata, pinned)

    def _tied(self) -> Iterator[str]:
        """Which sources are one unit, and how alike they are."""
        for tie in self.sources.ties:
            yield (
                f"{joined(tie.sources)} are tied as near-duplicates: retained or left out together, and "
                f"counted as one source. Any two of them share {tie.shared} of their word "
                "shingles"
            )
        if self.settings.merge_duplicates and not self.sources.ties:
            yield "no sources are near-duplicates, so none are tied"

    def _rules(self, accounts: tuple[Account, ...]) -> dict[RuleKind, tuple[Finding, ...]]:
        rules = {account.kind: account.findings() for account in accounts}
        if not self._one_condition():
            return rules
        return {
            account.kind: with_relations(
                rules[account.kind], rules[other.kind], others_complete=other.resolved and other.finds_all
            )
            for account, other in zip(accounts, reversed(accounts), strict=True)
        }

    def _may_have_missed(self, rules: Mapping[RuleKind, Sequence[Finding]]) -> str:
        """Why there may be more rules though the search has ended; empty where there are none."""
        if any(strand.doubt() for strand in self.strands):
            return DOUBTED
        units = set(self.sources.ids_of(self.sources.lattice.full)) - self.sources.pinned
        named = [{each for rule in found for each in rule.sources} for found in rules.values() if found]
        return DROPPED if self.choice.name == "grouped" and any(units - each for each in named) else ""

    def _why_stopped(self, accounts: tuple[Account, ...]) -> str:
        stopped = (account.search.stop_reason for account in accounts)
        unsettled = "" if all(account.settled for account in accounts) else self.stop_reason
        return next((reason for reason in stopped if reason), unsettled)

    def _one_condition(self) -> bool:
        """True iff both kinds are mined for one and the same condition."""
        predicates = {strand.judging.predicate for strand in self.strands}
        return len(self.strands) > 1 and len(predicates) == 1

    def _probe_records(self) -> Iterator[ProbeRecord]:
        strands = [(strand.search.kind, strand, strand.probes) for strand in self.strands]
        record = _voted_record if self.settings.noise.votes else _record
        for mask in sorted(self._probes, reverse=True):
            yield record([(kind, each, probes[mask]) for kind, each, probes in strands if mask in probes])

    def _spent(self) -> Spent:
        bill = self.bill
        return Spent(
            replays=summed(bill.spent),
            judge=summed(bill.judge_spent),
            replays_cost=self._cost(bill.spent),
            judge_cost=self._cost(bill.judge_spent),
        )

    def _cost(self, spent: TokensByModel) -> float | None:
        return cost_of(spent, self.bill.prices)

    def _remarks(self) -> Iterator[str]:
        """What is to be said of answers, each once, with the number of probes it is said of."""
        answers = (probe.reply.answer for probe in self._probes.values())
        notes = Counter(answer.note for answer in answers if answer is not None and answer.note)
        for note, count in notes.items():
            yield f"{encodable(note)} ({count} of {len(self._probes)} probes)"
        limits = self.bill.limits
        capped = limits.tokens is not None or limits.cost is not None
        if capped and self.bill.replays and not self.bill.tokens:
            yield "no model said what tokens it spent, so the limits on tokens and cost bounded nothing"
        if self.probed > len(self._probes):
            yield f"{len(self._probes):,} of {self.probed:,} probes are kept here"

    def _why_no_rules(self, accounts: tuple[Account, ...]) -> Iterator[str]:
        """What stands against any rule of a kind: the condition fails where it holds most easily."""
        for account in accounts if self.settings.noise.min_confidence == 1 else ():
            search = account.strand.search
            easiest = search.kind.subset(search.lattice, search.lattice.full)
            if search.verdicts.get(easiest) is Verdict.BREAKS:
                where = "all sources" if easiest else "no sources"
                opposite = negation_of(account.strand.judging.predicate)
                kind = search.kind.value
                yield f"there is no {kind} rule: with {where} retained, {encodable(opposite)}"

    def _why_little(self, rules: Mapping[RuleKind, Sequence[Finding]]) -> Iterator[str]:
        """What to do where rules can say little."""
        if any(rule.proved and not rule.sources for each in rules.values() for rule in each):
            yield CONSTANT
        elif len(self.sources) == 1:
            yield ONE_SOURCE

    def _counts(self) -> Counts:
        bill = self.bill
        return Counts(
            probes=self.probed,
            replays=bill.replays,
            reused=bill.reused,
            baseline=bill.baseline,
            repeat_check=bill.repeat_check,
            samples=bill.samples,
            retries=bill.retries,
            stored=bill.stored,
            wasted=self._wasted(),
            judge_requests=self.bill.judge_requests,
        )

    def _wasted(self) -> int:
        """Guesses that no search needed: what one need not have known, the other may have asked. One
        that was never probed, as a limit was reached, has wasted nothing."""
        searches = [strand.search for strand in self.strands]
        guessed = frozenset[Mask]().union(*(search.wasted - search.in_flight for search in searches))
        return len(guessed.difference(*(search.verdicts for search in searches)))


Seen: TypeAlias = Sequence[tuple[RuleKind, Strand, Probe]]
"""What the searches have seen of one arrangement."""


def _record(seen: Seen) -> ProbeRecord:
    _, _, first = seen[0]
    answer, latency, cause, _ = first.reply
    return ProbeRecord(
        first.arrangement.ids,
        () if answer is None else (recorded(answer),),
        {kind: recorded_judgement(probe.judgement) for kind, _, probe in seen},
        latency=latency,
        error="" if cause is None else encodable(first.reply.error),
    )


def _voted_record(seen: Seen) -> ProbeRecord:
    ballots = [probe.ballot for _, _, probe in seen if probe.ballot is not None]
    if not ballots:
        return _record(seen)
    # Whoever counted more samples has seen all that the other has.
    replies = max((ballot.replies for ballot in ballots), key=len)
    votes = {kind: strand.votes(probe) for kind, strand, probe in seen}
    return replace(
        _record(seen),
        answers=tuple([recorded(reply.answer) for reply in replies if reply.answer is not None]),
        votes={kind: count for kind, count in votes.items() if count is not None},
    )
