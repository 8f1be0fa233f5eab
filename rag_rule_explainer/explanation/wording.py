"""This module writes lists of source ids as phrases for a sentence, such as "D2 and D4"."""

from collections.abc import Callable, Collection, Iterable, Sequence

from ..printable import cut_in_the_middle, plain_id
from ..rules import RuleKind

FAILS = {RuleKind.RETENTION: "does not bring it about", RuleKind.OMISSION: "does not undo it"}
"""For each kind of rule, the words that say that there is no such rule. They follow a subject such as
"retaining D2" (or "omitting D2")."""


def joined(ids: Iterable[str]) -> str:
    """Returns ids as a phrase: "D2", "D2 and D4", "D1, D2 and D4". An id that could be taken for an
    ordinary word is quoted."""
    return phrase([plain_id(identity) for identity in ids])


def phrase(shown: Sequence[str]) -> str:
    """Returns printable names as a phrase: "A", "A and B", "A, B and C"."""
    return " and ".join([*([", ".join(shown[:-1])] if len(shown) > 1 else []), *shown[-1:]])


def phrase_within(shown: Sequence[str], limit: int | None) -> str:
    """Returns printable names as a phrase of about ``limit`` characters at most; None for no limit. A
    phrase that would be longer ends in the number of the names that it leaves out, such as "A, B and 310
    more"."""
    length = 0
    for fit, name in enumerate(shown):
        length += len(name) + 2
        if limit is not None and length > limit and fit:
            return f"{', '.join(shown[:fit])} and {len(shown) - fit:,} more"
    return phrase(shown)


def few_of(ids: Iterable[str], limit: int = 240) -> str:
    """Returns ids as a phrase of about ``limit`` characters at most. Ids beyond it are only counted, and
    long ids are cut in the middle."""
    most = max(limit // 3, 40)
    return phrase_within([cut_in_the_middle(plain_id(identity), most) for identity in ids], limit)


def pinned_in_words(ids: Sequence[str]) -> str:
    """Returns a phrase which says that these pinned sources were always retained; empty if ``ids`` is
    empty."""
    return f"with {few_of(ids, 40)} always retained" if ids else ""


def named_units(
    ids: Collection[str], ties: Iterable[Sequence[str]], named: Callable[[str], str] = plain_id
) -> list[str]:
    """Returns a printable name for each unit, which is one source or several tied sources. Tied ids share
    one name: "D2 (with its near-duplicate D7)". ``named``: a function that returns the printable name of
    an id."""
    among = set(ids)
    tied = {tie[0]: tie[1:] for tie in ties if among.issuperset(tie)}
    followers = {identity for others in tied.values() for identity in others}
    units = list[str]()
    for identity in ids:
        if identity in tied:
            others = tied[identity]
            plural = "s" * (len(others) > 1)
            followed = phrase([named(other) for other in others])
            units.append(f"{named(identity)} (with its near-duplicate{plural} {followed})")
        elif identity not in followers:
            units.append(named(identity))
    return units
