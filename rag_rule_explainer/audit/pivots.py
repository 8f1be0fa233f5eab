"""This module reads from explanations which documents are suspects, and on which subsets they decided."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..fixing.badness import badness_of
from ..rules import RuleKind
from ..verdicts import Verdict
from .blame_plan import MOST_PAIRS, PivotPair, Suspect

_Strength = tuple[int, int]
"""The number of samples behind a pair, and of its documents."""


def suspects_in(explanation: Explanation) -> tuple[str, ...]:
    """Returns the documents that rules of the bad outcome name, the one to suspect most first: by its
    Shapley index among retention rules, then among omission rules, then in the order shown."""
    named = {name for rule in explanation.rules for name in rule.sources}
    power = {(each.source, each.kind): each.shapley for each in explanation.importance}
    rank = {source.id: place for place, source in enumerate(explanation.sources)}

    def order(name: str) -> tuple[float, float, int]:
        of_rules = (power.get((name, kind), 0.0) for kind in (RuleKind.RETENTION, RuleKind.OMISSION))
        retained, omitted = of_rules
        return -retained, -omitted, rank[name]

    return tuple(sorted(named, key=order))


@dataclass(slots=True)
class _Found:
    """What is known of one suspect so far. ``pairs``: those with the most evidence."""

    implicated: list[str] = field(default_factory=list[str])
    proved: list[str] = field(default_factory=list[str])
    pairs: list[tuple[_Strength, PivotPair]] = field(default_factory=list[tuple[_Strength, PivotPair]])

    def add(self, strength: _Strength, pair: PivotPair) -> None:
        self.pairs.append((strength, pair))
        self.pairs.sort(key=lambda each: each[0], reverse=True)
        del self.pairs[MOST_PAIRS:]


def suspects_of(
    explanations: Iterable[tuple[str, Explanation]],
    named: Callable[[str, str], str] = lambda _question, identity: identity,
) -> tuple[Suspect, ...]:
    """Returns every document that a rule of the bad outcome names, in the order of the first question
    that it is named in.

    ``explanations``: the question's id and the explanation of each question whose answer was bad; they
    are read one at a time. ``named``: returns the name that a document has in the log, from the
    question's id and its own id there; by default, this id. The bad outcome is what the condition of
    retention rules looks for, and what that of omission rules excludes.
    """
    shown, found = defaultdict[str, int](int), defaultdict[str, _Found](_Found)
    for question, explanation in explanations:
        for source in explanation.sources:
            shown[named(question, source.id)] += 1
        rules = defaultdict[str, list[Finding]](list)
        for rule in explanation.rules:
            for document in rule.sources:
                rules[document].append(rule)
        for identity, own in rules.items():
            name = named(question, identity)
            found[name].implicated.append(question)
            if any(map(_settles, own)):
                found[name].proved.append(question)
            strength, kept, removed = _best_pair(identity, own, explanation)
            found[name].add(strength, PivotPair(name, question, kept, removed))
    return tuple(
        Suspect(
            name, shown[name], tuple(one.implicated), tuple(one.proved), tuple(p for _, p in one.pairs)
        )
        for name, one in found.items()
    )


def _settles(rule: Finding) -> bool:
    # A rule of which a part is a rule, too, may name a document for nothing.
    return rule.proved and rule.minimal is True and not rule.tied and not rule.tied_beside


def _best_pair(
    identity: str, rules: Sequence[Finding], explanation: Explanation
) -> tuple[_Strength, tuple[str, ...], tuple[str, ...]]:
    """Returns the pair with the most evidence, as its strength, its larger subset, and what the smaller
    one lacks: of the probes, or else of the rules themselves."""
    tied = next((group for rule in rules for group in rule.tied if identity in group), (identity,))
    pairs = list(_of_probes(explanation, frozenset(tied)))
    if pairs:
        samples, _, kept = max(pairs)
        return (samples, len(kept)), kept, tied
    kept = _of_rule(rules[0], explanation, frozenset(tied))
    return (0, len(kept)), kept, tied


def _of_probes(
    explanation: Explanation, tied: frozenset[str]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yields, of each pair of probes of which only the larger is bad, the smaller number of samples, the
    number of documents, and the documents of the larger."""
    seen = {
        frozenset(probe.kept): (probe, badness_of(explanation, probe)) for probe in explanation.probes
    }
    for kept, (probe, badness) in seen.items():
        if tied <= kept and badness is Verdict.HOLDS:
            other, without = seen.get(kept - tied, (probe, None))
            if without is Verdict.BREAKS:
                samples = min(max(1, len(each.answers)) for each in (probe, other))
                yield samples, len(kept), probe.kept


def _of_rule(rule: Finding, explanation: Explanation, tied: frozenset[str]) -> tuple[str, ...]:
    """Returns the subset on which only the rule's document makes the outcome bad, if nothing but the rule
    decides."""
    among = frozenset(rule.sources)
    if rule.kind is RuleKind.OMISSION:
        return tuple(each.id for each in explanation.sources if each.id not in among or each.id in tied)
    return tuple(each.id for each in explanation.sources if each.id in among or each.pinned)
