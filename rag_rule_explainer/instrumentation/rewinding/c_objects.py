"""This module reads the state of objects whose classes a library implements in C or Rust, such as a
tokenizer, into which no attribute leads.

A library keeps what its functions set inside of such an object. So the state counts only if the
application's code names a method that sets something (``add_tokens``), or a property of the class.
"""

import builtins
import itertools
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import FunctionType, GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, cast

from ..shared_state.per_class import per_class
from ..shared_state.reaching import FRAMEWORKS
from .companies import is_own

_Ask = Callable[[Any], object]
OF_SETTERS = re.compile(
    "(set|add|enable|disable|register|unregister|update|remove|delete|clear|reset|insert|push|put|train"
    "|fit|merge|assign|append|extend|feed|paste|fill|resize)|no_"
)
"""The beginnings of the names of methods that change the object."""
COMMON = frozenset(
    name for kind in (dict, list, set, str, bytes, bytearray, deque) for name in dir(kind)
) | {"set", "put", "reset", "register", "delete", "add_done_callback", "add_argument"}
"""Names of methods that many classes have, so that code which has the name may call another object."""
_CALLS = itertools.count()
_METHODS = (MethodDescriptorType,)
_OF_CPP = frozenset({"instancemethod", "cython_function_or_method", "nb_method"})
"""The names of the classes of methods that C++ and Cython make."""
_READ_ELSEWHERE = frozenset({"numpy", "pandas", "pydantic_core", "uvloop"})
_ADDRESS = " at 0x"
"""A part of the texts that ``repr()`` returns for objects whose class does not show their state."""


def asked_of_c_object(thing: object, named: frozenset[str]) -> Iterator[_Ask]:
    """Yields a function that reads the state of an object of a library's class in C, if the application's
    code may change the state. ``named``: the names in this code."""
    kind = type(thing)
    if _is_of_protobuf(kind) or _owns_memory(kind):
        yield _state_of
        return
    setting, properties = _changing_members(kind)
    if named & (setting - COMMON):
        yield _state_of if _is_readable(thing) else _unreadable
    elif named & (setting | properties) and _is_readable(thing):
        yield _state_of


def state_inside(thing: object, named: frozenset[str]) -> Iterator[object]:
    """Yields the state of an object of a library's class in C, or what differs with every call if it
    cannot be read and has a method of one of these names; nothing if the class is written in Python.
    ``named``: the names in the application's code."""
    setting, properties = _changing_members(type(thing))
    if (setting or properties) and _is_readable(thing):
        yield _state_of(thing)
    elif named & (setting - COMMON):
        yield next(_CALLS)


@per_class
def _is_of_protobuf(kind: type) -> bool:
    return hasattr(kind, "SerializePartialToString") and hasattr(kind, "DESCRIPTOR")


@per_class
def _owns_memory(kind: type) -> bool:
    """Returns True iff the objects of a class are memory that ``cffi`` has made. The memory behind other
    objects of ``cffi`` may be gone, so it is never read."""
    return kind.__module__ == "_cffi_backend" and "CDataOwn" in kind.__name__


@per_class
def _changing_members(kind: type) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the names of the methods of a class that change its objects, and those of its properties;
    nothing for a class that is not written in C, or whose objects are read elsewhere."""
    package = str(kind.__module__).partition(".")[0]
    # Some libraries' classes in C name no module, and so seem to belong to ``builtins``.
    is_nameless = package == "builtins" and vars(builtins).get(kind.__name__) is not kind
    is_of_python = package in sys.stdlib_module_names and not is_nameless
    if (
        is_of_python
        or package in _READ_ELSEWHERE
        or package.startswith(FRAMEWORKS)
        or is_own(str(kind.__module__))
    ):
        return frozenset(), frozenset()
    members = [(name, each) for known in kind.__mro__[:-1] for name, each in vars(known).copy().items()]
    if any(isinstance(each, FunctionType) for _, each in members):
        return frozenset(), frozenset()
    methods = (name for name, each in members if _is_method_of_c(each) and OF_SETTERS.match(name))
    properties = (name for name, each in members if isinstance(each, GetSetDescriptorType))
    return frozenset(methods), frozenset(name for name in properties if not name.startswith("__"))


def _is_method_of_c(member: object) -> bool:
    return isinstance(member, _METHODS) or type(member).__name__ in _OF_CPP


def _unreadable(_: object) -> object:
    return object()


def _is_readable(thing: object) -> bool:
    kind = type(thing)
    if any("__getstate__" in vars(each) for each in kind.__mro__[:-1]):
        return True
    shows = any(
        isinstance(vars(each).get("__repr__"), WrapperDescriptorType) for each in kind.__mro__[:-1]
    )
    return shows and _ADDRESS not in repr(thing)


def _state_of(thing: Any) -> object:
    """Returns a hash of the state by which the object would be pickled, or else of the text that shows
    it."""
    kind = cast("Any", type(thing))
    if _is_of_protobuf(kind):
        return hash(thing.SerializePartialToString(deterministic=True))
    if _owns_memory(kind):
        return hash(bytes(sys.modules["_cffi_backend"].buffer(thing)))
    if any("__getstate__" in vars(each) for each in kind.__mro__[:-1]):
        state = thing.__getstate__()
        return hash(state if isinstance(state, (bytes, str)) else repr(state))
    return hash(repr(thing))
