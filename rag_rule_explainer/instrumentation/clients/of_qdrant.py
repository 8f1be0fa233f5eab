"""This module splits responses of Qdrant into points (its search results). A response may be an object
with points or with groups of points, a list of points, a page of ``scroll``, or a batch of such
objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...sources.given import Given
from .fields import field_of, is_listed, listed_like, mapping_in, with_fields
from .protocol import Rows
from .reading import read_fields


@dataclass(frozen=True, slots=True)
class Qdrant:
    """This client splits the responses of ``query_points`` (also in batches and groups), ``search``,
    ``retrieve`` and ``scroll``.

    An item is a point; its text is in its payload. If a group has no points left, it is removed, because
    the server never returns an empty group.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns the points: one row for each request of a batch or for each group; otherwise a single
        row. Returns None if the response was not returned by Qdrant."""
        if not is_listed(response):
            return _rows_in(response)
        given = cast("Sequence[Any]", response)
        if _is_page(given):
            return [list(given[0])]
        if given and all(map(_is_point, given)):
            return [list(given)]
        inside = [_rows_in(each) for each in given]
        if given and all(each is not None and len(each) == 1 for each in inside):
            return [row for each in inside if each for row in each]
        return None

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns the points in ``rows`` in the same structure as the response ``like``: an object,
        groups, a list, or a page."""
        if not is_listed(like):
            return _with_points(like, rows)
        if _is_page(like):
            return (listed_like(rows[0], like[0]), *like[1:])
        if not like or _is_point(like[0]):
            return listed_like(rows[0], like)
        return listed_like(
            (_with_points(each, [row]) for each, row in zip(like, rows, strict=True)), like
        )

    def read(self, item: Any) -> Given | None:
        """Returns the text in the point's payload, with the other fields of the payload as metadata. The
        text is None if the payload has none."""
        return read_fields(mapping_in(field_of(item, "payload")))._replace(id=field_of(item, "id"))


def _rows_in(response: Any) -> Rows | None:
    points = field_of(response, "points")
    if is_listed(points) and all(map(_is_point, points)):
        return [list(points)]
    groups = field_of(response, "groups")
    if is_listed(groups) and all(is_listed(field_of(each, "hits")) for each in groups):
        return [list(field_of(each, "hits")) for each in groups]
    return None


def _with_points(like: Any, rows: Rows) -> Any:
    if field_of(like, "groups") is None:
        return with_fields(like, points=list(rows[0]))
    groups = zip(field_of(like, "groups"), rows, strict=True)
    return with_fields(like, groups=[with_fields(each, hits=list(row)) for each, row in groups if row])


def _is_point(each: Any) -> bool:
    if isinstance(each, Mapping):
        return {"id", "payload"} <= cast("Mapping[str, Any]", each).keys()
    return hasattr(each, "id") and hasattr(each, "payload")


def _is_page(given: Any) -> bool:
    """Returns True iff this is a result of ``scroll``: points, and the offset of the next page."""
    if not isinstance(given, tuple) or len(cast("tuple[Any, ...]", given)) != 2:
        return False
    points, offset = cast("tuple[Any, Any]", given)
    return (
        isinstance(points, list)
        and all(map(_is_point, cast("list[Any]", points)))
        and (not _is_point(offset) and not is_listed(offset))
    )


qdrant = Qdrant()
"""The client for responses of Qdrant."""
