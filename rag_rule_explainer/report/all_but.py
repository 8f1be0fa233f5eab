"""This module names many sources in few words: "all but D3" instead of a long list."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..explanation.explanation import Explanation
from ..explanation.records import Finding, past_tense
from ..explanation.wording import named_units, phrase_within
from ..printable import plain_id, printable
from ..rules import RuleKind
from .short_names import LONGEST_LIST

_FEW = 3
"""The number of sources up to which they are always named one by one."""


def named_among(
    ids: Collection[str],
    everything: Sequence[str],
    ties: Iterable[Sequence[str]] = (),
    names: Mapping[str, str] | None = None,
) -> str:
    """Returns the names of the sources with these ids as a phrase: all their names or, if this is
    shorter, "all but" and the names of the other sources. Without ids, the phrase is empty.
    ``everything``: the ids of the sources that "all" refers to. ``ties``: the groups of tied ids.
    ``names``: short names by id. With them, a long list is cut, and ends in the number of sources that
    it leaves out. None for whole ids and whole lists."""
    among, tied = set(ids), list(ties)
    rest = [identity for identity in everything if identity not in among]
    limit = None if names is None else LONGEST_LIST

    def listed(identities: Collection[str]) -> str:
        name = plain_id if names is None else names.__getitem__
        return phrase_within(named_units(identities, tied, name), limit)

    named = listed(ids)
    # A few names are clearer than "all but", which makes the reader look up which sources "all" are.
    if len(ids) <= _FEW or len(ids) <= 2 * len(rest) + 1:
        return named
    others = f"all but {listed(rest)}" if rest else f"all {len(ids):,} sources"
    return min(named, others, key=len)


def rule_in_short(explanation: Explanation, finding: Finding) -> str:
    """Returns the rule as a sentence. It names the rule's sources or, if this is shorter, says "all
    but" and names the sources that are not in the rule. A relative rule, which is about some of the
    sources only, always names its own sources."""
    # For retention rules, "all" does not include pinned sources: they are always retained, and no rule
    # names them.
    retained = finding.kind is RuleKind.RETENTION
    everything = [source.id for source in explanation.sources if not (source.pinned and retained)]
    ties = [tie.sources for tie in explanation.ties]
    named = named_among(finding.sources, everything, ties)
    if finding.with_others or finding.kept or finding.claim == "relative" or not named.startswith("all "):
        return finding.rule
    return f"whenever {named} are {past_tense(finding.kind)}, {printable(finding.condition)}"
