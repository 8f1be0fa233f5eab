"""What is asked of whoever takes the responses of a client apart, and puts them together again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ...allowed import checked_function
from ...given import Given
from .reading import read_any

Rows: TypeAlias = Sequence[Sequence[Any]]
"""The items of a response, by the queries of its request: one row for each, mostly just one."""


class Client(Protocol):
    """How the responses of a client are taken apart into items, and put together of some of them.

    An item has with it all that the response says of it, so that it can be put into another response of
    the same client. Nothing that is given is changed.
    """

    def rows(self, response: Any) -> Rows | None:
        """Returns the items of a response, or None for what is no response of this client."""
        ...

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns a response with just these items, of the type of another one, whose rest it has.

        There are as many rows as that one has.
        """
        ...

    def read(self, item: Any) -> Given | None:
        """Returns what an item says of itself; None, or a text that is no string, where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class ItemsOf:
    """This class represents a client of your own, by two functions.

    ``take_apart``: from a response to a list of its items. ``put_together``: from a response and some of
    such items, in order, to a response with just these. It must not change what it is given.
    """

    take_apart: Callable[[Any], Sequence[Any]]
    put_together: Callable[[Any, list[Any]], Any]

    def __post_init__(self) -> None:
        checked_function("take_apart", self.take_apart, "a function from a response to its items")
        checked_function(
            "put_together", self.put_together, "a function of a response and of some of its items"
        )

    def rows(self, response: Any) -> Rows | None:
        """Returns all items in one row."""
        return [list(self.take_apart(response))]

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns what ``put_together`` makes of them."""
        return self.put_together(like, [item for row in rows for item in row])

    def read(self, item: Any) -> Given | None:
        """Returns what is found in a text, a dict or an object with a text."""
        return read_any(item)
