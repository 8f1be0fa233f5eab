"""pgvector: rows of a database, of any driver."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...given import Given
from .protocol import Rows
from .reading import fields_in, is_listed, listed_like, read_fields


@dataclass(frozen=True, slots=True)
class TableRows:
    """What ``fetchall()``, or ``.all()`` of SQLAlchemy, returns. An item is a row, of whatever type.

    ``text``, ``id``: the columns that hold them, by name, or by place in a plain tuple. Without the
    first, the text is in a column of a usual name, or in the only one that holds a text. Calling it
    returns one that knows them: ``pgvector(text="content", id="id")``.
    """

    text: str | int | None = None
    id: str | int | None = None

    def __call__(self, *, text: str | int | None = None, id: str | int | None = None) -> "TableRows":  # noqa: A002 -- a column's usual name
        """Returns the same with columns that it knows."""
        return replace(self, text=text, id=id)

    def rows(self, response: Any) -> Rows | None:
        """Returns the rows of a list."""
        if not is_listed(response) or not all(fields_in(each) is not None for each in response):
            return None
        return [list(response)]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a list of these, or a tuple where that was one."""
        return listed_like(rows[0], like)

    def read(self, item: Any) -> Given | None:
        """Returns the text of a row, with its other plain columns as metadata."""
        fields = fields_in(item)
        if fields is None:
            return None
        text, identity = (self._key(told, fields) for told in (self.text, self.id))
        return read_fields(fields, text=text, identity=identity)

    @staticmethod
    def _key(told: Any, fields: Mapping[Any, Any]) -> Any:
        """A place in a row whose columns have names is that of one of these."""
        if isinstance(told, int) and told not in fields and -len(fields) <= told < len(fields):
            return list(fields)[told]
        return told


pgvector = TableRows()
"""Takes lists of rows apart, and puts them together."""
