"""This module finds, among the probes of an explanation, removals of sources that flip the outcome:
whether the answer meets the condition. This module is used if the search recorded no smallest removal."""

from collections.abc import Iterator, Mapping

from ..explanation.explanation import Explanation
from ..explanation.records import Counterfactual, ProbeRecord
from ..rules import RuleKind
from .subsets import SubsetState, kinds_by_condition, probe_state, state_of_all

_KNOWN: frozenset[SubsetState] = frozenset({"holds", "breaks"})


def observed_removals(explanation: Explanation) -> tuple[Counterfactual, ...]:
    """Returns removals of sources that flip the outcome: a probe without these sources showed another
    verdict than with all sources. If the removal of the sources of an omission rule flips the outcome,
    only removals of the sources of omission rules are returned. Otherwise, the removals of the fewest
    sources are returned. The sources in each removal are in the order of the explanation's sources."""
    found = tuple(_of_rules(explanation))
    return found or tuple(
        each for kinds in kinds_by_condition(explanation) for each in _fewest(explanation, kinds)
    )


def removals_tried(explanation: Explanation) -> int | None:
    """Returns the number of removals of which it is known whether they flip the outcome. Returns None if
    it is not known whether the answer from all sources meets the condition. If the kinds of rules have
    different conditions, the number is returned only if this is known for each condition."""
    count, groups = len(explanation.sources), kinds_by_condition(explanation)
    if any(state_of_all(explanation, kinds) not in _KNOWN for kinds in groups):
        return None
    return sum(
        all(probe_state(probe, kinds) in _KNOWN for kinds in groups)
        for probe in explanation.probes
        if len(probe.kept) < count
    )


def _of_rules(explanation: Explanation) -> Iterator[Counterfactual]:
    (kinds, *others) = kinds_by_condition(explanation) or ((),)
    if others or len(kinds) < 2 or state_of_all(explanation, kinds) != "holds":
        return
    everything = frozenset(source.id for source in explanation.sources)
    probes: Mapping[frozenset[str], ProbeRecord] = {
        frozenset(probe.kept): probe for probe in explanation.probes
    }
    for rule in explanation.omission_rules:
        probe = probes.get(everything.difference(rule.sources))
        if probe is not None and rule.sources and probe_state(probe, kinds) == "breaks":
            yield _removal(explanation, RuleKind.OMISSION, probe)


def _fewest(explanation: Explanation, kinds: tuple[RuleKind, ...]) -> Iterator[Counterfactual]:
    outcome = state_of_all(explanation, kinds)
    if outcome not in _KNOWN:
        return
    states = ((probe, probe_state(probe, kinds)) for probe in explanation.probes)
    other = [probe for probe, state in states if state in _KNOWN and state != outcome]
    most = max((len(probe.kept) for probe in other), default=0)
    yield from (_removal(explanation, kinds[0], probe) for probe in other if len(probe.kept) == most)


def _removal(explanation: Explanation, kind: RuleKind, probe: ProbeRecord) -> Counterfactual:
    kept = frozenset(probe.kept)
    removed = tuple(source.id for source in explanation.sources if source.id not in kept)
    tied = tuple(tie.sources for tie in explanation.ties if kept.isdisjoint(tie.sources))
    return Counterfactual(
        kind, "removal", removed, probe.answers[0].shown if probe.answers else None, tied
    )
