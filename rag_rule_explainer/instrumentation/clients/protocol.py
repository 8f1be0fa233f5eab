"""This module defines ``Client``, which knows the responses of one kind of search client, as Qdrant's.

A ``Client`` splits a response into its results (the items), and builds a response from some of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from ...allowed import checked_function, named_function
from ...errors import InvalidInput
from ...sources.given import Given
from .reading import read_any
from .users_functions import users_result

Rows: TypeAlias = Sequence[Sequence[Any]]
"""The items of a response, in one row for each query that the response answers. Usually, this is one
row."""


class Client(Protocol):
    """A ``Client`` splits responses into items, and builds a response from some of the items.

    An item holds all data about one result, so that it can be put into a different response of the same
    client. The methods never change their arguments.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns the items of a response, in one row for each query that the response answers. Returns
        None if this client cannot split the response, because another kind of client returned it."""
        ...

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a copy of ``like``, the original response, that has only the items in ``rows``. There
        are as many rows as for ``like``; a row lacks the items that are omitted."""
        ...

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of an item. If the item has no text, returns None or a
        ``Given`` whose text is not a ``str``; ``gate`` raises an error in both cases."""
        ...


@dataclass(frozen=True, slots=True)
class ItemsOf:
    """An ``ItemsOf`` is a client that you make from two functions of your own.

    ``take_apart`` returns the items of a response as a list. ``put_together`` takes a response and some
    of its items, in order. This function returns a response with only these items, and must not change
    its arguments.
    """

    take_apart: Callable[[Any], Sequence[Any]]
    put_together: Callable[[Any, list[Any]], Any]

    def __post_init__(self) -> None:
        checked_function("take_apart", self.take_apart, "a function from a response to its items")
        checked_function(
            "put_together", self.put_together, "a function of a response and of some of its items"
        )

    def rows(self, response: Any) -> Rows | None:
        """Returns one row with all items that ``take_apart`` finds in the response, and never None.
        Raises InvalidInput if ``take_apart`` returns no list of items."""
        items = users_result("take_apart", self.take_apart, response, what="a list of items")
        if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
            raise InvalidInput(
                f"take_apart, which gate was given ({named_function(self.take_apart)}), returned a "
                f"{type(cast('object', items)).__name__}; have it return a list of items"
            )
        return [list(cast("Iterable[Any]", items))]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns the response that ``put_together`` makes of ``like`` and these items."""
        items = [item for row in rows for item in row]
        return users_result(
            "put_together", self.put_together, like, items, what="a response with these items"
        )

    def read(self, item: Any) -> Given | None:
        """Returns the text, id and metadata of an item that is a str, a dict or an object with a text. If
        no single text can be read from the item, returns None or a ``Given`` whose text is None."""
        return read_any(item)
