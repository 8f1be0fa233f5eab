"""This module decides to which statements a citation in a list of sources belongs.

A list of sources at the end of the answer, or beside it, belongs to several statements. A citation in it
is real if one of these statements needs its source.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from .classes import CitationClass
from .reading import CitingText, ReadCitation
from .records import CitationCheck, CitationVerdict

_NOT_NEEDED = frozenset(
    {CitationClass.DECORATIVE, CitationClass.FROM_MEMORY, CitationClass.NEEDS_A_PARTNER}
)
_Listed: TypeAlias = tuple[str, tuple[int, int] | None]
"""A source, and the start and end of the part of the text for which a list cites it; None for the whole
text."""


def placed_once(reading: CitingText) -> CitingText:
    """Returns the citations without those that only repeat, in a list, a citation in the text."""
    placed = [each for each in reading.citations if _is_placed(each)]
    kept = [each for each in reading.citations if _is_placed(each) or not _repeats(each, placed)]
    return replace(reading, citations=tuple(kept))


def _is_placed(citation: ReadCitation) -> bool:
    return citation.start is not None and citation.scope is None


def _repeats(citation: ReadCitation, placed: Sequence[ReadCitation]) -> bool:
    """Returns True iff the source of this citation is also cited inside the part of the text that the
    citation supports. ``placed``: the citations with a position in the text."""
    same = (
        each
        for each in placed
        if each.source == citation.source and (each.source or each.written == citation.written)
    )
    scope = citation.scope
    return any(scope is None or scope[0] <= (each.start or 0) < scope[1] for each in same)


def with_places(checks: Sequence[CitationCheck]) -> tuple[CitationCheck, ...]:
    """Returns the checks, with fewer verdicts on citations in lists.

    If a list cites a source for several statements, the check of each statement has a verdict on this
    citation. The verdict of a statement that does not need the source is dropped if another statement
    needs it, or may need it. If no statement needs the source, all of them keep the verdict.
    """
    found = dict[_Listed, bool | None]()
    for check in checks:
        listed = _listed(check)
        for verdict in check.verdicts:
            key = listed.get(verdict.source)
            if key is not None and found.get(key) is not True:
                known = verdict.faithful is False and found.get(key, False) is False
                found[key] = True if verdict.faithful else False if known else None
    return tuple(replace(check, verdicts=tuple(_kept(check, found))) for check in checks)


def _listed(check: CitationCheck) -> dict[str | None, _Listed]:
    """Returns the sources that this statement cites only by a list of sources, by their ids. Each of
    these sources is given with the part of the text to which its list belongs."""
    placed = {each.source for each in check.reading.citations if _is_placed(each)}
    found = dict[str | None, _Listed]()
    for each in check.reading.citations:
        if each.source is not None and each.source not in placed:
            found.setdefault(each.source, (each.source, each.scope))
    return found


def _kept(check: CitationCheck, found: dict[_Listed, bool | None]) -> Iterator[CitationVerdict]:
    listed = _listed(check)
    for verdict in check.verdicts:
        key = listed.get(verdict.source)
        is_needed = key is None or verdict.citation_class not in _NOT_NEEDED
        # A verdict that is unknown for this statement is kept only if no statement is known to need the
        # source.
        is_unsure = verdict.faithful is None and key is not None and found[key] is None
        if is_needed or is_unsure or (key is not None and found[key] is False):
            yield verdict
