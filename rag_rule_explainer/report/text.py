"""An explanation as text, for a terminal or a file.

Everything that comes from outside (questions, answers, documents, ids) goes through ``printable`` and is
never read as markup, so no text can move the cursor, colour a line or pretend to be the report's own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from rich.text import Text

from ..explanation.explanation import Explanation
from ..explanation.records import DOUBTED, JUDGED_TOGETHER, Finding, SourceRecord
from ..explanation.wording import joined, named_units, phrase
from ..lattice import subset_count
from ..printable import plain_id, printable, shortened
from ..rules import RuleKind

_MOST_SHOWN = 10
"""Of a list that may be long; the rest is counted."""

_MOST_RULES = 50
"""Of one kind: "any five of ten sources" makes 252."""

_WIDEST = 40
"""Most columns that are reserved for ids."""

_Votes: TypeAlias = Mapping[tuple[RuleKind, frozenset[str]], str]
"""By the kind of rule and the sources kept."""

_SCOPES = {"given": "given", "retrieved": "as retrieved", "seen": "as the model saw them"}


def as_text(explanation: Explanation) -> str:
    """The report as plain text, ending in a newline."""
    return "".join(f"{line.plain}\n" for line in lines(explanation))


def lines(explanation: Explanation) -> Iterator[Text]:
    """The report line by line, styled."""
    yield _labelled("Question", explanation.question)
    yield _labelled("Answer", explanation.baseline.text)
    for warning in explanation.warnings:
        yield Text(f"WARNING: {shortened(printable(warning), 1000)}", style="bold red")
    yield from _sources(explanation)
    yield from _listed(
        "Held out: retrieved, but never shown to the model",
        (f"{plain_id(source.id)}  {shortened(_gist(source), 90)}" for source in explanation.held_out),
    )
    votes = _votes(explanation)
    for kind in explanation.predicates:
        yield from _rules(explanation, kind, votes)
    yield from _listed("What would flip it", map(str, explanation.counterfactuals))
    yield from _listed("What is not a rule", _non_rules(explanation, votes))
    yield from _importance(explanation)
    left_open = (f"{joined(u.kept) or 'no sources'}: {u.reason}" for u in explanation.unresolved)
    # What both kinds needed is said once.
    yield from _listed("Left open", dict.fromkeys(left_open))
    yield from _listed("Notes", explanation.notes)
    yield from _cost(explanation)


def _labelled(label: str, text: str) -> Text:
    return Text.assemble((f"{label}: ", "bold"), shortened(printable(text), 2000))


def _heading(text: str) -> Iterator[Text]:
    yield Text()
    yield Text(text, style="bold")


def _listed(heading: str, entries: Iterable[str], limit: int = _MOST_SHOWN) -> Iterator[Text]:
    entries = list(entries)
    if entries:
        yield from _heading(heading)
    for entry in entries[:limit]:
        yield Text(f"  - {shortened(printable(entry), 400)}")
    yield from _rest(len(entries) - limit)


def _rest(count: int) -> Iterator[Text]:
    if count > 0:
        yield Text(f"  … and {count} more", style="dim")


def _width(ids: Iterable[str]) -> int:
    return min(_WIDEST, max((len(plain_id(identity)) for identity in ids), default=0))


def _sources(explanation: Explanation) -> Iterator[Text]:
    yield from _heading(f"Sources ({len(explanation.sources)}, {_SCOPES[explanation.scope]})")
    width = _width(source.id for source in explanation.sources)
    tied = {each: tie.sources[0] for tie in explanation.ties for each in tie.sources[1:]}
    for source in explanation.sources:
        marked = f" (tied to {plain_id(tied[source.id])})" if source.id in tied else ""
        marked = " (pinned)" if source.pinned else marked
        yield Text.assemble(
            "  ", (plain_id(source.id).ljust(width), "cyan"), "  ", shortened(_gist(source), 90), marked
        )


def _gist(source: SourceRecord) -> str:
    title = source.metadata.get("title")
    shown = title if isinstance(title, str) and title != source.id else source.text
    return printable(" ".join(shown.split()))


def _votes(explanation: Explanation) -> _Votes:
    """What was counted where samples were put to the vote, in words."""
    return {
        (kind, frozenset(probe.kept)): f"votes: {votes.holds} for it, {votes.breaks} against"
        for probe in explanation.probes
        for kind, votes in probe.votes.items()
    }


def _own(explanation: Explanation, rule: Finding) -> frozenset[str]:
    """What is kept on a rule's own subset: of those that it speaks about, the one that says least."""
    named = set(rule.sources)
    if rule.kind is RuleKind.OMISSION:
        return frozenset(source.id for source in explanation.sources if source.id not in named)
    return frozenset(source.id for source in explanation.sources if source.pinned or source.id in named)


