"""This module names many sources in few words: "all but D3" instead of a long list."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ..explanation.explanation import Explanation
from ..explanation.records import Finding, past_tense
from ..explanation.wording import named_units, phrase_within
from ..printable import plain_id, printable
from ..rules import RuleKind
from .short_names import LONGEST_LIST

_FEW = 3
"""If there are at most this many sources, a phrase always names each of them."""
NamedBy: TypeAlias = Literal["each", "rest", "number"]
"""The way in which a phrase names sources: by the name of each, by the names of the rest ("all but D3"),
or by their number ("all 9 sources")."""


class SourcePhrase(NamedTuple):
    """A ``SourcePhrase`` names sources by ``text``. ``by``: whether the text has the name of each source,
    the names of the other sources, or a number. Callers must not guess this from the text, because a
    source may have any name, even "all but D3"."""

    text: str
    by: NamedBy


def named_among(
    ids: Collection[str],
    everything: Sequence[str],
    ties: Iterable[Sequence[str]] = (),
    names: Mapping[str, str] | None = None,
) -> SourcePhrase:
    """Returns the names of the sources with these ids as a phrase: all their names or, if this is
    shorter, "all but" and the names of the other sources. Without ids, the text is empty. ``everything``:
    the ids of the sources that "all" refers to. ``ties``: groups of ids of near-duplicates, which are
    always retained or omitted together. ``names``: short names by id. With short names, a long list is
    cut, and ends in the number of sources that it leaves out. If ``names`` is None, whole ids and whole
    lists are used."""
    among, tied = set(ids), list(ties)
    rest = [identity for identity in everything if identity not in among]
    limit = None if names is None else LONGEST_LIST

    def listed(identities: Collection[str]) -> str:
        name = plain_id if names is None else names.__getitem__
        return phrase_within(named_units(identities, tied, name), limit)

    named = SourcePhrase(listed(ids), "each")
    # A few names are clearer than "all but", which makes the reader look up which sources "all" are.
    if len(ids) <= _FEW or len(ids) <= 2 * len(rest) + 1:
        return named
    if rest:
        others = SourcePhrase(f"all but {listed(rest)}", "rest")
    else:
        others = SourcePhrase(f"all {len(ids):,} sources", "number")
    return min(named, others, key=lambda phrase: len(phrase.text))


def rule_in_short(explanation: Explanation, finding: Finding) -> str:
    """Returns the rule as a sentence. The sentence names the rule's sources. If it is shorter, the
    sentence says "all but" and names the sources that are not in the rule instead. A relative rule, which
    is about some of the sources only, always names its own sources."""
    # For retention rules, "all" does not include pinned sources: they are always retained, and no rule
    # names them.
    retained = finding.kind is RuleKind.RETENTION
    everything = [source.id for source in explanation.sources if not (source.pinned and retained)]
    ties = [tie.sources for tie in explanation.ties]
    named = named_among(finding.sources, everything, ties)
    if finding.with_others or finding.kept or finding.claim == "relative" or named.by == "each":
        return finding.rule
    return f"whenever {named.text} are {past_tense(finding.kind)}, {printable(finding.condition)}"
