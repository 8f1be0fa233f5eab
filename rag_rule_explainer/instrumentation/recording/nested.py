"""This module records the inner searches that a search of the baseline makes. It finds the searches that
drop some of the sources which their inner searches found, as a retriever with a reranker does.

The baseline records only the sources that such a search returns. In a replay without these sources, the
search might return sources that it dropped in the baseline. To find this out, the search is *opened*: it
really runs in replays, and only its inner searches are answered from the record.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain

from ...sources import Source
from ..requests.source_recognition import Reading, reading_of
from .gate import Gate
from .retrievals import Identify, Item, Keys, Retrieval

_SHARE = 0.5
"""A returned text counts as an extract of a found text if at least this share of its *stretches* (all
sequences of eight words in a row) is in the found text. A search may return such extracts of the texts
that its inner searches found. The share matters only if neither text contains the other."""

_FEW_WORDS = 5
"""The maximum number of words that a search adds to a found text if it only adds a number or a label. A
longer text counts as another text, such as the whole document of a found chunk."""


class Nested(Gate):
    """A ``Nested`` records the inner searches that one search of the baseline makes, in ``retrievals``.
    ``keys``: the keys of this outer search. ``around``: the object that handles the outer search."""

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
    """An ``Inside`` compares the sources that the inner searches of a search found with the sources that
    the search returned.

    ``dropped``: the found sources that the search dropped. A source counts as returned if it was returned
    itself, or if a returned text contains its text or is an extract of it. ``has_strangers``: True if the
    search also returned sources that do not come from the found ones. An example is a search that finds
    summaries first and returns chunks. ``is_rearranged``: True if the search returned the found sources
    in another order, or added a few words or some metadata to each, such as a number.
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
        places = {identity: place for place, identity in enumerate(inner)}
        known = [places[each] for each in outer if each in places]
        self.is_rearranged = known != sorted(known) or (
            len(outer) == len(inner) and any(map(_has_a_few_words_more, inner.values(), outer.values()))
        )


def opened_searches(
    retrievals: Iterable[Retrieval[Item]], identify: Identify[Item], wanted: Callable[[Inside], bool]
) -> tuple[list[Retrieval[Item]], frozenset[Hashable]]:
    """Returns the retrievals, in which some searches are replaced by their inner searches. Also returns
    the keys of the replaced searches.

    ``identify``: returns the sources of items. ``wanted``: returns True for a search that is to be
    replaced.
    """
    found: list[Retrieval[Item]] = []
    keys = frozenset[Hashable]()
    for each in retrievals:
        inside = list(_all_inside(each))
        own, *inner = identify([each.items, *(search.items for search in inside)])
        seen = Inside(chain.from_iterable(inner), own)
        seen.is_rearranged |= _is_labelled(each, inside, identify)
        if inside and wanted(seen):
            replacing, keys_inside = opened_searches(each.inside, identify, wanted)
            found += replacing
            keys |= keys_inside.union(each.keys)
        else:
            found.append(each)
    return found, keys


def named_as(known: Sequence[Source], sources: Sequence[Source]) -> dict[str, Source]:
    """Returns the equal source in ``known`` for each of ``sources``, by the id in ``sources``. Leaves out
    sources that have no equal source. The two ids may differ, because the id of a document can depend on
    the other documents of the same result."""
    same = {(each.id, each.text): each for each in known}
    named = {each.id: same[each.id, each.text] for each in sources if (each.id, each.text) in same}
    taken = {each.id for each in named.values()}
    left = {each.text: each for each in known if each.id not in taken}
    for each in sources:
        if each.id not in named and each.text in left:
            named[each.id] = left.pop(each.text)
    return named


def _is_labelled(
    outer: Retrieval[Item], inside: Iterable[Retrieval[Item]], identify: Identify[Item]
) -> bool:
    """Returns True iff a search returned found sources with other metadata, such as a rank."""
    found = [source for each in inside for source in identify([each.items])[0]]
    # Each result is identified separately: in one call, two items of the same source would both get the
    # metadata of the first item, and a difference between them would be lost.
    known = {(each.id, each.text): each.metadata for each in found}
    own = identify([outer.items])[0]
    return any(known.get((each.id, each.text), each.metadata) != each.metadata for each in own)


def _all_inside(retrieval: Retrieval[Item]) -> Iterable[Retrieval[Item]]:
    for each in retrieval.inside:
        yield each
        yield from _all_inside(each)


def _distinct(sources: Iterable[Source]) -> dict[str, Source]:
    return {each.id: each for each in sources}


def _holds(text: Reading, part: Reading) -> bool:
    # A short text may be in another text by chance, so it has to be the whole text.
    return part.line == text.line or (part.is_distinctive and part.line in text.line)


def _has_a_few_words_more(inner: Source, outer: Source) -> bool:
    text, longer = reading_of(inner.text).line, reading_of(outer.text).line
    more = len(longer.split()) - len(text.split())
    return text in longer and 0 < more <= _FEW_WORDS


def _is_extract(part: Reading, text: Reading) -> bool:
    return bool(part.stretches) and len(part.stretches & text.stretches) >= _SHARE * len(part.stretches)
