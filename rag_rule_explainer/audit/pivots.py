"""This module reads from the explanations of a log which documents may be to blame (the suspects).

For each suspect it finds pairs of subsets that differ only by this document. The larger subset was seen
to be bad, and the smaller one was not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..explanation.explanation import Explanation
from ..fixing.badness import badness_of
from ..rules import RuleKind
from ..verdicts import Verdict
from .blame_plan import MOST_PAIRS, PivotPair, Suspect
from .documents import DocumentNames
from .questions import AuditedQuestion

_Strength = tuple[int, int]
"""The strength of the evidence of a pair (two subsets that differ by one document), as two numbers. The
first is the number of answers that the search saw on each of its subsets: the smaller of the two counts,
or 0 if the pair was made from a rule. The second is the number of documents of the larger subset."""
Named = Callable[[str, str], str]
"""A function that gets the id of a question and the id of a document in this question, and returns the
name of the document in the log."""


def suspects_of(explanations: Iterable[tuple[str, Explanation]]) -> tuple[Suspect, ...]:
    """Returns every document that a rule of these explanations names. Documents that are named for an
    earlier question come first.

    ``explanations``: for each question whose answer was bad, its id and the explanation of the answer;
    they are read one at a time. The condition of each explanation must be that the answer is bad. Its
    retention rules then say when answers are bad, and its omission rules when they are not bad. A
    ``Suspect`` gets the document's id as its name.
    """
    known = ((question, _in_explanation(each)) for question, each in explanations)
    return _suspects(known, lambda _question, identity: identity)


def suspects_of_log(
    names: DocumentNames, read: Callable[[AuditedQuestion], Explanation | None]
) -> tuple[Suspect, ...]:
    """Returns every document of an audit that a rule names. Documents that are named for an earlier
    question come first.

    ``read``: returns the saved explanation of why the answer to a question is bad; None if there is none.
    Without an explanation, the rules are used that the audit itself keeps of the question.
    """
    by_id = {each.id: each for each in names.questions}

    def named(question: str, identity: str) -> str:
        return names.named(by_id[question], [identity])[0]

    def known_of_each() -> Iterator[tuple[str, "_Known"]]:
        for question in names.questions:
            if question.outcome == "bad" and not question.doubted:
                explanation = read(question)
                known = _in_audit(question) if explanation is None else _in_explanation(explanation)
                yield question.id, known

    return _suspects(known_of_each(), named)


@dataclass(frozen=True, slots=True)
class _Named:
    """A ``_Named`` is a rule that names suspects.

    ``settles``: True iff it is proved that the rule needs each of these documents. This is not proved if
    a smaller rule may be enough, or if the rule names near-duplicates that were only retained or omitted
    together.
    """

    kind: RuleKind
    sources: tuple[str, ...]
    settles: bool
    tied: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """A ``_Known`` holds the data on one question from its explanation.

    ``probes``: for each subset on which the application was replayed, its documents in order, the number
    of answers (above 1 if answers vote), and HOLDS iff the outcome was bad.
    """

    shown: tuple[str, ...]
    pinned: frozenset[str]
    rules: tuple[_Named, ...]
    probes: dict[frozenset[str], tuple[tuple[str, ...], int, Verdict]] = field(
        default_factory=dict[frozenset[str], tuple[tuple[str, ...], int, Verdict]]
    )


def _in_explanation(explanation: Explanation) -> _Known:
    rules = [
        _Named(each.kind, each.sources, each.proved and each.minimal is True and not each.tied, each.tied)
        for each in explanation.rules
    ]
    probes = {
        frozenset(each.kept): (each.kept, max(1, len(each.answers)), badness)
        for each in explanation.probes
        if (badness := badness_of(explanation, each)) is not None
    }
    shown = tuple(each.id for each in explanation.sources)
    pinned = frozenset(each.id for each in explanation.sources if each.pinned)
    return _Known(shown, pinned, tuple(rules), probes)


def _in_audit(question: AuditedQuestion) -> _Known:
    towards_bad = (
        *question.rules_of(RuleKind.RETENTION, "bad"),
        *question.rules_of(RuleKind.OMISSION, "not bad"),
    )
    rules = tuple(
        _Named(each.kind, each.documents, each.claim == "proved" and each.minimal is True)
        for each in towards_bad
    )
    shown = tuple(each.id for each in question.shown)
    return _Known(shown, frozenset(each.id for each in question.shown if each.pinned), rules)


@dataclass(slots=True)
class _Found:
    """This class collects the evidence against one suspect.

    ``implicated``: the questions in which a rule names the suspect. ``proved``: those in which such a
    rule is proved. ``pairs``: the pairs with the most evidence so far, at most ``MOST_PAIRS``.
    """

    implicated: list[str] = field(default_factory=list[str])
    proved: list[str] = field(default_factory=list[str])
    pairs: list[tuple[_Strength, PivotPair]] = field(default_factory=list[tuple[_Strength, PivotPair]])

    def add(self, strength: _Strength, pair: PivotPair) -> None:
        self.pairs.append((strength, pair))
        self.pairs.sort(key=lambda each: each[0], reverse=True)
        del self.pairs[MOST_PAIRS:]

    def suspect(self, name: str, shown: int) -> Suspect:
        pairs = tuple(pair for _, pair in self.pairs)
        return Suspect(name, shown, tuple(self.implicated), tuple(self.proved), pairs)


def _suspects(log: Iterable[tuple[str, _Known]], named: Named) -> tuple[Suspect, ...]:
    shown, found = defaultdict[str, int](int), defaultdict[str, _Found](_Found)
    for question, known in log:
        copies = defaultdict[str, list[str]](list)
        for identity in known.shown:
            copies[named(question, identity)].append(identity)
        rules = defaultdict[str, list[_Named]](list)
        for name in copies:
            shown[name] += 1
        for rule in known.rules:
            for name in dict.fromkeys(named(question, identity) for identity in rule.sources):
                rules[name].append(rule)
        for name, own in rules.items():
            found[name].implicated.append(question)
            # If the question shows two copies of a document, a rule about one copy proves nothing about
            # the subsets without both.
            if len(copies[name]) == 1 and any(each.settles for each in own):
                found[name].proved.append(question)
            strength, kept, removed = _best_pair(copies[name], own, known)
            found[name].add(strength, PivotPair(name, question, kept, removed))
    return tuple(one.suspect(name, shown[name]) for name, one in found.items())


def _best_pair(
    copies: Sequence[str], rules: Sequence[_Named], known: _Known
) -> tuple[_Strength, tuple[str, ...], tuple[str, ...]]:
    """Returns the pair with the most evidence: its strength, its larger subset, and the documents that
    the smaller subset lacks. It is a pair of probes if there is one; otherwise it is made from a rule.
    ``copies``: the ids of the document in the question.

    Near-duplicates that the search only retained or omitted together with this document are in neither
    subset, so that the document is tested by itself. In this way, each of several similar lies is found.
    """
    groups = [group for rule in rules for group in rule.tied if not set(copies).isdisjoint(group)]
    others = {name for group in groups for name in group} - {*copies}
    removed = tuple(each for each in known.shown if each in copies)
    unit = frozenset(copies) | others
    pairs = list(_of_probes(known, unit))
    samples, _, kept = max(pairs) if pairs else (0, 0, _of_rule(rules[0], known, unit))
    alone = tuple(each for each in kept if each not in others)
    return (samples, len(alone)), alone, removed


def _of_probes(known: _Known, tied: frozenset[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yields each subset that was seen to be bad with the ``tied`` documents, and not bad without them.

    ``tied``: the tested document, with near-duplicates that were only retained or omitted together with
    it. Each item is a triple: the number of answers on the subset with or without the tied documents
    (the smaller of the two), the number of its documents, and its documents.
    """
    for among, (kept, samples, badness) in known.probes.items():
        if badness is Verdict.HOLDS and tied <= among:
            _, others, without = known.probes.get(among - tied, ((), 0, Verdict.UNKNOWN))
            if without is Verdict.BREAKS:
                yield min(samples, others), len(kept), kept


def _of_rule(rule: _Named, known: _Known, tied: frozenset[str]) -> tuple[str, ...]:
    """Returns a subset to test with and without the ``tied`` documents. ``tied``: the suspected document,
    and near-duplicates that were only retained or omitted together with it.

    If the rule is a retention rule, by which the answer is bad, the subset consists of the documents of
    the rule, the tied documents and the pinned ones. If it is an omission rule, by which the answer is
    not bad without its documents, the subset consists of the tied documents and all documents that the
    rule does not name.
    """
    among = frozenset(rule.sources)
    if rule.kind is RuleKind.OMISSION:
        return tuple(each for each in known.shown if each not in among or each in tied)
    return tuple(each for each in known.shown if each in among or each in tied or each in known.pinned)