def _rules(explanation: Explanation, kind: RuleKind, votes: _Votes) -> Iterator[Text]:
    of_kind: dict[RuleKind, Sequence[Finding]] = {
        RuleKind.RETENTION: explanation.retention_rules,
        RuleKind.OMISSION: explanation.omission_rules,
    }
    yield from _heading(f"{kind.value.capitalize()} rules")
    for finding in of_kind[kind][:_MOST_RULES]:
        yield Text.assemble("  - ", (finding.rule, "green" if finding.proved else "yellow"))
        relation = f"; {finding.relation}" if finding.relation else ""
        counted = votes.get((kind, _own(explanation, finding)))
        told_of = f"; on its own subset, {counted}" if counted else ""
        yield Text(f"      {printable(finding.evidence)}{told_of}{relation}", style="dim")
    yield from _rest(len(of_kind[kind]) - _MOST_RULES)
    if not of_kind[kind]:
        found = "none" if explanation.complete else "none found so far"
        condition = shortened(printable(explanation.predicates[kind]), 200)
        yield Text(f"  {found}, for: {condition}", style="dim")


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
        told_of = f" ({counted})" if counted else ""
        yield f"{attempt} is not enough{given}{_answered(witness.answer)}{told_of}"


def _named(ids: Sequence[str], everything: Sequence[str], ties: Iterable[Sequence[str]] = ()) -> str:
    """Most of many are named by what is not among them."""
    among = set(ids)
    rest = [identity for identity in everything if identity not in among]
    many = len(ids) > _MOST_SHOWN or len(ids) > 2 * len(rest) + 1
    if not (rest and many) or len(rest) > _MOST_SHOWN:
        return phrase(named_units(ids, ties))
    return f"all but {phrase(named_units(rest, ties))}"


def _answered(answer: str | None) -> str:
    return "" if answer is None else f": the answer was {shortened(answer, 80)!r}"


def _importance(explanation: Explanation) -> Iterator[Text]:
    counting = [index for index in explanation.importance if index.banzhaf]
    if counting:
        proved = all(finding.proved for finding in explanation.rules)
        caveat = "" if proved else ", as far as these rules are so"
        yield from _heading(f"Importance (Banzhaf, Shapley{caveat})")
    width = _width(index.source for index in counting)
    for index in counting:
        estimated = f"  (estimated, +- {index.error:.2g})" if index.error else ""
        tied = f"  (with {joined(index.tied)})" if index.tied else ""
        yield Text(
            f"  {plain_id(index.source).ljust(width)}  {index.kind.value:9}  "
            f"{index.banzhaf:.3f}  {index.shapley:.3f}{estimated}{tied}"
        )


def _cost(explanation: Explanation) -> Iterator[Text]:
    counts = explanation.counts
    subsets = subset_count(1 << len(explanation.units))
    yield from _heading("Cost")
    yield Text(
        f"  {counts.probes} probes of {subsets} subsets; {counts.replays} replays "
        f"({counts.baseline} baseline, {counts.repeat_check} repeat check, {counts.samples} samples, "
        f"{counts.retries} retries); {counts.reused} answers reused"
    )
    if counts.stored:
        yield Text(f"  {counts.stored} answers came from the store")
    if counts.wasted:
        yield Text(f"  {counts.wasted} probes were guesses that were not needed")
    spent = explanation.spent
    yield from _spent("replays", spent.replays, spent.replays_cost)
    if counts.judge_requests:
        requests = "request" if counts.judge_requests == 1 else "requests"
        yield Text(f"  {counts.judge_requests:,} {requests} to the judge")
    yield from _spent("judge", spent.judge, spent.judge_cost)
    yield Text(printable(f"  miner: {explanation.miner.name} ({explanation.miner.reason})"))
    if explanation.ended:
        style = "green" if explanation.complete else "yellow"
        negated = "" if explanation.complete else "not "
        yield Text(f"  {negated}complete: {_completeness(explanation)}", style=style)
    else:
        why = shortened(printable(explanation.why_incomplete), 300)
        sure = all(finding.claim in {"proved", "confident"} for finding in explanation.rules)
        shown = "what is shown is true, " if sure and not explanation.voted else ""
        yield Text(f"  not complete ({why}): {shown}more may exist", style="yellow")


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


def _spent(whose: str, tokens: Mapping[str, int], cost: float | None) -> Iterator[Text]:
    if tokens:
        told = ", ".join(f"{count:,} {printable(kind)}" for kind, count in tokens.items())
        money = "" if cost is None else f"; cost {cost:,.4f}"
        yield Text(f"  {whose}: {told}{money}")
