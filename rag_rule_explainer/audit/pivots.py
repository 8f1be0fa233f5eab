"""This module reads from explanations which documents are suspects, and on which subsets they decided."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ..explanation.explanation import Explanation
from ..explanation.records import Finding
from ..fixing.badness import badness_of
from ..rules import RuleKind
from ..verdicts import Verdict
from .blame_plan import PivotPair, Suspect


def suspects_of(explanations: Mapping[str, Explanation]) -> tuple[Suspect, ...]:
    """Returns every document that a rule of the bad outcome names, in the order of the first question that
    it is named in.

    ``explanations``: by the question's id, those of the questions whose answer was bad. The bad outcome
    is what the condition of retention rules looks for, and what that of omission rules excludes.
    """
    shown = defaultdict[str, int](int)
    named = defaultdict[str, dict[str, list[Finding]]](dict)
    for question, explanation in explanations.items():
        for source in explanation.sources:
            shown[source.id] += 1
        for rule in (*explanation.retention_rules, *explanation.omission_rules):
            for document in rule.sources:
                named[document].setdefault(question, []).append(rule)
    return tuple(
        _suspect(document, shown[document], rules, explanations) for document, rules in named.items()
    )


def _suspect(
    document: str,
    shown: int,
    rules: Mapping[str, list[Finding]],
    explanations: Mapping[str, Explanation],
) -> Suspect:
    # A rule of which a part is a rule may name a document for nothing.
    proved = tuple(name for name, own in rules.items() if any(_settles(each) for each in own))
    found = [_best_pair(document, name, own, explanations[name]) for name, own in rules.items()]
    found.sort(key=lambda each: each[0], reverse=True)
    return Suspect(document, shown, tuple(rules), proved, tuple(pair for _, pair in found))


def _settles(rule: Finding) -> bool:
    return rule.proved and rule.minimal is True and not rule.tied and not rule.tied_beside


def _best_pair(
    document: str, question: str, rules: Iterable[Finding], explanation: Explanation
) -> tuple[tuple[int, int], PivotPair]:
    """Returns the pair with the most evidence, with its number of samples and of documents; those of the
    probes, or else of the rules themselves."""
    rules = tuple(rules)
    tied = next((group for rule in rules for group in rule.tied if document in group), (document,))
    pairs = list(_of_probes(explanation, document, frozenset(tied)))
    if pairs:
        samples, _, kept = max(pairs, key=lambda each: (each[0], each[1], each[2]))
        return (samples, len(kept)), PivotPair(document, question, kept, tied)
    kept = _of_rule(rules[0], explanation, frozenset(tied))
    return (0, len(kept)), PivotPair(document, question, kept, tied)


def _of_probes(
    explanation: Explanation, document: str, tied: frozenset[str]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yields, of each pair of probes of which only the larger is bad, the smaller number of samples, the
    number of documents, and the documents of the larger."""
    seen = {
        frozenset(probe.kept): (probe, badness_of(explanation, probe)) for probe in explanation.probes
    }
    for kept, (probe, badness) in seen.items():
        if document in kept and tied <= kept and badness is Verdict.HOLDS:
            other, without = seen.get(kept - tied, (probe, None))
            if without is Verdict.BREAKS:
                samples = min(max(1, len(each.answers)) for each in (probe, other))
                yield samples, len(kept), probe.kept


def _of_rule(rule: Finding, explanation: Explanation, tied: frozenset[str]) -> tuple[str, ...]:
    """Returns the subset on which only the rule's document makes the outcome bad, if nothing but the rule
    decides."""
    among = frozenset(rule.sources)
    if rule.kind is RuleKind.OMISSION:
        return tuple(
            each.id for each in explanation.sources if each.id not in among or each.id in tied
        )
    return tuple(each.id for each in explanation.sources if each.id in among or each.pinned)
