"""This module decides what a report says of an explanation, and in which order.

The layouts, such as ``text``, only arrange it. Every text from outside (questions, answers, documents,
ids) is ``printable`` already, and no layout may read it as markup. So no such text can move the cursor,
colour a line or imitate the report.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ..explanation.explanation import Explanation
from ..explanation.records import DOUBTED, JUDGED_TOGETHER, Finding, SourceRecord
from ..explanation.wording import joined, named_units, phrase
from ..lattice import subset_count
from ..printable import plain_id, printable, shortened
from ..rules import RuleKind

ReportTone: TypeAlias = Literal["plain", "label", "warning", "id", "sure", "open", "aside"]
"""The role of a text, for layouts with colours. *sure*: proved or complete; *open*: neither."""
_MOST_SHOWN = 10
"""The maximum number of entries in a list; the report counts the entries that are left out."""

_MOST_RULES = 50
"""The maximum number of rules of one kind; a condition "any five of ten sources" has 252."""


class Statement(NamedTuple):
    """A ``Statement`` is a text with its tone."""

    text: str
    tone: ReportTone = "plain"


class ReportEntry(NamedTuple):
    """A ``ReportEntry`` is one line of a section. ``cells``: its columns. ``below``: its evidence."""

    cells: tuple[Statement, ...]
    below: str = ""


class Section(NamedTuple):
    """A ``Section`` is a heading with its entries.

    ``heading``: empty for the opening section. ``listed``: whether the entries have bullets.
    ``left_out``: the number of entries that were left out.
    """

    heading: str
    entries: tuple[ReportEntry, ...]
    listed: bool = False
    left_out: int = 0


class RuleRow(NamedTuple):
    """A ``RuleRow`` is a rule as a row of a table; its fields are the columns. ``sources``: the ids
    alone, while ``rule`` says all that the rule depends on."""

    kind: str
    sources: str
    rule: str
    claim: str
    support: str


_Votes: TypeAlias = Mapping[tuple[RuleKind, frozenset[str]], str]
"""The counted votes in words, by the kind of rule and the retained sources."""

_SCOPES = {"given": "given", "retrieved": "as retrieved", "seen": "as the model saw them"}


def sections(explanation: Explanation) -> Iterator[Section]:
    """Yields the sections of the report in their order, without empty optional sections."""
    yield _opening(explanation)
    yield _sources(explanation)
    yield from _listed(
        "Held out: retrieved, but never shown to the model",
        (f"{plain_id(source.id)}  {shortened(_gist(source), 90)}" for source in explanation.held_out),
    )
    votes = _votes(explanation)
    for kind in explanation.predicates:
        yield _rules(explanation, kind, votes)
    yield from _listed("What would flip it", map(str, explanation.counterfactuals))
    yield from _listed("What is not a rule", _non_rules(explanation, votes))
    yield from _importance(explanation)
    left_open = (f"{joined(u.kept) or 'no sources'}: {u.reason}" for u in explanation.unresolved)
    # Both kinds of rule may leave the same subset open, which is reported once.
    yield from _listed("Left open", dict.fromkeys(left_open))
    yield from _listed("Notes", explanation.notes)
    yield Section("Cost", tuple(ReportEntry((said,)) for said in _cost(explanation)))


def rule_rows(explanation: Explanation) -> Iterator[RuleRow]:
    """Yields all rules in their order, for a table of the rules alone. The caller must also
    show what ``caveats`` returns."""
    votes = _votes(explanation)
    for finding in explanation.rules:
        sources = ", ".join(map(plain_id, finding.sources))
        support = _support(explanation, finding, votes)
        yield RuleRow(finding.kind.value, sources, finding.rule, finding.claim, support)


def caveats(explanation: Explanation) -> Iterator[Statement]:
    """Yields what has to be said beside the rules: the warnings, and whether these are all the rules."""
    yield from _warnings(explanation)
    yield _ending(explanation)


def _opening(explanation: Explanation) -> Section:
    labelled = (("Question", explanation.question), ("Answer", explanation.baseline.text))
    entries = [
        ReportEntry((Statement(label, "label"), Statement(shortened(printable(text), 2000))))
        for label, text in labelled
    ]
    entries += [ReportEntry((warning,)) for warning in _warnings(explanation)]
    return Section("", tuple(entries))


def _warnings(explanation: Explanation) -> Iterator[Statement]:
    for warning in explanation.warnings:
        yield Statement(f"WARNING: {shortened(printable(warning), 1000)}", "warning")


def _listed(heading: str, said: Iterable[str]) -> Iterator[Section]:
    entries = [ReportEntry((Statement(shortened(printable(each), 400)),)) for each in said]
    if entries:
        left_out = max(0, len(entries) - _MOST_SHOWN)
        yield Section(heading, tuple(entries[:_MOST_SHOWN]), listed=True, left_out=left_out)


def _sources(explanation: Explanation) -> Section:
    tied = {each: tie.sources[0] for tie in explanation.ties for each in tie.sources[1:]}
    entries: list[ReportEntry] = []
    for source in explanation.sources:
        marked = f" (tied to {plain_id(tied[source.id])})" if source.id in tied else ""
        marked = " (pinned)" if source.pinned else marked
        gist = Statement(f"{shortened(_gist(source), 90)}{marked}")
        entries.append(ReportEntry((Statement(plain_id(source.id), "id"), gist)))
    scope = _SCOPES[explanation.scope]
    return Section(f"Sources ({len(explanation.sources)}, {scope})", tuple(entries))


def _gist(source: SourceRecord) -> str:
    title = source.metadata.get("title")
    shown = title if isinstance(title, str) and title != source.id else source.text
    return printable(" ".join(shown.split()))


def _votes(explanation: Explanation) -> _Votes:
    """Returns the counted votes of all probes that were voted on, in words."""
    return {
        (kind, frozenset(probe.kept)): f"votes: {votes.holds} for it, {votes.breaks} against"
        for probe in explanation.probes
        for kind, votes in probe.votes.items()
    }


def _own(explanation: Explanation, rule: Finding) -> frozenset[str]:
    """Returns the sources retained on a rule's own subset: only the rule's sources, or all others."""
    named = set(rule.sources)
    if rule.kind is RuleKind.OMISSION:
        return frozenset(source.id for source in explanation.sources if source.id not in named)
    return frozenset(source.id for source in explanation.sources if source.pinned or source.id in named)


def _rules(explanation: Explanation, kind: RuleKind, votes: _Votes) -> Section:
    retained = kind is RuleKind.RETENTION
    rules = explanation.retention_rules if retained else explanation.omission_rules
    heading = f"{kind.value.capitalize()} rules"
    if not rules:
        found = "none" if explanation.complete else "none found so far"
        condition = shortened(printable(explanation.predicates[kind]), 200)
        return Section(heading, (ReportEntry((Statement(f"{found}, for: {condition}", "aside"),)),))
    entries: list[ReportEntry] = []
    for finding in rules[:_MOST_RULES]:
        rule = Statement(finding.rule, "sure" if finding.proved else "open")
        entries.append(ReportEntry((rule,), _support(explanation, finding, votes)))
    left_out = max(0, len(rules) - _MOST_RULES)
    return Section(heading, tuple(entries), listed=True, left_out=left_out)


def _support(explanation: Explanation, finding: Finding, votes: _Votes) -> str:
    relation = f"; {finding.relation}" if finding.relation else ""
    counted = votes.get((finding.kind, _own(explanation, finding)))
    voted = f"; on its own subset, {counted}" if counted else ""
    return f"{printable(finding.evidence)}{voted}{relation}"


def _non_rules(explanation: Explanation, votes: _Votes) -> Iterator[str]:
    everything = [source.id for source in explanation.sources]
    free = [source.id for source in explanation.sources if not source.pinned]
    ties = [tie.sources for tie in explanation.ties]
    for witness in explanation.witnesses:
        doing = "retaining" if witness.kind is RuleKind.RETENTION else "omitting"
        attempt = f"{doing} {_named(witness.sources, free, ties) or 'nothing'}"
        kept = _named(witness.kept, everything) or "no sources"
        given = "" if witness.kept == witness.sources else f" with {kept} retained"
        counted = votes.get((witness.kind, frozenset(witness.kept)))
        voted = f" ({counted})" if counted else ""
        yield f"{attempt} is not enough{given}{_answered(witness.answer)}{voted}"


def _named(ids: Sequence[str], everything: Sequence[str], ties: Iterable[Sequence[str]] = ()) -> str:
    """Returns the names of the ids; if most sources are meant, "all but" the names of the others."""
    among = set(ids)
    rest = [identity for identity in everything if identity not in among]
    many = len(ids) > _MOST_SHOWN or len(ids) > 2 * len(rest) + 1
    if not (rest and many) or len(rest) > _MOST_SHOWN:
        return phrase(named_units(ids, ties))
    return f"all but {phrase(named_units(rest, ties))}"


def _answered(answer: str | None) -> str:
    return "" if answer is None else f": the answer was {shortened(answer, 80)!r}"


def _importance(explanation: Explanation) -> Iterator[Section]:
    counting = [index for index in explanation.importance if index.banzhaf]
    entries: list[ReportEntry] = []
    for index in counting:
        estimated = f"  (estimated, +- {index.error:.2g})" if index.error else ""
        tied = f"  (with {joined(index.tied)})" if index.tied else ""
        figures = f"{index.banzhaf:.3f}  {index.shapley:.3f}{estimated}{tied}"
        cells = (plain_id(index.source), index.kind.value, figures)
        entries.append(ReportEntry(tuple(map(Statement, cells))))
    if entries:
        proved = all(finding.proved for finding in explanation.rules)
        caveat = "" if proved else ", as far as these rules are so"
        yield Section(f"Importance (Banzhaf, Shapley{caveat})", tuple(entries))


def _cost(explanation: Explanation) -> Iterator[Statement]:
    counts, spent = explanation.counts, explanation.spent
    subsets = subset_count(1 << len(explanation.units))
    yield Statement(
        f"{counts.probes} probes of {subsets} subsets; {counts.replays} replays "
        f"({counts.baseline} baseline, {counts.repeat_check} repeat check, {counts.samples} samples, "
        f"{counts.retries} retries); {counts.reused} answers reused"
    )
    if counts.stored:
        yield Statement(f"{counts.stored} answers came from the store")
    if counts.wasted:
        yield Statement(f"{counts.wasted} probes were guesses that were not needed")
    yield from _spent("replays", spent.replays, spent.replays_cost)
    if counts.judge_requests:
        requests = "request" if counts.judge_requests == 1 else "requests"
        yield Statement(f"{counts.judge_requests:,} {requests} to the judge")
    yield from _spent("judge", spent.judge, spent.judge_cost)
    yield Statement(printable(f"miner: {explanation.miner.name} ({explanation.miner.reason})"))
    yield _ending(explanation)


def _ending(explanation: Explanation) -> Statement:
    if explanation.ended:
        negated = "" if explanation.complete else "not "
        tone: ReportTone = "sure" if explanation.complete else "open"
        return Statement(f"{negated}complete: {_completeness(explanation)}", tone)
    why = shortened(printable(explanation.why_incomplete), 300)
    sure = all(finding.claim in {"proved", "confident"} for finding in explanation.rules)
    shown = "what is shown is true, " if sure and not explanation.voted else ""
    return Statement(f"not complete ({why}): {shown}more may exist", "open")


def _completeness(explanation: Explanation) -> str:
    passed = "passed the votes" if explanation.voted else ""
    if explanation.miner.name == "partitioned":
        passed = passed or "was found"
        return f"no other rule within a batch {passed}; those over several are not looked for"
    if JUDGED_TOGETHER in explanation.warnings:
        passed = passed or "was found"
    if explanation.stop_reason == DOUBTED:
        return f"no other rule {passed or 'was found'}; {DOUBTED}"
    if not explanation.complete:
        passed = passed or "was found"
        return f"no other rule of the kept sources {passed}; there may be rules that name dropped ones"
    if passed:
        return f"no other rule {passed}"
    tested = any(finding.claim == "tested" for finding in explanation.rules)
    units = " of units, as near-duplicates stayed together" if explanation.ties else ""
    return "no other rule passed the tests" if tested else f"these are all the rules there are{units}"


def _spent(whose: str, tokens: Mapping[str, int], cost: float | None) -> Iterator[Statement]:
    if tokens:
        counted = ", ".join(f"{count:,} {printable(kind)}" for kind, count in tokens.items())
        money = "" if cost is None else f"; cost {cost:,.4f}"
        yield Statement(f"{whose}: {counted}{money}")
