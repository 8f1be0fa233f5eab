"""This module prepares the subsets of an explanation for a diagram. It finds which verdict each subset
has, and to which subsets a rule applies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..explanation.explanation import Explanation
from ..explanation.records import Finding, ProbeRecord
from ..rules import RuleKind
from ..verdicts import Verdict
from .plain_words import votes_in_words

MOST_DRAWN = 10
"""The maximum number of units (sources, or groups of tied ones) whose subsets are drawn as a diagram. Ten
units have 1,024 subsets."""

SubsetState: TypeAlias = Literal["holds", "breaks", "unknown", "unasked"]
"""The state of a subset: the condition holds on it, the condition breaks on it, the subset was probed but
has no verdict, or the subset was not probed."""

STATES: Mapping[SubsetState, str] = {
    "holds": "the condition holds",
    "breaks": "the condition does not hold",
    "unknown": "no verdict",
    "unasked": "not asked",
}
"""The words with which a report names each state."""


@dataclass(frozen=True, slots=True)
class SubsetView:
    """A ``SubsetView`` holds the states of all subsets for one condition.

    A unit is one source, or several tied sources. A mask has one bit for each unit that a subset retains.
    ``kinds``: the kinds of rules that the diagram shows. ``states``: the states of the subsets by mask.
    ``probes``: the position of each subset's probe in ``explanation.probes``, by mask. ``pinned``: the
    sources that every subset retains beside its units.
    """

    condition: str
    kinds: tuple[RuleKind, ...]
    units: tuple[tuple[str, ...], ...]
    states: Mapping[int, SubsetState]
    probes: Mapping[int, int]
    pinned: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[SubsetState, int]:
        """Returns how many subsets are in each state."""
        found = Counter(self.states.values())
        found["unasked"] = (1 << len(self.units)) - len(self.states)
        return {state: found[state] for state in STATES}

    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Returns the masks of all subsets in groups with the same number of retained units, from all
        units down to none. A mask has one bit for each retained unit."""
        levels: list[list[int]] = [[] for _ in range(len(self.units) + 1)]
        for mask in range(1 << len(self.units)):
            levels[mask.bit_count()].append(mask)
        return tuple(tuple(sorted(level, key=_reading_order)) for level in reversed(levels))


def unit_names(view: SubsetView, names: Mapping[str, str]) -> list[str]:
    """Returns the name of each unit of a view. ``names``: the names of the sources by id."""
    return [" + ".join(names[identity] for identity in unit) for unit in view.units]


def subset_views(explanation: Explanation) -> tuple[SubsetView, ...]:
    """Returns one view for both kinds of rules if their conditions are opposite. Otherwise, returns one
    view for each kind.

    Returns no view if there are too many units to draw.
    """
    if len(explanation.units) > MOST_DRAWN:
        return ()
    return tuple(_view(explanation, kinds) for kinds in kinds_by_condition(explanation))


def has_pinned(explanation: Explanation) -> bool:
    """Returns True iff some sources were retained in every replay, so that no subset without them was
    tried."""
    return any(source.pinned for source in explanation.sources)


def kinds_by_condition(explanation: Explanation) -> tuple[tuple[RuleKind, ...], ...]:
    """Returns the kinds of rules in groups. Both kinds are in one group if their conditions are
    opposite."""
    kinds = tuple(explanation.predicates)
    if len(kinds) == 2 and _have_opposite_conditions(explanation):
        return (kinds,)
    return tuple((kind,) for kind in kinds)


def region_of(finding: Finding, units: Sequence[Iterable[str]]) -> tuple[int, int]:
    """Returns two masks that describe the subsets to which a rule applies. The first mask has one bit for
    each unit that all these subsets retain, and the second one for each unit that they all omit."""
    named, kept = set(finding.sources), set(finding.kept)
    own = _mask(units, named)
    others = ~_mask(units, kept) & ((1 << len(units)) - 1) if kept else 0
    if finding.with_others:
        own, others = own | others, 0
    return (own, others) if finding.kind is RuleKind.RETENTION else (others, own)


def mask_of_kept(units: Sequence[Iterable[str]], kept: Iterable[str]) -> int:
    """Returns the mask of the subset with these retained sources: a number with one bit for each retained
    unit. ``units``: the ids of the sources of each unit."""
    return _mask(units, set(kept))


def _mask(units: Sequence[Iterable[str]], named: set[str]) -> int:
    return sum(1 << place for place, unit in enumerate(units) if not named.isdisjoint(unit))


def _reading_order(mask: int) -> tuple[int, ...]:
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


def _view(explanation: Explanation, kinds: tuple[RuleKind, ...]) -> SubsetView:
    states: dict[int, SubsetState] = {}
    probes: dict[int, int] = {}
    bit = {each: 1 << place for place, unit in enumerate(explanation.units) for each in unit}
    for number, probe in enumerate(explanation.probes):
        mask = 0
        for identity in probe.kept:
            mask |= bit.get(identity, 0)
        state = probe_state(probe, kinds)
        if state != "unasked":
            states[mask], probes[mask] = state, number
    pinned = tuple(source.id for source in explanation.sources if source.pinned)
    return SubsetView(explanation.predicates[kinds[0]], kinds, explanation.units, states, probes, pinned)


def probe_state(probe: ProbeRecord, kinds: tuple[RuleKind, ...]) -> SubsetState:
    """Returns the state that a probe gives to its subset, for the condition of the first of ``kinds``.
    The condition of the second kind must be the opposite of the first. A probe without a verdict gives
    the state "unknown" if it failed, else "unasked"."""
    first, *others = kinds
    judged = probe.verdicts.get(first)
    if judged is not None:
        return judged.verdict.value
    opposite = next((probe.verdicts[kind].verdict for kind in others if kind in probe.verdicts), None)
    if opposite is None:
        return "unknown" if probe.error else "unasked"
    return (~opposite).value


def state_of_all(explanation: Explanation, kinds: tuple[RuleKind, ...]) -> SubsetState:
    """Returns the state of the subset with all sources, such as "holds", for the condition of the first
    of ``kinds``."""
    count = len(explanation.sources)
    whole = next((each for each in explanation.probes if len(each.kept) == count), None)
    return "unasked" if whole is None else probe_state(whole, kinds)


def probe_votes(probe: ProbeRecord, kinds: tuple[RuleKind, ...]) -> str:
    """Returns how many votes of a probe agree with its verdict, such as "3 of 4"; empty if there was no
    vote. The kinds must have opposite conditions; one vote then decides both."""
    for kind in kinds:
        if kind in probe.votes and kind in probe.verdicts:
            return votes_in_words(probe.votes[kind], probe.verdicts[kind].verdict)
    return ""


def _have_opposite_conditions(explanation: Explanation) -> bool:
    """Returns True iff one condition is the negation of the other, and no probe has verdicts that
    contradict this. Verdicts may contradict this if a condition is a function that decides at random."""
    both = (each.verdicts for each in explanation.probes if len(each.verdicts) == 2)
    verdicts = ([judged.verdict for judged in each.values()] for each in both)
    return explanation.conditions_are_opposite and not any(
        a is not ~b for a, b in verdicts if Verdict.UNKNOWN not in (a, b)
    )
