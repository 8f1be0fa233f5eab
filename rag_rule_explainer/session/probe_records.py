"""This module turns the probes of the searches into the records of an explanation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TypeAlias, cast

from ..explanation.records import Finding, ProbeRecord
from ..lattice import ArrangementKey
from ..printable import encodable
from ..probing.prober import Ballot, Probe
from ..probing.replaying import Baseline
from ..rules import RuleKind
from ..sources import SourceSet
from ..verdicts import Answer, Case, Judgement, Verdict
from .recorded import recorded, recorded_judgement
from .tracked_search import TrackedSearch

Seen: TypeAlias = Sequence[tuple[RuleKind, TrackedSearch, Probe]]
"""The probes of one arrangement (an ordered list of sources). Each probe comes with the kind of rule and
the search for which the probe was made."""


def probe_records(
    keys: Sequence[ArrangementKey], searches: Sequence[TrackedSearch], *, voted: bool
) -> Iterator[ProbeRecord]:
    """Yields a record for each arrangement (an ordered list of sources). ``keys``: the keys of the
    arrangements. A record has the answer and the verdict of each search. ``voted``: True if a verdict may
    be the majority of several answers."""
    tracked_searches = [(tracked.search.kind, tracked, tracked.probes) for tracked in searches]
    if voted:
        for key in keys:
            yield _voted_record([(k, each, p[key]) for k, each, p in tracked_searches if key in p])
        return
    by_kind = [(kind, probes) for kind, _, probes in tracked_searches]
    # Thousands of probes have the same few Answer objects, so their records share the tuples of these
    # objects.
    known: dict[int, tuple[Answer, ...]] = {}
    for key in keys:
        verdicts: dict[RuleKind, Judgement] = {}
        first: Probe | None = None
        for kind, probes in by_kind:
            probe = probes.get(key)
            if probe is not None:
                first = first or probe
                judged = probe.judgement
                verdicts[kind] = judged if judged.reason.isascii() else recorded_judgement(judged)
        if first is not None:
            answer = first.reply.answer
            answers = known.get(id(answer))
            if answers is None:
                answers = known[id(answer)] = () if answer is None else (recorded(answer),)
            yield _record(first, verdicts, answers)


def baseline_record(
    baseline: Baseline,
    question: str,
    sources: SourceSet,
    searches: Sequence[TrackedSearch],
    rules: Mapping[RuleKind, Sequence[Finding]],
) -> ProbeRecord | None:
    """Returns the run on all sources as the record of a probe, for a search that did not need this
    subset. Returns None if the application did not run on exactly these sources, or if a verdict on it is
    not the usual one (HOLDS for the condition of retention rules, BREAKS for that of omission rules)."""
    if baseline.current is None:
        return None
    kept = sources.sources
    case = Case(question, baseline.answer, baseline.current, kept, kept)
    known = {each.search.kind: each.judging.known(case) for each in searches}
    verdicts = {kind: recorded_judgement(each) for kind, each in known.items() if each is not None}
    usual = {RuleKind.RETENTION: Verdict.HOLDS, RuleKind.OMISSION: Verdict.BREAKS}
    always = any(not rule.sources for rule in rules.get(RuleKind.OMISSION, ()))
    if always or not verdicts or any(each.verdict is not usual[kind] for kind, each in verdicts.items()):
        return None
    ids = tuple(source.id for source in kept)
    return ProbeRecord(ids, (recorded(baseline.current),), verdicts)


# An explanation has thousands of records, and ``ProbeRecord(...)`` is slow, because the dataclass is
# frozen. So ``_record`` sets the fields by these functions.
_set_kept, _set_answers, _set_verdicts, _set_votes, _set_latency, _set_error = (
    cast("Callable[[ProbeRecord, object], None]", getattr(ProbeRecord, each.name).__set__)
    for each in fields(ProbeRecord)
)


def _record(
    first: Probe, verdicts: dict[RuleKind, Judgement], answers: tuple[Answer, ...]
) -> ProbeRecord:
    _, latency, cause, _ = first.reply
    error = "" if cause is None else encodable(first.reply.error)
    kept = tuple([source.id for source in first.arrangement.sources])
    record = object.__new__(ProbeRecord)
    _set_kept(record, kept)
    _set_answers(record, answers)
    _set_verdicts(record, verdicts)
    _set_votes(record, {})
    _set_latency(record, latency)
    _set_error(record, error)
    return record


def _voted_record(seen: Seen) -> ProbeRecord:
    ballots = [probe.ballot for _, _, probe in seen if probe.ballot is not None]
    first_probe = seen[0][2]
    answer = first_probe.reply.answer
    plain = _record(
        first_probe,
        {kind: recorded_judgement(probe.judgement) for kind, _, probe in seen},
        () if answer is None else (recorded(answer),),
    )
    if not ballots:
        return plain
    # The votes for both kinds of rule use the same numbered samples. So the vote with more samples
    # contains all samples of the other vote.
    replies = max((ballot.replies for ballot in ballots), key=len)
    votes = {kind: tracked.votes(probe) for kind, tracked, probe in seen}
    # Reports show the first answer beside the verdict of the vote, so the first answer must itself have
    # this verdict.
    first = _agreeing(ballots)
    ordered = [*replies[first : first + 1], *replies[:first], *replies[first + 1 :]]
    return replace(
        plain,
        answers=tuple([recorded(reply.answer) for reply in ordered if reply.answer is not None]),
        votes={kind: count for kind, count in votes.items() if count is not None},
    )


def _agreeing(ballots: Sequence[Ballot]) -> int:
    """Returns the index of the first sample (answer) whose own verdict agrees with the outcome of every
    ballot. There is one ballot (vote) for each condition. If no sample agrees with all ballots, returns
    the index of one that agrees with the first ballot; 0 if none does."""
    of_first, *others = (ballot.agreeing for ballot in ballots)
    return min(of_first.intersection(*others) or of_first, default=0)
