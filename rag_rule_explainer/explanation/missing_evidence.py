"""This module checks that the probes of an explanation support the claims of its rules. The explanation
may come from an untrusted file, in which probes were changed or deleted."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..duplicates import Tied
from ..lattice import FAMILY_LIMIT, down_closure, family, up_closure
from ..rules import RuleKind
from ..verdicts import Verdict
from .probed_subsets import MOST_PROBES, ProbedSubsets
from .records import Finding

if TYPE_CHECKING:  # a runtime import would be circular
    from .explanation import Explanation

_FINDS_ALL_RULES = frozenset({"exact", "exhaustive"})
"""The names of the miners that have found all rules when their search is complete."""


class _Region(NamedTuple):
    """A _Region holds the units that a subset must retain (or omit) so that a rule applies to it.
    ``named``: the units that the rule names. ``others``: the units that belong to the antecedent without
    being named, because a rule about one batch of sources may hold only while all other batches are
    retained; usually none."""

    rule: Finding
    named: frozenset[str]
    others: frozenset[str]


def complaints_of_evidence(explanation: "Explanation", tied: Tied) -> Iterator[str]:
    """Yields a sentence for each claim that the probes contradict, or do not show. ``tied``: the ties of
    the explanation."""
    free = tuple([source.id for source in explanation.sources if not source.pinned])
    count = len(free) - len(tied.first_of) + len(tied.by_first)
    regions = _regions(explanation, free, tied)
    dependent = frozenset[str]().union(*(each.named | each.others for each in regions))
    probed = ProbedSubsets(explanation, tied, dependent)
    if probed.strange:
        yield probed.strange
    for region in regions:
        yield from _complaints_of_rule(explanation, region, count, probed)
    counted, kept = explanation.counts.probes, len(explanation.probes)
    if kept < min(counted, MOST_PROBES):
        yield f"it has {kept} probes, but counts {counted}"
    # An explanation keeps a limited number of probes. If there were more, its evidence is incomplete, so
    # the checks below, which need all probes, are skipped.
    if kept != counted:
        return
    if probed.unshown:
        yield "the condition is said to break where no probe shows it"
    if _may_miss_rules(explanation, regions, free, tied):
        yield "it is marked complete, but its probes leave it open whether there are more rules"


def _regions(explanation: "Explanation", free: tuple[str, ...], tied: Tied) -> list[_Region]:
    # There may be thousands of units, so they are computed only if a rule has ``with_others``.
    all_others = any(rule.with_others for rule in explanation.rules)
    units, none = tied.units_of(free if all_others else ()), frozenset[str]()
    regions = list[_Region]()
    for rule in explanation.rules:
        others = units - tied.units_of(rule.kept) if rule.with_others else none
        regions.append(_Region(rule, tied.units_of(rule.sources), others))
    return regions


def _may_miss_rules(
    explanation: "Explanation", regions: list[_Region], free: tuple[str, ...], tied: Tied
) -> bool:
    """Returns True if the explanation is marked complete although its probes leave it open whether there
    are further rules. Returns False if this cannot be checked."""
    units, name = tied.units_of(free), explanation.miner.name
    if not explanation.complete or len(units) > FAMILY_LIMIT:
        return False
    if name == "confidence":
        # A rule need hold only on a share of its subsets, so the search needs a verdict on every subset.
        return any(_judged(explanation, kind) != 1 << len(units) for kind in explanation.predicates)
    if name not in _FINDS_ALL_RULES or explanation.min_confidence < 1:
        return False
    bit = {unit: 1 << place for place, unit in enumerate(units)}
    for kind in explanation.predicates:
        flip = (1 << len(units)) - 1 if kind is RuleKind.OMISSION else 0
        rules = (sum(bit[unit] for unit in each.named) for each in regions if each.rule.kind is kind)
        broken = (
            flip ^ sum(bit.get(unit, 0) for unit in tied.units_of(probe.kept))
            for probe in explanation.probes
            if kind in probe.verdicts and probe.verdicts[kind].verdict is Verdict.BREAKS
        )
        # After a complete search, each set of sources either contains a rule, or is refuted by a subset:
        # a rule with these sources would apply to the subset, and the condition broke on it.
        above = up_closure(family(rules, len(units)), len(units))
        below = down_closure(family(broken, len(units)), len(units))
        if (above | below).bit_count() != 1 << len(units):
            return True
    return False


def _judged(explanation: "Explanation", kind: RuleKind) -> int:
    verdicts = (probe.verdicts[kind].verdict for probe in explanation.probes if kind in probe.verdicts)
    return sum(verdict is not Verdict.UNKNOWN for verdict in verdicts)


def _complaints_of_rule(
    explanation: "Explanation", region: _Region, count: int, probed: ProbedSubsets
) -> Iterator[str]:
    rule, named, others = region
    held, broke, unknown = (
        probed.count(rule.kind, verdict, named, others)
        for verdict in (Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN)
    )
    if rule.applicable != 1 << (count - len(named) - len(others)):
        yield "a rule counts other subsets than there are"
    elif min(rule.observed, rule.broken) < 0 or rule.observed + rule.broken > rule.applicable:
        yield "a rule counts more subsets than there are, or fewer than none"
    if rule.proved and explanation.voted:
        yield "a rule is marked proved where verdicts were come by by votes"
    if rule.broken and rule.claim != "confident":
        yield f"a rule marked {rule.claim} was seen to break"
    if broke and rule.claim != "confident" and not explanation.voted:
        yield f"a rule marked {rule.claim} is broken by a probe"
    if unknown and rule.proved:
        yield "a rule is marked proved, but a probe of it has no verdict"
    if explanation.counts.probes == len(explanation.probes) and (
        held < rule.observed or broke < rule.broken
    ):
        yield (
            f"a rule marked {rule.claim} was seen on {rule.observed + rule.broken} subsets, but the "
            f"probes show {held + broke}"
        )
