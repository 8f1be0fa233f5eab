"""FAISS: arrays of distances and of places, a row for each query; the texts are somebody else's."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from ...allowed import brief
from ...allowed import named_function as named
from ...errors import InvalidInput
from ...given import Given
from .protocol import Rows
from .reading import is_array, is_listed, listed_like, read_any

Texts: TypeAlias = Sequence[Any] | Mapping[Any, Any] | Callable[[int], Any]
_NOTHING = -1
"""The place where FAISS found nothing."""


class Neighbour(NamedTuple):
    """This class represents a place in an index that was found. ``vector``: where the search returns it
    as well."""

    place: int
    distance: float
    vector: Any = None


@dataclass(frozen=True, slots=True)
class Faiss:
    """What ``search`` and ``search_and_reconstruct`` of an index return. An item is a place in it.

    ``texts``: from a place to its text or document: a list, a dict, or a function. Where rows are of
    different length, the shorter ones are filled up with places of -1, as FAISS does; and where the index
    has fewer vectors than were asked for, what filled up its longest row fills it up in every replay.
    """

    texts: Texts

    def rows(self, response: Any) -> Rows | None:
        """Returns the places of each query that something was found at."""
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
        """Returns arrays of the same types, as wide as the longest row."""
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
        """Returns the text of a place, named by the id that its document has, else by the place.

        Raises InvalidInput where there is none.
        """
        held = self._held(item.place)
        if held is None:
            raise InvalidInput(
                f"the index found its vector {item.place}, and faiss has no text of that "
                f"({self._told()}); give it the texts of all vectors, in the order in which they were "
                "added"
            )
        given = read_any(held)
        return given._replace(id=item.place) if given is not None and given.id is None else given

    def _told(self) -> str:
        if callable(self.texts):
            return f"{named(self.texts)} returned None for it"
        size = getattr(self.texts, "__len__", None)
        return "it is not in what it was given" if size is None else f"it was given {size():,} texts"

    def _held(self, place: int) -> Any:
        if callable(self.texts):
            return self.texts(place)
        try:
            return cast("Any", self.texts)[place]
        except (KeyError, IndexError):
            return None


def is_faiss(response: Any) -> bool:
    """Returns True iff a result looks like one of FAISS, of which nobody knows the texts."""
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
    """Returns what FAISS says of nothing: the greatest distance, or where the best come first the least
    similarity."""
    numpy = sys.modules["numpy"]
    most = numpy.finfo(distances.dtype).max
    falling = any(bool((row[:-1] > row[1:]).any()) for row in distances)
    return -most if falling else most


def faiss(texts: Texts) -> Faiss:
    """Returns what takes results of an index of FAISS apart, given the texts of its places.

    An index with fewer vectors than are asked for fills up its result with places of -1, here as in
    replays: skip them, as ``texts[-1]`` of a list is its last text.

    ``texts``: a list, a dict or a function, from a place to its text, or to a document with an id.
    Raises InvalidInput for anything else.
    """
    if isinstance(texts, (str, bytes)) or not (callable(texts) or hasattr(texts, "__getitem__")):
        raise InvalidInput(
            f"faiss was given {brief(texts)}; give the texts of its places: a list, a dict or a function"
        )
    return Faiss(texts)
