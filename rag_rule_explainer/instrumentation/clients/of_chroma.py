"""Chroma: lists side by side, a list of such for each query, or plain ones where a collection is read."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...errors import InvalidInput
from ...given import Given
from .protocol import Rows
from .reading import changed, is_array, is_listed, listed_like, mapping_in

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
"""The lists that stand side by side, and what is said of one item by each."""


@dataclass(frozen=True, slots=True)
class Chroma:
    """What ``query``, ``get`` and ``peek`` of a collection return. An item is a dict: ``id``,
    ``document``, ``metadata``, ``distance`` and so on, as far as they are included."""

    def rows(self, response: Any) -> Rows | None:
        """Returns a row for each query; one for what ``get`` returns. Raises InvalidInput where the lists
        are not of one length."""
        if not isinstance(response, dict):
            return None
        told = cast("dict[str, Any]", response)
        if not is_listed(told.get("ids")) or not (told.keys() & _FIELDS.keys()) - {"ids"}:
            return None
        ids: Sequence[Any] = told["ids"]
        if not _is_nested(ids):
            return [_items({name: told.get(name) for name in _FIELDS}, len(ids))]
        return [
            _items({name: _row(told.get(name), place) for name in _FIELDS}, len(row))
            for place, row in enumerate(ids)
        ]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a dict whose lists are all cut alike; a list that was not included stays None."""
        nested = _is_nested(like["ids"])
        columns: dict[str, Any] = {}
        for name, one in _FIELDS.items():
            column = like.get(name)
            if column is None:
                continue
            parts = [
                None if _row(column, place) is None else _column(row, one, _row(column, place))
                for place, row in enumerate(rows)
            ]
            columns[name] = listed_like(parts, column) if nested else _column(rows[0], one, column)
        return changed(like, **columns)

    def read(self, item: Any) -> Given | None:
        """Returns the document with its id and metadata."""
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
            f"a response of Chroma has {size} ids, and {len(there[uneven[0]])} {uneven[0]}, so nobody "
            "knows which belong together; return the lists as the collection does"
        )
    return [{_FIELDS[name]: column[place] for name, column in there.items()} for place in range(size)]


def _column(row: Sequence[Any], name: str, like: Any) -> Any:
    values = [item.get(name) for item in row]
    if not is_array(like):
        return listed_like(values, like)
    return sys.modules["numpy"].stack(values).astype(like.dtype) if values else like[:0]


chroma = Chroma()
"""Takes responses of Chroma apart, and puts them together."""
