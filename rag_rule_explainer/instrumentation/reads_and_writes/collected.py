"""This module finds what is in a collection besides data: functions, tools, and objects."""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

from ...probing.whose import is_users
from ..comparable import Opaque, comparable_value
from ..rewinding.values import DICT, LIST
from .attributes_read import attributes_held
from .library_data import is_runnable

_MOST = 300
"""The largest number of parts of a collection that are looked at, with the parts of its parts."""
_DEEPEST = 3
_CALLED = (FunctionType, MethodType, BuiltinFunctionType, partial, type)
_PARTED = (DICT, LIST, tuple, set, frozenset)


def collected_code(collection: Any) -> Iterator[Any]:
    """Yields the functions, classes and tools in a collection, the classes of the user's objects in it
    and what those hold, and objects of libraries that are not compared as a part of the collection."""
    seen, left = dict[int, Any](), deque([(collection, 0)])
    while left and len(seen) < _MOST:
        each, depth = left.popleft()
        if id(each) in seen or isinstance(each, (str, bytes, int, float, type(None))):
            continue
        seen[id(each)] = each
        if isinstance(each, _PARTED):
            left.extend((part, depth + 1) for part in _parts(each) if depth < _DEEPEST)
        elif isinstance(each, _CALLED) or is_runnable(each):
            yield each
        elif is_users(str(type(each).__module__)):
            yield type(each)
            left.append((list(attributes_held(each).values()), depth))
        elif isinstance(comparable_value(each), Opaque):
            yield each


def _parts(collection: Any) -> Iterable[Any]:
    inside: Any = collection.values() if isinstance(collection, DICT) else collection
    return islice(list(cast("Iterable[Any]", inside)), _MOST)
