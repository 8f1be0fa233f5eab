"""This module decides what a report says about an explanation, and in which order.

Modules such as ``text`` only lay this out. In this module, every text from outside (questions, answers,
documents, ids) passes through ``printable``. So no such text can move the cursor, colour a line or
imitate the report.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from ..explanation.explanation import Explanation
from ..explanation.records import Finding, SourceRecord
from ..printable import plain_id, printable, printable_within, shortened
from ..rules import RuleKind
from .all_but import named_among, rule_in_short
from .changes import flipping_changes
from .endings import completeness_of, cost_statements
from .importance_section import importance_section
from .lasting_fixes import fixes_in_words
from .provenance import changed_since, origins
from .section import ReportEntry, Section, Statement
from .short_names import LONGEST_LIST, short_ids
from .subsets import has_pinned

RULES_OF = {kind: f"{kind.value.capitalize()} rules" for kind in RuleKind}
"""The headings of the sections that list the rules, by kind."""
FLIPS = "What would flip it"
"""The heading of the section with the changes that flip the outcome (whether the answer meets the
condition)."""
_MOST_SHOWN = 10
"""The maximum number of entries in a list; the report counts the entries that are left out."""
_MOST_RULES = 50
"""The maximum number of rules of one kind that a report lists. There may be many more: if any five of ten
sources suffice, there are 252 rules."""

_LONGEST_ENTRY, _LONGEST_SENTENCE = 400, 1200
"""The maximum number of characters of a usual entry, and of an entry whose last words matter to readers.
In an entry of the second kind, long lists of names are cut, so that it seldom reaches its limit."""
_MOST_READ = 1000
"""The maximum number of characters that are read to find the first words of a text."""


class RuleRow(NamedTuple):
    """A ``RuleRow`` is a rule as a row of a table. Its fields are the columns. ``sources``: the ids of
    the rule's sources. ``rule``: the rule as a whole sentence."""

    kind: str
    sources: str
    rule: str
    claim: str
    support: str


_Votes: TypeAlias = Mapping[tuple[RuleKind, frozenset[str]], str]
"""The votes on subsets, each in words such as "3 of 4". The key is the kind of rule and the retained
sources."""

_SCOPES = {"given": "given", "retrieved": "as retrieved", "seen": "as the model saw them"}


def sections(explanation: Explanation) -> Iterator[Section]:
    """Yields the sections of the report in their order. Sections that would be empty are left out, except
    for the sources and the rules."""
    yield _opening(explanation)
    yield _sources(explanation)
    yield from _listed(
        "Held out: retrieved, but never shown to the model",
        (
            f"{plain_id(source.id)}  {printable_within(_gist(source), 90)}"
            for source in explanation.held_out
        ),
    )
    votes = _votes(explanation)
    for kind in explanation.predicates:
        yield _rules(explanation, kind, votes)
    names = short_ids([source.id for source in explanation.sources])
    yield from _changes(explanation, names)
    said = _non_rules(explanation, votes, names)
    yield from _listed("What is not a rule", said, limit=_LONGEST_SENTENCE)
    yield from importance_section(explanation)
    # A subset that has no verdict for either kind of rule is reported only once.
    yield from _listed("Left open", dict.fromkeys(_left_open(explanation, names)))
    yield from _listed("Notes", explanation.notes)
    yield Section("Cost", tuple(ReportEntry((said,)) for said in cost_statements(explanation)))
    yield Section("Made", tuple(map(_labelled, origins(explanation))))


def rule_rows(explanation: Explanation) -> Iterator[RuleRow]:
    """Yields all rules in their order, for a table of the rules alone. The caller must also
    show what ``caveats`` returns."""
    votes = _votes(explanation)
    for finding in explanation.rules:
        sources = ", ".join(map(plain_id, finding.sources))
        support = _support(explanation, finding, votes)
        yield RuleRow(finding.kind.value, sources, finding.rule, finding.claim, support)


def caveats(explanation: Explanation) -> Iterator[Statement]:
    """Yields the sentences that must be shown together with the rules: the warnings, and whether these
    are all rules."""
    yield from _warnings(explanation)
    yield completeness_of(explanation)


def _labelled(said: tuple[str, str]) -> ReportEntry:
    label, text = said
    return ReportEntry((Statement(label, "aside"), Statement(printable(text), "aside")))


def _opening(explanation: Explanation) -> Section:
    labelled = (("Question", explanation.question), ("Answer", explanation.baseline.shown))
    entries = [
        ReportEntry((Statement(label, "label"), Statement(printable_within(text, 2000))))
        for label, text in labelled
    ]
    entries += [ReportEntry((warning,)) for warning in _warnings(explanation)]
    return Section("", tuple(entries))


def _warnings(explanation: Explanation) -> Iterator[Statement]:
    for warning in (*changed_since(explanation), *explanation.warnings):
        yield Statement(f"WARNING: {printable_within(warning, 1000)}", "warning")


def _listed(
    heading: str, said: Iterable[str], remark: str = "", limit: int = _LONGEST_ENTRY
) -> Iterator[Section]:
    entries = [ReportEntry((Statement(printable_within(each, limit)),)) for each in said]
    if entries:
        left_out = max(0, len(entries) - _MOST_SHOWN)
        shown = tuple(entries[:_MOST_SHOWN])
        yield Section(heading, shown, listed=True, left_out=left_out, remark=remark)


