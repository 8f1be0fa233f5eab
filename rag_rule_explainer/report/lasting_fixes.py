"""This module writes the part of a report about fixes. A fix is a removal of sources after which the
outcome cannot come back, whichever of the other sources are retained. A removal that only flips the
outcome while all other sources are retained is no fix."""

from collections.abc import Callable, Iterator

from ..explanation.explanation import Explanation
from ..explanation.wording import named_units, phrase_within
from ..fixing.fixes import Fix, fixes_of
from .subsets import has_pinned, kinds_by_condition, state_of_all

_MOST_SAID = 3
"""The maximum number of fixes that a sentence lists; it only counts the other fixes."""
_LONGEST_NAMES = 120
_KEEPS = "To keep it away, whatever else is left out{while_pinned}, remove {fixes}."
_WHILE_PINNED = " (the pinned documents stay)"
_ONCE = (
    "Removing {names} is enough while all others are there; with others left out too, it can come back."
)


def fixes_in_words(explanation: Explanation, named: Callable[[str], str]) -> str:
    """Returns sentences that name the sure fixes, each with its claim, and one removal that flips the
    outcome but is no fix. A fix is a removal of sources after which the outcome cannot come back. A fix
    is sure if it is proved, or has passed the votes or tests. If there is no sure fix, the result is
    empty. ``named``: a function that returns the printable name of an id."""
    return " ".join(_sentences(explanation, named))


def _sentences(explanation: Explanation, named: Callable[[str], str]) -> Iterator[str]:
    if explanation.doubted or not any(rule.sources for rule in explanation.omission_rules):
        return
    if explanation.min_confidence < 1 or not explanation.conditions_are_opposite:
        return  # rules may break on some subsets, or omission rules are about another condition
    if state_of_all(explanation, kinds_by_condition(explanation)[0]) == "breaks":
        return  # the answer does not have the outcome, so there is nothing to keep away
    fixes = fixes_of(explanation)
    sure = [each for each in fixes if each.is_sure]
    if not sure:
        return
    listed = [_fix(each, named) for each in sure[:_MOST_SAID]]
    rest = len(sure) - len(listed)
    more = f", or one of {rest:,} more (explanation.fixes())" if rest else ""
    while_pinned = _WHILE_PINNED if has_pinned(explanation) else ""
    yield _KEEPS.format(while_pinned=while_pinned, fixes=", or ".join(listed) + more)
    for flip in [each for each in fixes.flips if each.back_with is not None][:1]:
        ties = [tie.sources for tie in explanation.ties]
        units = named_units(flip.sources, ties, named)
        names = phrase_within(units, _LONGEST_NAMES)
        yield _ONCE.format(names=names)


def _fix(fix: Fix, named: Callable[[str], str]) -> str:
    names = phrase_within(named_units(fix.sources, fix.rule.tied, named), _LONGEST_NAMES)
    return f"{names} ({fix.claim})"
