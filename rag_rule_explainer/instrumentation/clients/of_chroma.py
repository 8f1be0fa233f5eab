"""This module splits responses of Chroma. A response consists of parallel lists, which are nested if
there were several queries."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...errors import InvalidInput
from ...sources.given import Given
from .fields import is_array, is_listed, listed_like, mapping_in, with_fields
from .protocol import Rows

_FIELDS = {
    "ids": "id",
    "embeddings": "embedding",
    "documents": "document",
    "uris": "uri",
    "data": "data",
    "metadatas": "metadata",
    "distances": "distance",
    "scores": "score",
}
"""The names of the parallel lists of a response, each with the key under which an item has its value."""


@dataclass(frozen=True, slots=True)
class Chroma:
    """This client splits what ``query``, ``get`` and ``peek`` of a collection return.

    An item is a dict with ``id``, ``document``, ``metadata``, ``distance`` and the other fields that the
    response includes.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns one row of items for each query; a single row for ``get`` and ``peek``. Returns None if
        the response was not returned by Chroma. Raises InvalidInput if its lists differ in length."""
        if not isinstance(response, dict):
            return None
        fields = cast("dict[str, Any]", response)
        if not is_listed(fields.get("ids")) or not (fields.keys() & _FIELDS.keys()) - {"ids"}:
            return None
        ids: Sequence[Any] = fields["ids"]
        if not _is_nested(ids):
            return [_items({name: fields.get(name) for name in _FIELDS}, len(ids))]
        return [
            _items({name: _row(fields.get(name), place) for name in _FIELDS}, len(row))
            for place, row in enumerate(ids)
        ]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a dict with the same lists as ``like``, filled from the items of ``rows``. A list
        that is None in ``like`` stays None."""
        nested = _is_nested(like["ids"])
        columns: dict[str, Any] = {}
        for name, key in _FIELDS.items():
            column = like.get(name)
            if column is None:
                continue
            parts = [
                None if _row(column, place) is None else _column(row, key, _row(column, place))
                for place, row in enumerate(rows)
            ]
            columns[name] = listed_like(parts, column) if nested else _column(rows[0], key, column)
        return with_fields(like, **columns)

    def read(self, item: Any) -> Given | None:
        """Returns the document's text, id and metadata. The text is None if the response does not include
        texts; ``gate`` then raises an error."""
        return Given(item.get("document"), item.get("id"), mapping_in(item.get("metadata")))


def _is_nested(ids: Sequence[Any]) -> bool:
    return bool(ids) and all(map(is_listed, ids))


def _row(column: Any, place: int) -> Any:
    return None if column is None or place >= len(column) else column[place]


def _items(columns: Mapping[str, Any], size: int) -> list[dict[str, Any]]:
    there = {name: column for name, column in columns.items() if column is not None}
    uneven = [name for name, column in there.items() if len(column) != size]
    if uneven:
        raise InvalidInput(
            f"a response of Chroma has {size} ids, and {len(there[uneven[0]])} {uneven[0]}, so it is "
            "not known which belong together; return the lists as the collection does"
        )
    return [{_FIELDS[name]: column[place] for name, column in there.items()} for place in range(size)]


def _column(row: Sequence[Any], name: str, like: Any) -> Any:
    values = [item.get(name) for item in row]
    if not is_array(like):
        return listed_like(values, like)
    return sys.modules["numpy"].stack(values).astype(like.dtype) if values else like[:0]


chroma = Chroma()
"""The client for responses of Chroma."""
