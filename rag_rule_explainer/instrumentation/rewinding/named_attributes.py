"""This module reads attributes that the application's code names of objects of libraries, among them
threads, pools and event loops, which are never restored.

Such an attribute, as ``Thread._args`` or ``Session.adapters``, belongs to the library. So only its texts
and numbers, the keys and the number of its entries, and the identity of the user's own objects in it are
compared.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from ..shared_state.reaching import is_ours
from .companies import is_of_own
from .values import is_plain

_MOST = 1000
"""The maximum number of entries of a collection that are read."""
_DEEPEST = 3
"""The maximum number of levels of nested collections that are read."""
_COLLECTIONS: Any = (dict, list, tuple, set, frozenset, deque)
_MAPPING: Any = Mapping


def named_attributes_of(thing: object, named: frozenset[str]) -> Iterator[str]:
    """Yields the names of those attributes of an object that the application's code names and whose
    content can be shown. ``named``: the names in this code."""
    held: Any = getattr(thing, "__dict__", None)
    for name in sorted(named & held.keys()) if type(held) is dict else ():
        value: Any = held[name]
        if value is None or is_plain(value) or isinstance(value, (*_COLLECTIONS, _MAPPING)):
            yield name


def shown(value: Any, depth: int = _DEEPEST) -> object:
    """Returns what can be compared of a value: a text or number itself; the entries of a collection, in
    their order; the ``id()`` of an object of the user's; for any other object, its class."""
    if is_plain(value):
        return value
    kind = cast("type[object]", type(value))
    if isinstance(value, _MAPPING) and depth:
        return kind, [
            (shown(key, 0), shown(each, depth - 1)) for key, each in islice(tuple(value.items()), _MOST)
        ]
    if isinstance(value, (set, frozenset)):
        return kind, len(cast("set[Any]", value))
    if isinstance(value, _COLLECTIONS) and depth:
        return kind, len(value), [shown(each, depth - 1) for each in islice(tuple(value), _MOST)]
    return id(value) if is_of_own(value) and not is_ours(value) else kind
