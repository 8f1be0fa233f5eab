"""This module splits responses of Elasticsearch and OpenSearch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...sources.given import Given
from .fields import is_listed, mapping_in
from .protocol import Rows
from .reading import read_fields
from .uncut import Uncut

_OF_NO_DOCUMENT = frozenset(
    ("_clusters", "_scroll_id", "_shards", "hits", "pit_id", "profile", "status", "timed_out", "took")
)
"""The hits, and the parts of a response that do not depend on documents. All other parts, such as
aggregations and suggestions, are computed from all documents that match."""


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """A ``SearchEngine`` is a client that splits the responses of ``search`` and ``msearch``.

    An item is a hit; its text is in its ``_source`` or ``fields``. If hits are omitted, an exact
    ``total`` is reduced by their number, and ``max_score`` is the highest score of the retained hits.
    Aggregations and suggestions would still depend on the omitted hits, so reading these parts of such a
    response raises UntrueReplay.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns one row of hits for each search; the row of a failed search is empty. Returns None if
        the response was not returned by Elasticsearch or OpenSearch."""
        body = _body(response)
        if body is None:
            return None
        if _has_hits(body):
            return [list(body["hits"]["hits"])]
        several: object = body.get("responses")
        if not is_listed(several):
            return None
        each_body = cast("Sequence[Mapping[str, Any]]", several)
        return [list(each["hits"]["hits"]) if _has_hits(each) else [] for each in each_body]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a response of the same type as ``like`` with only the hits in ``rows``."""
        body = _body(like) or {}
        if _has_hits(body):
            own = _with_hits(body, rows[0])
        else:
            several = zip(body["responses"], rows, strict=True)
            own = {**body, "responses": [_with_hits(each, row) for each, row in several]}
        return own if like is body else type(like)(body=own, meta=like.meta)

    def read(self, item: Any) -> Given | None:
        """Returns the text of a hit, with the hit's other fields as metadata. The text is None if the hit
        has none."""
        source = mapping_in(item.get("_source"))
        if not source:
            # Elasticsearch returns each value in ``fields`` as a list. A list of one value is replaced by
            # this value.
            fields = mapping_in(item.get("fields"))
            source = {name: each[0] if _is_one(each) else each for name, each in fields.items()}
        return read_fields(source)._replace(id=item.get("_id"))


def _body(response: Any) -> Mapping[str, Any] | None:
    inside: object = response
    if not isinstance(response, Mapping) and hasattr(response, "meta"):
        inside = getattr(response, "body", None)
    return cast("Mapping[str, Any]", inside) if isinstance(inside, dict) else None


def _has_hits(body: object) -> bool:
    outer: object = cast("Mapping[str, Any]", body).get("hits") if isinstance(body, Mapping) else None
    if not isinstance(outer, Mapping):
        return False
    hits: object = cast("Mapping[str, Any]", outer).get("hits")
    return is_listed(hits) and all(isinstance(hit, Mapping) for hit in cast("Sequence[object]", hits))


def _with_hits(body: Mapping[str, Any], row: Sequence[Any]) -> Mapping[str, Any]:
    if not _has_hits(body):
        return body
    outer: Mapping[str, Any] = body["hits"]
    own: dict[str, Any] = {**outer, "hits": list(row)}
    if "total" in outer:
        own["total"] = _total(outer["total"], len(row) - len(outer["hits"]))
    if outer.get("max_score") is not None:
        own["max_score"] = max(
            (hit["_score"] for hit in row if _is_number(hit.get("_score"))), default=None
        )
    if len(row) == len(outer["hits"]):
        return {**body, "hits": own}
    uncut = {
        name: Uncut(name) for name in body if name not in _OF_NO_DOCUMENT and _has_content(body[name])
    }
    return {**body, "hits": own, **uncut}


def _has_content(part: object) -> bool:
    return isinstance(part, (dict, list)) and bool(cast("Any", part))


def _total(total: Any, more: int) -> Any:
    if isinstance(total, Mapping):
        counted = cast("Mapping[str, Any]", total)
        exact = counted.get("relation", "eq") == "eq" and _is_number(counted.get("value"))
        return {**counted, "value": max(0, counted["value"] + more)} if exact else counted
    return max(0, total + more) if _is_number(total) else total


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_one(value: Any) -> bool:
    return is_listed(value) and len(value) == 1


elasticsearch = SearchEngine()
"""The client for responses of Elasticsearch."""
opensearch = SearchEngine()
"""The client for responses of OpenSearch."""
