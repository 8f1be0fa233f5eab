"""This module splits responses of FAISS into items, one for each hit. A response has only distances and
positions in the index, so the user passes the texts."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from ...allowed import brief
from ...allowed import named_function as named
from ...errors import InvalidInput
from ...sources.given import Given
from .fields import is_array, is_listed, listed_like
from .protocol import Rows
from .reading import read_any
from .users_functions import users_result

Texts: TypeAlias = Sequence[Any] | Mapping[Any, Any] | Callable[[int], Any]
_NOTHING = -1
"""The position with which FAISS fills a row if the query found fewer neighbours than requested."""


class Neighbour(NamedTuple):
    """A ``Neighbour`` is one search result. ``place``: its position in the index. ``vector``: None if
    the response has no vectors."""

    place: int
    distance: float
    vector: Any = None


@dataclass(frozen=True, slots=True)
class Faiss:
    """This client splits the arrays that ``search`` and ``search_and_reconstruct`` of an index return.

    An item is a ``Neighbour``: one search result with its position in the index. ``texts``: a list, a
    dict or a function from a position to its text or document. In replays, shorter rows are filled with
    positions of -1, as FAISS does. FAISS fills even the longest row if the index has fewer vectors than
    requested; the longest row of a replay then ends with as many -1 as the longest original row.
    """

    texts: Texts

    def rows(self, response: Any) -> Rows | None:
        """Returns one row for each query, with the neighbours that the query found. Leaves out positions
        of -1. Returns None if the response was not returned by FAISS."""
        if not _is_result(response):
            return None
        distances, places, *vectors = response
        found: list[list[Neighbour]] = []
        for row in range(len(places)):
            pairs = enumerate(zip(places[row].tolist(), distances[row].tolist(), strict=True))
            found.append(
                [
                    Neighbour(place, distance, vectors[0][row][column] if vectors else None)
                    for column, (place, distance) in pairs
                    if place != _NOTHING
                ]
            )
        return found

    def response(self, rows: Rows, like: Any) -> Any:
        """Returns arrays of the same types as in ``like``, which hold the items of ``rows``. Shorter
        rows are filled with positions of -1."""
        numpy = sys.modules["numpy"]
        distances, places, *vectors = like
        found = int((places != _NOTHING).sum(axis=1).max(initial=0))
        shape = len(rows), max(map(len, rows), default=0) + places.shape[1] - found
        own = [
            numpy.full(shape, _worst(distances), distances.dtype),
            numpy.full(shape, _NOTHING, places.dtype),
            *(numpy.full((*shape, each.shape[2]), numpy.nan, each.dtype) for each in vectors),
        ]
        for place, row in enumerate(rows):
            for column, each in enumerate(row):
                own[0][place, column], own[1][place, column] = each.distance, each.place
                if vectors and each.vector is not None:
                    own[2][place, column] = each.vector
        return listed_like(own, like)

    def read(self, item: Any) -> Given | None:
        """Returns the text or the document that ``texts`` has for a position of the index. If a document
        has no id, its id is the position. If no single text can be read from a document, returns None or
        a ``Given`` whose text is None.

        Raises InvalidInput if ``texts`` has no text for the position.
        """
        held = self._held(item.place)
        if held is None:
            raise InvalidInput(
                f"the index found its vector {item.place}, and faiss has no text of that "
                f"({self._size()}); give it the texts of all vectors, in the order in which they were "
                "added"
            )
        given = read_any(held)
        return given._replace(id=item.place) if given is not None and given.id is None else given

    def _size(self) -> str:
        if callable(self.texts):
            return f"{named(self.texts)} returned None for it"
        size = getattr(self.texts, "__len__", None)
        return "it is not in what it was given" if size is None else f"it was given {size():,} texts"

    def _held(self, place: int) -> Any:
        if callable(self.texts):
            return users_result("faiss(texts)", self.texts, place)
        try:
            return cast("Any", self.texts)[place]
        except (KeyError, IndexError):
            return None


def is_faiss(response: Any) -> bool:
    """Returns True iff the response has the shape of a FAISS search result."""
    return _is_result(response)


def _is_result(response: Any) -> bool:
    if not is_listed(response) or len(response) not in {2, 3} or not all(map(is_array, response)):
        return False
    distances, places, *vectors = response
    return (
        distances.ndim == places.ndim == 2
        and distances.shape == places.shape
        and places.dtype.kind in "iu"
        and all(each.ndim == 3 and each.shape[:2] == places.shape for each in vectors)
    )


def _worst(distances: Any) -> Any:
    """Returns the distance with which FAISS fills rows: the greatest possible number. If the values
    decrease from the best result to the worst, as similarities do, it is the least possible number."""
    numpy = sys.modules["numpy"]
    most = numpy.finfo(distances.dtype).max
    falling = any(bool((row[:-1] > row[1:]).any()) for row in distances)
    return -most if falling else most


def faiss(texts: Texts) -> Faiss:
    """Returns an object that reads the sources in the results of a FAISS index, for ``gate``.

    ``texts``: a list, a dict or a function that returns, for a position in the index, its text or a
    document with an id. Raises InvalidInput for anything else.

    If the index has fewer vectors than requested, FAISS fills the row with positions of -1, and so do
    replays. Skip these positions in your application, because ``texts[-1]`` of a list is its last text.
    """
    if isinstance(texts, (str, bytes)) or not (callable(texts) or hasattr(texts, "__getitem__")):
        raise InvalidInput(
            f"faiss was given {brief(texts)}; give the texts of its places: a list, a dict or a function"
        )
    return Faiss(texts)
