"""This module reads objects that other threads may change at the same moment.

A loop over a dict, a set or a deque raises RuntimeError if another thread adds an entry meanwhile. So a
copy is made first, in one step for all threads.
"""

import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

Result = TypeVar("Result")

_MOST_TRIES = 50
"""The largest number of times that an object is read. Another thread rarely changes it even twice."""
_CHANGED = re.compile("(changed|changed size|mutated) during ")
"""Matches what Python says if a collection changes while it is read."""
# Typed as Any, because pyright would report unknown types of their contents.
_DICT: Any = dict
_ORDERED: Any = OrderedDict
_COLLECTIONS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)


def unchanged(read: Callable[[], Result]) -> Result:
    """Returns what ``read`` returns. Calls it again, many times if need be, as long as it fails because
    another thread changes a collection while it is read."""
    for _ in range(_MOST_TRIES - 1):
        try:
            return read()
        except RuntimeError as error:
            if not _CHANGED.search(str(error)):
                raise
    return read()


def entries_now(held: Mapping[Any, Any], most: int | None = None) -> dict[Any, Any]:
    """Returns the entries that a dict has now. Methods that a subclass of dict overrides are not called.
    ``most``: only so many entries, the first ones; None for all."""
    kind: Any = (
        _ORDERED if isinstance(held, _ORDERED) else _DICT if isinstance(held, _DICT) else type(held)
    )
    if most is not None and len(held) > most:
        return unchanged(lambda: dict(islice(kind.items(held), most)))
    if kind is _DICT:
        # This is one step, unless keys have equal hashes and are compared by code of the user's.
        return unchanged(lambda: _DICT.copy(held))
    return unchanged(lambda: dict(kind.items(held)))


def members_now(held: Iterable[Any], most: int | None = None) -> list[Any]:
    """Returns the members that a list, a tuple, a set or a deque has now. Methods that a subclass of it
    overrides are not called. ``most``: only so many members, the first ones; None for all."""
    kind: Any = next((each for each in _COLLECTIONS if isinstance(held, each)), type(held))
    return unchanged(lambda: [*islice(kind.__iter__(held), most)])
