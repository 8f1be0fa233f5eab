"""This module finds the collections and caches that an application empties at the start of every run, as
``lambda given: [cache.clear(), app(given)][1]`` does. So no entry of such a collection can come from an
earlier run."""

import dis
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from inspect import getattr_static
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from ..copies.guarded_code import own_code
from .holdings import Holdings

_LRU: Any = type(lru_cache(len))
_COLLECTIONS: tuple[Any, ...] = (dict, list, set, deque, OrderedDict)
_CLEARS = tuple(each.clear for each in _COLLECTIONS)
_BEGINNING = frozenset(
    {
        *("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "PUSH_NULL", "PRECALL", "CACHE", "NOP", "POP_TOP"),
        *("RETURN_GENERATOR", "GEN_START", "NOT_TAKEN"),
    }
)
"""Bytecode instructions that only prepare a call or begin a function, and so change nothing."""
_LOADING = frozenset({"LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF"})
_OF_PARTS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_CALLING = frozenset({"CALL", "CALL_METHOD", "CALL_FUNCTION"})
_NOTHING = object()


def emptied_by(application: object) -> tuple[object, ...]:
    """Returns the collections and the caches of functions that the application empties before it does
    anything else. ``application``: the function, or the bound method, that is called for each run."""
    if isinstance(application, MethodType):
        application = application.__func__
    return tuple(_emptied(application)) if isinstance(application, FunctionType) else ()


def _emptied(function: FunctionType) -> Iterator[object]:
    names: list[str] = []
    for each in dis.get_instructions(own_code(function)):
        if each.opname in _BEGINNING:
            continue
        if each.opname in _LOADING and not names:
            names = [str(each.argval)]
        elif each.opname in _OF_PARTS and names:
            names.append(str(each.argval))
        elif each.opname in _CALLING and not each.arg and len(names) > 1:
            *held, method = names
            found = _found(function, held)
            if not _empties(found, method):
                return
            yield found
            names = []
        else:
            return


def _found(function: FunctionType, names: Iterable[str]) -> object:
    """Returns the object to which these names refer: the first is a variable of the function, the others
    are attributes."""
    first, *rest = names
    cells = dict(zip(own_code(function).co_freevars, function.__closure__ or (), strict=True))
    try:
        found: object = cells[first].cell_contents if first in cells else function.__globals__[first]
    except (KeyError, ValueError):  # there is no such variable, or it has no value yet
        return _NOTHING
    for name in rest:
        found = _attributes_of(found).get(name, _NOTHING)
    return found


def _empties(thing: object, method: str) -> bool:
    """Returns True iff the method empties this object completely. This is true for ``clear`` of a
    collection that has no attributes beside its entries, and for ``cache_clear`` of a function's
    cache."""
    if isinstance(thing, _LRU):
        return method == "cache_clear"
    kind = type(thing)
    return (
        method == "clear"
        and any(getattr_static(kind, "clear", None) is each for each in _CLEARS)
        and not _attributes_of(thing)
    )


def _attributes_of(thing: object) -> Mapping[str, object]:
    # Reading ``__dict__`` in the usual way may run code of the object's class.
    try:
        return cast("Mapping[str, object]", object.__getattribute__(thing, "__dict__"))
    except AttributeError:  # an object of a class with slots, or a list
        return {}


def cached_code(caches: Iterable[Any]) -> frozenset[CodeType]:
    """Returns the code of the functions whose caches are among these objects."""
    wrapped: list[Any] = [each.__wrapped__ for each in caches if type(each) is _LRU]
    return frozenset(own_code(each) for each in wrapped if isinstance(each, FunctionType))


def is_one_of(names: Iterable[str], holdings: Holdings, emptied: Iterable[object]) -> bool:
    """Returns True iff one of these names belongs to an object that is emptied. ``holdings``: the
    application's state, which has the names of objects."""
    known = frozenset(names)
    found = (holdings.of(each) for each in emptied)
    return any(each is not None and not known.isdisjoint(holdings.names(each)) for each in found)
