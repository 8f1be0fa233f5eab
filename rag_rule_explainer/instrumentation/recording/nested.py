"""This module records the searches that a search of the baseline makes inside, and finds those searches
that drop some of what is found inside them, as a retriever with a reranker does.

The baseline records only what such a search returns. If a replay omits that, documents that the search
dropped in the baseline may take its place. To learn whether they do, the search is *opened*: it runs for
real, and the searches inside it are served from the record.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

from ...sources import Source
from ..requests.source_recognition import Reading, reading_of
from .gate import Gate
from .retrievals import Identify, Item, Keys, Retrieval

_SHARE = 0.5
"""A returned text that neither holds a found one nor stands in one is taken for an extract of those that
hold at least this share of its stretches (eight words in a row)."""


class Nested(Gate):
    """A ``Nested`` records the searches that one search of the baseline makes inside, in
    ``retrievals``. ``keys``: the keys of that search. ``around``: the gate that handles that search."""

    def __init__(self, keys: Keys, around: Gate) -> None:
        super().__init__(())
        self.keys = keys
        self.refetching = around.refetching
        self.retrievals: list[Retrieval[object]] = []

    def note(self, retrieval: Retrieval[object]) -> None:
        """Records one search. Thread-safe."""
        with self._lock:
            self.retrievals.append(retrieval)


class Inside:
    """An ``Inside`` compares the sources that were found inside a search with those that it returned.

    ``dropped``: the found sources that the search dropped. A source was not dropped if it was returned.
    Nor was it if something was returned that was not found, and that holds its text, or was cut out of
    it: the search then made that of this source. ``has_strangers``: True if the search also returned
    sources that were not made of found ones, as a search for chunks does that first searches summaries.
    """

    def __init__(self, found: Iterable[Source], returned: Iterable[Source]) -> None:
        inner, outer = _distinct(found), _distinct(returned)
        texts = {identity: reading_of(source.text) for identity, source in inner.items()}
        used, self.has_strangers = set(outer), False
        for each in (
            reading_of(source.text) for identity, source in outer.items() if identity not in inner
        ):
            made_of = {name for name, text in texts.items() if _holds(text, each) or _holds(each, text)}
            made_of = made_of or {name for name, text in texts.items() if _is_extract(each, text)}
            self.has_strangers = self.has_strangers or not made_of
            used |= made_of
        self.dropped = [source for identity, source in inner.items() if identity not in used]


def opened_searches(
    retrievals: Iterable[Retrieval[Item]], identify: Identify[Item], *, all_found: bool
) -> tuple[list[Retrieval[Item]], frozenset[Hashable]]:
    """Returns the retrievals, with the searches inside in the place of each one that drops some of what
    these found; and the keys of the replaced ones.

    ``identify``: finds the sources of items. ``all_found``: True to replace only searches that return
    nothing but what was found inside.
    """
    found: list[Retrieval[Item]] = []
    keys = frozenset[Hashable]()
    for each in retrievals:
        inside = list(_all_inside(each))
        own, *inner = identify([each.items, *(search.items for search in inside)])
        seen = Inside(chain.from_iterable(inner), own)
        if seen.dropped and not (all_found and seen.has_strangers):
            replacing, keys_inside = opened_searches(each.inside, identify, all_found=all_found)
            found += replacing
            keys |= keys_inside.union(each.keys)
        else:
            found.append(each)
    return found, keys


def named_as(known: Sequence[Source], sources: Sequence[Source]) -> dict[str, Source]:
    """Returns, for the ids of those ``sources`` that are among the ``known`` ones, the known source. The
    same document may have another id here, where other documents stand beside it."""
    same = {(each.id, each.text): each for each in known}
    named = {each.id: same[each.id, each.text] for each in sources if (each.id, each.text) in same}
    taken = {each.id for each in named.values()}
    left = {each.text: each for each in known if each.id not in taken}
    for each in sources:
        if each.id not in named and each.text in left:
            named[each.id] = left.pop(each.text)
    return named


def _all_inside(retrieval: Retrieval[Item]) -> Iterable[Retrieval[Item]]:
    for each in retrieval.inside:
        yield each
        yield from _all_inside(each)


def _distinct(sources: Iterable[Source]) -> dict[str, Source]:
    return {each.id: each for each in sources}


def _holds(text: Reading, part: Reading) -> bool:
    # A short text may stand in another one by chance.
    return part.line == text.line or (part.is_telling and part.line in text.line)


def _is_extract(part: Reading, text: Reading) -> bool:
    return bool(part.stretches) and len(part.stretches & text.stretches) >= _SHARE * len(part.stretches)
