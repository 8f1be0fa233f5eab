"""This module checks whether an explanation, which may come from an untrusted file, contradicts
itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import chain
from typing import TYPE_CHECKING

from ..duplicates import Tied
from ..rules import RuleKind
from .loose_judging import loosely_judged
from .missing_evidence import complaints_of_evidence
from .records import Finding
from .wording import pinned_in_words

if TYPE_CHECKING:  # a runtime import would be circular
    from .explanation import Explanation


_ROUNDING = 1e-9


def complaints(explanation: "Explanation") -> Iterator[str]:
    """Yields a sentence for each contradiction in an explanation."""
    ids = frozenset(source.id for source in explanation.sources)
    free = frozenset(source.id for source in explanation.sources if not source.pinned)
    if len(ids) != len(explanation.sources):
        yield "two sources have the same id"
    if explanation.complete and (explanation.unresolved or explanation.stop_reason):
        yield "it is marked complete, but something is left open"
    if not explanation.complete and not explanation.why_incomplete.strip():
        yield "it is marked not complete, and nothing says why"
    if not all(map(ids.issuperset, _also_named(explanation))):
        yield "a source is named that there is not"
    yield from _complaints_of_numbers(explanation)
    tied = Tied(explanation.ties)
    yield from _complaints_of_ties(explanation, tied, free)
    for kind, rules in (
        (RuleKind.RETENTION, explanation.retention_rules),
        (RuleKind.OMISSION, explanation.omission_rules),
    ):
        if wrong := _wrong_at_first_sight(explanation, kind, rules, ids, free):
            yield wrong
    yield from complaints_of_evidence(explanation, tied)


def _complaints_of_numbers(explanation: "Explanation") -> Iterator[str]:
    counts, indices = explanation.counts, explanation.importance
    votes = [count for probe in explanation.probes for count in probe.votes.values()]
    if min(astuple(counts)) < 0:
        yield "it counts fewer than none of something"
    elif counts.probes < len(explanation.probes):
        yield "it has more probes than it counts"
    elif any(rule.observed + rule.broken > counts.probes for rule in explanation.rules):
        yield "a rule was seen to hold or break on more subsets than were asked about"
    if any(rule.draws < 0 for rule in explanation.rules):
        yield "a rule was tested on fewer subsets than none"
    if any(min(each.holds, each.breaks) < 0 for each in votes):
        yield "a probe has fewer votes than none"
    shares = [each.banzhaf for each in indices] + [each.shapley for each in indices]
    if shares and not -_ROUNDING <= min(shares) <= max(shares) <= 1 + _ROUNDING:
        yield "the importance of a source is not between 0 and 1"
    if min([each.error for each in indices], default=0) < 0:
        yield "the error of an importance is less than 0"


def _wrong_at_first_sight(
    explanation: "Explanation",
    kind: RuleKind,
    rules: Sequence[Finding],
    ids: frozenset[str],
    free: frozenset[str],
) -> str:
    """Returns a sentence about a contradiction that the rules and the sources alone show; empty if there
    is none. ``ids``: the ids of all sources. ``free``: the ids of the sources that are not pinned."""
    condition = explanation.predicates.get(kind)
    pinned = [source.id for source in explanation.sources if source.pinned] if rules else []
    wrong: Mapping[str, Callable[[Finding], object]] = {
        f"a rule of another kind stands among those of {kind.value}": lambda rule: rule.kind is not kind,
        "a rule has another condition than its kind": lambda rule: rule.condition != condition,
        "a rule names a source that there is not": lambda rule: (
            not (ids.issuperset(rule.kept) and ids.issuperset(rule.sources))
        ),
        "a rule names a pinned source": lambda rule: not free.issuperset(rule.sources),
        "a rule is about all other sources, and does not say other than which": lambda rule: (
            rule.with_others and not (rule.kept and rule.claim in {"relative", "unverified"})
        ),
        f"a rule is marked proved where {loosely_judged(explanation.warnings)}": lambda rule: (
            rule.proved and bool(loosely_judged(explanation.warnings))
        ),
        "a rule names other pinned sources than there are": lambda rule: (
            rule.pinned not in {"", pinned_in_words(pinned)}
        ),
        "a rule is relative to a source twice": lambda rule: len({*rule.kept}) != len(rule.kept),
        "a rule names a source that it is not relative to": lambda rule: (
            rule.kept and not {*rule.kept}.issuperset(rule.sources)
        ),
    }
    if len({frozenset(rule.sources) for rule in rules}) != len(rules):
        return "a rule stands there twice"
    return next((complaint for complaint, is_so in wrong.items() if any(map(is_so, rules))), "")


def _also_named(explanation: "Explanation") -> Iterator[Iterable[str]]:
    """Yields the source ids that an explanation names in witnesses, counterfactuals, unresolved subsets
    and importance values, in several collections. The caller checks that a source has each of these ids.
    The ids in probes and rules are checked elsewhere."""
    yield from (witness.sources for witness in explanation.witnesses)
    yield from (witness.kept for witness in explanation.witnesses)
    yield from (change.sources for change in explanation.counterfactuals)
    yield from (entry.kept for entry in explanation.unresolved)
    # There may be thousands of importance indices, so one collection has the ids of all of them.
    yield [index.source for index in explanation.importance]
    yield chain.from_iterable([index.tied for index in explanation.importance])


def _complaints_of_ties(explanation: "Explanation", tied: Tied, free: frozenset[str]) -> Iterator[str]:
    if len(tied.first_of) != sum(len(tie.sources) for tie in explanation.ties):
        yield "a source is tied twice"
    elif not free.issuperset(tied.first_of):
        yield "a source is tied that is pinned, or that there is not"
    for named in (*explanation.rules, *explanation.counterfactuals):
        units = tied.units_of(named.sources)
        if tied.size_of(units) != len(named.sources):
            yield "a source is named twice, or without those that are tied to it"
        if {*named.tied} != {tied.by_first[each] for each in units if each in tied.by_first}:
            yield "other sources are said to be tied than are"
    if any(tied.splits(rule.kept) for rule in explanation.rules if rule.kept):
        yield "a rule is relative to a source without those that are tied to it"
    if any(tied.splits(witness.kept) for witness in explanation.witnesses):
        yield "a witness kept a source without those that are tied to it"
    for rule in explanation.rules:
        if rule.tied_beside != len(explanation.ties) - len(rule.tied):
            yield "a rule counts other ties than there are"
