"""This module reads objects that other threads may change at the same moment.

A loop over a dict, a set or a deque raises RuntimeError if another thread adds an entry meanwhile. So
this module first copies the object, in a single step that no other thread can interrupt.
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
"""Matches the error message of Python if a collection changes while it is read."""
# The type is Any, because pyright would report that the types of the contents are unknown.
_DICT: Any = dict
_ORDERED: Any = OrderedDict
_SLICED = frozenset[type]({list, tuple})
_COLLECTIONS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)


def unchanged(read: Callable[[], Result]) -> Result:
    """Returns the result of ``read``. If ``read`` fails because another thread changes a collection at
    the same moment, calls ``read`` again, up to ``_MOST_TRIES`` times in all."""
    for _ in range(_MOST_TRIES - 1):
        try:
            return read()
        except RuntimeError as error:
            if not _CHANGED.search(str(error)):
                raise
    return read()


def entries_now(held: Mapping[Any, Any], most: int | None = None) -> dict[Any, Any]:
    """Returns the entries that a dict has now. Methods that a subclass of dict overrides are not called.
    ``most``: the maximum number of entries, counted from the first; None for all."""
    if type(held) is _DICT and (most is None or len(held) <= most):
        # Other threads cannot interrupt this copy, unless keys with equal hashes are compared by the
        # user's code.
        try:
            return _DICT.copy(held)
        except RuntimeError:  # the code below tries again, or raises the error of the user's code
            pass
    kind: Any = (
        _ORDERED if isinstance(held, _ORDERED) else _DICT if isinstance(held, _DICT) else type(held)
    )
    if most is not None and len(held) > most:
        return unchanged(lambda: dict(islice(kind.items(held), most)))
    if kind is _DICT:
        return unchanged(lambda: _DICT.copy(held))
    return unchanged(lambda: dict(kind.items(held)))


def members_now(held: Iterable[Any], most: int | None = None) -> list[Any]:
    """Returns the members that a list, a tuple, a set or a deque has now. Methods that a subclass of it
    overrides are not called. ``most``: the maximum number of members, counted from the first; None for
    all."""
    if type(held) in _SLICED:
        known: Any = held
        return [*known[:most]]
    kind: Any = next((each for each in _COLLECTIONS if isinstance(held, each)), type(held))
    return unchanged(lambda: [*islice(kind.__iter__(held), most)])
