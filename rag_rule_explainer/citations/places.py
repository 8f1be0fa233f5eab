"""This module decides to which statements a citation belongs that is for several of them, such as in a
list beside the answer or at its end. It is real if one of the statements needs it."""

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
"""A source, and the part of the text that the list is for in which it is cited; None for all of it."""


def placed_once(reading: CitingText) -> CitingText:
    """Returns the citations without those in lists that only repeat what the text cites."""
    placed = [each for each in reading.citations if _is_placed(each)]
    kept = [each for each in reading.citations if _is_placed(each) or not _repeats(each, placed)]
    return replace(reading, citations=tuple(kept))


def _is_placed(citation: ReadCitation) -> bool:
    return citation.start is not None and citation.scope is None


def _repeats(citation: ReadCitation, placed: Sequence[ReadCitation]) -> bool:
    """Returns whether one of the placed citations cites the same, in the part that the list is for."""
    same = (
        each
        for each in placed
        if each.source == citation.source and (each.source or each.written == citation.written)
    )
    scope = citation.scope
    return any(scope is None or scope[0] <= (each.start or 0) < scope[1] for each in same)


def with_places(checks: Sequence[CitationCheck]) -> tuple[CitationCheck, ...]:
    """Returns the checks without the verdicts that are about another statement: if a list cites a source
    for several statements, and some of them need it or may need it, it is for these."""
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
    """Returns the sources that only lists cite for this statement, each with the part of the text that
    its list is for."""
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
        # What is not known of one statement does not count, and would else be said of none.
        is_unsure = verdict.faithful is None and key is not None and found[key] is None
        if is_needed or is_unsure or (key is not None and found[key] is False):
            yield verdict
