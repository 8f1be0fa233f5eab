"""This module splits responses of Pinecone and Meilisearch. Each lists its results under one name
(``matches`` or ``hits``), beside data about the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...sources.given import Given
from .fields import field_of, is_listed, mapping_in, with_fields
from .protocol import Rows
from .reading import read_fields
from .uncut import Uncut

_COUNTS = ("total", "estimatedTotalHits", "estimated_total_hits", "totalHits", "total_hits")
_OF_ALL = ("facetDistribution", "facet_distribution", "facetStats", "facet_stats")


@dataclass(frozen=True, slots=True)
class Pinecone:
    """This client splits the responses of ``query`` of a Pinecone index.

    An item is a match. Its text is in its metadata, which the query has to include
    (``include_metadata=True``).
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns a single row that has all matches of the response. Returns None if the response was not
        returned by Pinecone."""
        matches: object = field_of(response, "matches")
        if not is_listed(matches) or not all(map(_is_match, cast("Sequence[object]", matches))):
            return None
        is_empty = not matches and field_of(response, "namespace") is None
        return None if is_empty else [list(cast("Sequence[object]", matches))]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of the response ``like`` with only the matches in ``rows``."""
        return with_fields(like, matches=list(rows[0]))

    def read(self, item: Any) -> Given | None:
        """Returns the text in the metadata of a match, with the id of the match. The text is None if the
        metadata has none."""
        fields = mapping_in(field_of(item, "metadata"))
        return read_fields(fields)._replace(id=field_of(item, "id"))


@dataclass(frozen=True, slots=True)
class Meilisearch:
    """This client splits the responses of ``search`` of a Meilisearch index, and of ``multi_search``.

    An item is a hit. If hits are omitted, the number of all hits is reduced. Facets would still count the
    omitted hits, so reading the facets of such a response raises UntrueReplay.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns one row of hits for each search. Returns None if the response was not returned by
        Meilisearch."""
        if _has_hits(response):
            return [list(field_of(response, "hits"))]
        several: object = field_of(response, "results")
        if not is_listed(several) or not several:
            return None
        listed = cast("Sequence[object]", several)
        return [list(field_of(each, "hits")) for each in listed] if all(map(_has_hits, listed)) else None

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of the response ``like`` with only the hits in ``rows``."""
        if _has_hits(like):
            return _with_hits(like, rows[0])
        several = zip(field_of(like, "results"), rows, strict=True)
        return with_fields(like, results=[_with_hits(each, row) for each, row in several])

    def read(self, item: Any) -> Given | None:
        """Returns the text of a hit, with the hit's other fields as metadata. The text is None if the hit
        has none."""
        return read_fields(mapping_in(item))


def _is_match(each: object) -> bool:
    has_more = field_of(each, "score") is not None or field_of(each, "metadata") is not None
    return has_more and field_of(each, "id") is not None


def _has_hits(response: object) -> bool:
    hits: object = field_of(response, "hits")
    if not is_listed(hits) or not isinstance(field_of(response, "query"), str):
        return False
    return all(mapping_in(hit) for hit in cast("Sequence[object]", hits))


def _with_hits(response: Any, row: Sequence[Any]) -> Any:
    omitted = len(field_of(response, "hits")) - len(row)
    own: dict[str, Any] = {"hits": list(row)}
    for name in _COUNTS:
        count = field_of(response, name)
        if isinstance(count, int):
            own[name] = max(0, count - omitted)
    if omitted:
        own |= {name: Uncut(name) for name in _OF_ALL if field_of(response, name)}
    return with_fields(response, **own)


pinecone = Pinecone()
"""The client for responses of Pinecone."""
meilisearch = Meilisearch()
"""The client for responses of Meilisearch."""
