"""This module reads attributes of libraries' objects that the application's code names and that are never
restored: those of threads, pools and event loops, as ``Thread._args``, and the collections of a library's
own objects, as ``Session.adapters``."""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from ..shared_state.reaching import is_ours
from .companies import is_of_own
from .left_alone import OF_THREADS, keeps_users_attributes
from .owners import package_of
from .values import is_plain

_MOST = 1000
"""The maximum number of entries of a collection that are read."""
_DEEPEST = 3
"""The maximum number of levels of nested collections that are read."""
_COLLECTIONS: Any = (dict, list, tuple, set, frozenset, deque)
_MAPPING: Any = Mapping


def named_attributes_of(thing: object, named: frozenset[str]) -> Iterator[str]:
    """Yields the names of those attributes of a library's object that the application's code names and
    that are not restored. ``named``: the names in this code."""
    held = cast("dict[str, Any]", getattr(thing, "__dict__", None))
    is_restored = package_of(thing) not in OF_THREADS and not keeps_users_attributes(thing)
    for name in sorted(named.intersection(held)) if _is_dict(held) else ():
        value: Any = held[name]
        if isinstance(value, (*_COLLECTIONS, _MAPPING)):
            if not (is_restored and _is_of_plain(value)):
                yield name
        elif is_plain(value) and not is_restored:
            yield name


def _is_dict(held: object) -> bool:
    return type(held) is dict


def _is_of_plain(value: Any) -> bool:
    entries: Any = value.values() if isinstance(value, _MAPPING) else value
    return all(map(is_plain, tuple(entries)))


def comparable(value: Any, depth: int = _DEEPEST) -> object:
    """Returns what can be compared of a value: a text or number itself; the entries of a collection, in
    their order; the ``id()`` of an object of the user's; for any other object, its class."""
    if is_plain(value):
        return value
    kind = cast("type[object]", type(value))
    if isinstance(value, _MAPPING) and depth:
        entries = islice(tuple(value.items()), _MOST)
        return kind, [(comparable(key, 0), comparable(each, depth - 1)) for key, each in entries]
    if isinstance(value, (set, frozenset)):
        return kind, len(cast("set[Any]", value))
    if isinstance(value, _COLLECTIONS) and depth:
        return kind, len(value), [comparable(each, depth - 1) for each in islice(tuple(value), _MOST)]
    return id(value) if is_of_own(value) and not is_ours(value) else kind
