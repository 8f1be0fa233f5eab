"""This module finds, for all forms of a report, the changes to the retained documents that flip the
outcome: whether the answer meets the condition."""

from collections.abc import Iterator
from typing import NamedTuple

from ..explanation.explanation import Explanation
from ..explanation.records import Counterfactual
from ..explanation.wording import named_units
from ..lattice import subset_count
from .removals import observed_removals, removals_tried
from .subsets import has_pinned, kinds_by_condition, state_of_all

_SEVERAL = "Each of these changes is enough by itself."
_NOT_ALL_TRIED = "Smaller changes were not all tried."
_OPPOSITE = (
    "The smallest removal is not known. To have it found, explain the opposite condition "
    "(~contains('x'), not:contains:x)."
)
_NOTHING_HELPS = "There is none: the outcome is the same whatever is left out."
_NOTHING_UNPINNED_HELPS = (
    "There is none while the pinned documents stay: what happens without them was not tried."
)
_NOTHING_TOGETHER_HELPS = (
    "There is none while near-duplicates stay together: what happens without some of them was not tried."
)
_NOTHING = frozenset({_NOTHING_HELPS, _NOTHING_UNPINNED_HELPS, _NOTHING_TOGETHER_HELPS})


class FlippingChanges(NamedTuple):
    """A ``FlippingChanges`` holds the changes of the sources that flip the outcome: whether the answer
    meets the condition.

    ``removals``: the sources to remove if the application gets all sources. ``additions``: the sources to
    add if the application gets no sources. ``remark``: a remark on the removals; if ``removals`` is
    empty, the remark says that no removal exists, or how many were tried. ``untried``: a sentence that
    says that a part of a removal may flip the outcome by itself; empty if no part can.
    """

    removals: tuple[Counterfactual, ...]
    additions: tuple[Counterfactual, ...]
    remark: str
    untried: str = ""

    @property
    def smallest(self) -> bool:
        """Returns True iff it is known that no part of a removal in ``removals`` flips the outcome by
        itself; True also if there is no removal."""
        return not self.untried

    @property
    def is_open(self) -> bool:
        """Returns True iff no removal of sources is known to flip the outcome, but there may be one."""
        return not self.removals and self.remark not in _NOTHING


def flipping_changes(explanation: Explanation) -> FlippingChanges:
    """Returns the smallest changes that the search recorded.

    If it recorded no removal, the sources of each omission rule are taken as a removal, provided that a
    probe without exactly these sources flipped the outcome. If there is no such removal either, the
    removals are the smallest ones after which a probe showed another outcome than with all sources.
    """
    place = {source.id: number for number, source in enumerate(explanation.sources)}
    removals, additions = (
        # Changes of few sources come first. Changes of equal size are in the order of the explanation's
        # sources.
        tuple(sorted(found, key=lambda each: (len(each.sources), [place[name] for name in each.sources])))
        for found in _recorded(explanation)
    )
    if removals:
        different = {each.sources for each in removals}
        return FlippingChanges(removals, additions, _SEVERAL if len(different) > 1 else "")
    seen = observed_removals(explanation)
    different = {each.sources for each in seen}
    remarks = [_SEVERAL if len(different) > 1 else "" if seen else _none(explanation)]
    may_be_less = any(len(named_units(each.sources, each.tied)) > 1 for each in seen)
    if may_be_less and _opposite_helps(explanation):
        return FlippingChanges((), additions, _OPPOSITE)
    untried = _NOT_ALL_TRIED if may_be_less else ""
    return FlippingChanges(seen, additions, " ".join(filter(None, [*remarks, untried])), untried)


def _opposite_helps(explanation: Explanation) -> bool:
    """Returns True if the user should search with the opposite condition to get the smallest removals.

    This is the case after an exact and complete search, if the answer does not meet the condition. Such
    a search does not try the removals in the order of their size. A search with the opposite condition
    does.
    """
    (kinds, *others) = kinds_by_condition(explanation)
    unmet = not others and state_of_all(explanation, kinds) == "breaks"
    return unmet and explanation.complete and explanation.miner.name == "exact"


def _recorded(explanation: Explanation) -> Iterator[list[Counterfactual]]:
    for change in ("removal", "addition"):
        yield [each for each in explanation.counterfactuals if each.change == change]


def _none(explanation: Explanation) -> str:
    always = any(rule.proved and not rule.sources for rule in explanation.rules)
    if always and len(kinds_by_condition(explanation)) == 1:
        if has_pinned(explanation):
            return _NOTHING_UNPINNED_HELPS
        return _NOTHING_TOGETHER_HELPS if explanation.ties else _NOTHING_HELPS
    tried = removals_tried(explanation)
    if tried is None:
        return "None is known: no probe says what comes out with everything retained."
    if not tried:
        return "None is known: no removal was tried."
    removals = subset_count((1 << len(explanation.units)) - 1)
    return f"None was found; {tried:,} of {removals} removals {'was' if tried == 1 else 'were'} tried."
