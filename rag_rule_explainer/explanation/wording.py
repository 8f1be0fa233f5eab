"""This module names the ids of sources in a sentence."""

from collections.abc import Collection, Iterable, Sequence

from ..printable import plain_id


def joined(ids: Iterable[str]) -> str:
    """Returns ids as a phrase: "D2", "D2 and D4", "D1, D2 and D4"; ids that could be read as words are
    quoted."""
    return phrase([plain_id(identity) for identity in ids])


def phrase(shown: Sequence[str]) -> str:
    """Returns printable names as a phrase: "A", "A and B", "A, B and C"."""
    return " and ".join([*([", ".join(shown[:-1])] if len(shown) > 1 else []), *shown[-1:]])


def named_units(ids: Collection[str], ties: Iterable[Sequence[str]]) -> list[str]:
    """Returns printable names of units; tied ids share one name: "D2 (with its near-duplicate D7)"."""
    among = set(ids)
    tied = {tie[0]: tie[1:] for tie in ties if among.issuperset(tie)}
    followers = {identity for others in tied.values() for identity in others}
    named = list[str]()
    for identity in ids:
        if identity in tied:
            others = tied[identity]
            plural = "s" * (len(others) > 1)
            named.append(f"{plain_id(identity)} (with its near-duplicate{plural} {joined(others)})")
        elif identity not in followers:
            named.append(plain_id(identity))
    return named
