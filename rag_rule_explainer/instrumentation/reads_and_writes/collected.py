"""This module finds what is in a collection besides data: functions, tools, and objects."""

from collections.abc import Iterable, Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

from ...probing.whose import is_users
from ..comparable import Opaque, comparable_value
from ..rewinding.values import DICT, LIST
from .library_data import is_runnable
from .reached import DATA

_MOST = 200
"""The largest number of parts of a collection that are looked at."""
_DEEPEST = 3
_CALLED = (FunctionType, MethodType, BuiltinFunctionType, partial, type)


def collected_code(collection: Any, deepest: int = _DEEPEST) -> Iterator[Any]:
    """Yields the functions, classes and tools in a collection, the classes of the user's objects in it,
    and objects of libraries that are not compared as a part of the collection."""
    if not isinstance(collection, (DICT, LIST, tuple, set, frozenset)) or not deepest:
        return
    inside: Any = collection.values() if isinstance(collection, DICT) else collection
    parts = list(cast("Iterable[Any]", inside)) if len(collection) <= _MOST else []
    for each in parts:
        if isinstance(each, DATA):
            yield from collected_code(each, deepest - 1)
        elif isinstance(each, _CALLED) or is_runnable(each):
            yield each
        elif is_users(str(type(each).__module__)):
            yield type(each)
        elif isinstance(comparable_value(each), Opaque):
            yield each
