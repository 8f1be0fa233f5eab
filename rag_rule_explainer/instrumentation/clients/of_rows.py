"""This module splits lists of database rows, such as the result of a search with pgvector through any
database driver."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...allowed import brief, called_as
from ...errors import InvalidInput
from ...sources.given import Given
from .fields import is_listed, listed_like
from .protocol import Rows
from .reading import fields_in, read_fields


@dataclass(frozen=True, slots=True)
class TableRows:
    """This client splits lists of rows, as ``fetchall()``, or ``.all()`` of SQLAlchemy, returns them. An
    item is a row.

    ``text``, ``id``: the columns with the text and the id of a row, by name, or by position for plain
    tuples. Example: ``pgvector(text="content", id="id")``. If ``text`` is None, the text is read from a
    column with a name in ``TEXT_KEYS``, such as ``content``, or else from the only column that contains a
    text.
    """

    text: str | int | None = None
    id: str | int | None = None

    def __post_init__(self) -> None:
        for name, given in (("text", self.text), ("id", self.id)):
            if given is not None and type(given) not in {str, int}:
                raise InvalidInput(
                    f"{name} of pgvector is {brief(given)}; give the name of a column, or its place"
                )

    @called_as("pgvector")
    def __call__(self, *, text: str | int | None = None, id: str | int | None = None) -> "TableRows":  # noqa: A002 -- the usual name of the id's column
        """Returns a client that reads the text and the id from these columns."""
        return replace(self, text=text, id=id)

    def rows(self, response: Any) -> Rows | None:
        """Returns the database rows as one row of items; None if the response is no list of database
        rows. Raises InvalidInput if ``text`` or ``id`` names a column that no database row has."""
        if not is_listed(response):
            return None
        known = [fields_in(each) for each in response]
        rows = [each for each in known if each is not None]
        if len(rows) < len(known):
            return None
        for name, column in (("text", self.text), ("id", self.id)):
            if rows and column is not None and all(self._key(column, row) not in row for row in rows):
                columns = ", ".join(map(repr, dict.fromkeys(each for row in rows for each in row)))
                raise InvalidInput(
                    f"pgvector({name}={column!r}) names a column that no row has; give one of {columns}"
                )
        return [list(response)]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns the database rows in ``rows`` as a list, or as a tuple if the original response
        ``like`` is a tuple."""
        return listed_like(rows[0], like)

    def read(self, item: Any) -> Given | None:
        """Returns the text of a database row. Its metadata are the other columns that have simple values,
        such as texts and numbers. Returns None if the item is no database row."""
        fields = fields_in(item)
        if fields is None:
            return None
        text, identity = (self._key(column, fields) for column in (self.text, self.id))
        return read_fields(fields, text=text, identity=identity)

    @staticmethod
    def _key(column: Any, fields: Mapping[Any, Any]) -> Any:
        """Returns the key of a column in ``fields``. If the column is given by its position and the row
        has names, this is the column's name. Any other column is returned unchanged."""
        if isinstance(column, int) and column not in fields and -len(fields) <= column < len(fields):
            return list(fields)[column]
        return column


pgvector = TableRows()
"""This client reads search results that are lists of database rows, as from a table of pgvector."""