def _changes(explanation: Explanation, names: Mapping[str, str]) -> Iterator[Section]:
    found = flipping_changes(explanation)
    # If the search recorded no removals, the removals in ``found`` come from single probes, and are not
    # in ``explanation.counterfactuals``. These removals are listed first.
    seen = [each for each in found.removals if each not in explanation.counterfactuals]
    fewest = "the pinned sources alone" if has_pinned(explanation) else "no sources"
    changes = (*seen, *explanation.counterfactuals)
    said = (each.naming(names.__getitem__, LONGEST_LIST, fewest) for each in changes)
    remark = found.remark if found.is_open else found.untried
    if found.is_open and not changes:
        yield Section(FLIPS, (ReportEntry((Statement(remark, "aside"),)),))
        return
    lasting = fixes_in_words(explanation, names.__getitem__)
    remarks = " ".join(filter(None, (remark, lasting)))
    yield from _listed(FLIPS, said, remarks, limit=_LONGEST_SENTENCE)


def _sources(explanation: Explanation) -> Section:
    tied = {each: tie.sources[0] for tie in explanation.ties for each in tie.sources[1:]}
    entries: list[ReportEntry] = []
    for source in explanation.sources:
        marked = f" (tied to {plain_id(tied[source.id])})" if source.id in tied else ""
        marked = " (pinned)" if source.pinned else marked
        gist = Statement(f"{printable_within(_gist(source), 90)}{marked}")
        entries.append(ReportEntry((Statement(plain_id(source.id), "id"), gist)))
    scope = _SCOPES[explanation.scope]
    heading = f"Sources ({len(explanation.sources)}, {scope})"
    return Section(heading, tuple(entries), columns=("Source", "Text"))


def _gist(source: SourceRecord) -> str:
    title = source.metadata.get("title")
    shown = title if isinstance(title, str) and title != source.id else source.text
    return " ".join(shown[:_MOST_READ].split())


def _votes(explanation: Explanation) -> _Votes:
    """Returns the votes in words, for every probe that was voted on."""
    return {
        (kind, frozenset(probe.kept)): f"votes: {votes.holds} for it, {votes.breaks} against"
        for probe in explanation.probes
        for kind, votes in probe.votes.items()
    }


def own_subset(explanation: Explanation, rule: Finding) -> frozenset[str]:
    """Returns the sources retained on a rule's own subset: for a retention rule only the rule's sources,
    for an omission rule all others."""
    named = set(rule.sources)
    if rule.kind is RuleKind.OMISSION:
        return frozenset(source.id for source in explanation.sources if source.id not in named)
    return frozenset(source.id for source in explanation.sources if source.pinned or source.id in named)


def _rules(explanation: Explanation, kind: RuleKind, votes: _Votes) -> Section:
    retained = kind is RuleKind.RETENTION
    rules = explanation.retention_rules if retained else explanation.omission_rules
    heading = RULES_OF[kind]
    if not rules:
        return Section(heading, (ReportEntry((Statement(no_rules(explanation, kind), "aside"),)),))
    entries: list[ReportEntry] = []
    for finding in rules[:_MOST_RULES]:
        rule = Statement(rule_in_short(explanation, finding), "sure" if finding.proved else "open")
        entries.append(ReportEntry((rule,), _support(explanation, finding, votes)))
    left_out = max(0, len(rules) - _MOST_RULES)
    columns = ("Rule", "How sure it is")
    return Section(heading, tuple(entries), listed=True, left_out=left_out, columns=columns)


def no_rules(explanation: Explanation, kind: RuleKind) -> str:
    """Returns the sentence that replaces the list of rules of a kind, if none was found. The sentence
    says that there is no such rule, or, if the search was not complete, only that no rule was found."""
    found = "none" if explanation.complete else "none found so far"
    return f"{found} with this outcome: {printable_within(explanation.predicates[kind], 200)}"


def _support(explanation: Explanation, finding: Finding, votes: _Votes) -> str:
    relation = f"; {finding.relation}" if finding.relation else ""
    counted = votes.get((finding.kind, own_subset(explanation, finding)))
    voted = f"; on its own subset, {counted}" if counted else ""
    return f"{printable(finding.evidence)}{voted}{relation}"


def _non_rules(explanation: Explanation, votes: _Votes, names: Mapping[str, str]) -> Iterator[str]:
    everything = [source.id for source in explanation.sources]
    free = [source.id for source in explanation.sources if not source.pinned]
    ties = [tie.sources for tie in explanation.ties]
    for witness in explanation.witnesses:
        doing = "retaining" if witness.kind is RuleKind.RETENTION else "omitting"
        phrase = named_among(witness.sources, free, ties, names)
        named = phrase.text or "nothing"
        kept = named_among(witness.kept, everything, names=names).text or "no sources"
        others = {*witness.sources} if doing == "retaining" else {*everything} - {*witness.sources}
        given = "" if {*witness.kept} == others else f" with {kept} retained"
        counted = votes.get((witness.kind, frozenset(witness.kept)))
        voted = f" ({counted})" if counted else ""
        if doing == "omitting" and phrase.by == "rest" and not given:
            named = f"the others, with only {kept} left"
        said = "it was not so" if witness.answer is None else _answered(witness.answer)
        yield f"{doing} {named}: no,{given} {said}{voted}"


def _left_open(explanation: Explanation, names: Mapping[str, str]) -> Iterator[str]:
    everything = [source.id for source in explanation.sources]
    for unresolved in explanation.unresolved:
        kept = named_among(unresolved.kept, everything, names=names).text
        yield f"{kept or 'no sources'}: {unresolved.reason}"


def _answered(answer: str) -> str:
    return f"the answer was {shortened(answer, 80)!r}"
