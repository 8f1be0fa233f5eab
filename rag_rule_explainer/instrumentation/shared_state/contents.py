"""This module lists the objects to which a function or an object refers, each with the name by which it
refers to them."""

from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, cast

from ..copies.guarded_code import own_code
from ..copies.live import entries_now
from .per_class import per_class
from .reaching import FRAMEWORKS, SIMPLE, is_users

MOST_INSIDE = 200
"""The largest number of entries of a collection that are visited. Further entries are ignored."""
COLLECTIONS = (list, tuple, set, frozenset, deque)
_DICT_OR_COLLECTION = (dict, *COLLECTIONS)
NAMESPACES = (SimpleNamespace, ChainMap, UserDict, UserList)
"""Classes of the standard library whose objects are treated like objects of the user's classes, because
users store their own values in them."""
_EXECUTED = "<string>"
"""The file name that Python gives to code which ``exec`` and ``eval`` compile from a text."""
_WRAPPERS = frozenset({"FunctionWrapper", "BoundFunctionWrapper"})
"""The names of wrapt's classes, with which LlamaIndex wraps the user's methods."""


def entries_of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yields the enclosed variables of a function, as pairs of name and value. For a function of the
    user's, also yields the function's code, attributes and default values, and the globals that it
    names."""
    for name, cell in zip(own_code(function).co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the enclosed variable has no value yet
            continue
    if not is_of_user(function):
        return
    yield function.__name__, own_code(function)
    # A framework's decorator may set its own attributes on the function. These attributes are left out,
    # because they are not the user's state.
    yield from (
        (name, value) for name, value in vars(function).copy().items() if not is_frameworks(value)
    )
    defaults = function.__defaults__ or ()
    known = parameters_of(function)
    named = [*zip(known[len(known) - len(defaults) :], defaults, strict=False)]
    for name, value in (*named, *(function.__kwdefaults__ or {}).copy().items()):
        # A call can change a default value only if this value is a collection. Names matter only for
        # values that may change, so all other default values get an empty name.
        yield (name if is_collection(value) else ""), value
    names = set(names_in(own_code(function)))
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            if is_users(value.__name__):
                held = vars(value).copy()
                yield from ((each, held[each]) for each in sorted(names & held.keys()))
        elif name in function.__globals__:
            yield name, value


def parameters_of(function: Any) -> tuple[str, ...]:
    """Returns the names of a function's positional parameters. If they are unknown, as for a function
    that is implemented in C, returns ``MOST_INSIDE`` empty names, which are enough for any call."""
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if isinstance(code, CodeType) else ("",) * MOST_INSIDE


def names_in(code: CodeType) -> Iterator[str]:
    """Yields the names of all globals and attributes that the code uses, also in its inner functions."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)


def entries_of_object(thing: object) -> Iterator[tuple[str, Any]]:
    """Yields the names and values of an object's attributes. If its class is the user's, the attributes
    and methods of the class are included."""
    kind = thing if isinstance(thing, type) else type(thing)
    if not isinstance(thing, type):
        yield from entries_now(attributes_of(thing)).items()
        private: Any = getattr(thing, "__pydantic_private__", None)
        if isinstance(private, dict):
            yield from entries_now(cast("dict[str, Any]", private)).items()
    for each in _users_classes(kind):
        for name, value in vars(each).copy().items():
            if name == "__slots__" and not isinstance(thing, type):
                slots = (value,) if isinstance(value, str) else tuple(value)
                yield from ((slot, getattr(thing, slot)) for slot in slots if hasattr(thing, slot))
            elif not name.startswith("__") or name in {"__call__", "__init__"}:
                yield name, function_in(value)


def attributes_of(thing: object) -> Mapping[str, Any]:
    """Returns the attributes in an object's ``__dict__``; empty if it has none."""
    held: Any = getattr(thing, "__dict__", None)
    if type(held) is dict:
        return cast("dict[str, Any]", held)
    return cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else {}


def function_in(value: Any) -> Any:
    """Returns the function behind an entry of a class: behind a property, a static or class method, or a
    wrapper of LlamaIndex. Returns any other value as it is."""
    while type(value).__name__ in _WRAPPERS and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    if isinstance(value, (staticmethod, classmethod)):
        return cast("Any", value).__func__
    return cast("Any", value.fget) if isinstance(value, property) else value


def is_frameworks(thing: object) -> bool:
    """Returns True iff an object's class belongs to a framework."""
    return str(type(thing).__module__).startswith(FRAMEWORKS)


def is_collection(thing: object) -> bool:
    """Returns True iff the object is a dict, list, tuple, set, frozenset or deque."""
    return isinstance(thing, _DICT_OR_COLLECTION)


def is_of_user(thing: object) -> bool:
    """Returns True iff a function, a class or an object's class is the user's own."""
    if type(thing) in SIMPLE:
        return False
    if isinstance(thing, FunctionType):
        # A wrapper has the ``__module__`` of the function that it wraps, so the wrapper's own module is
        # read from its globals.
        module = thing.__globals__.get("__name__")
        # Code that ``exec`` runs with a namespace of its own has no module.
        return own_code(thing).co_filename == _EXECUTED if module is None else is_users(str(module))
    if isinstance(thing, type):
        return is_users(thing.__module__ or "")
    # ``isinstance(thing, NAMESPACES)`` returns the same, but takes several times as long.
    return _is_of_namespaces(thing.__class__) or is_users(str(type(thing).__module__))


@per_class
def _users_classes(kind: type) -> tuple[type, ...]:
    return tuple(each for each in kind.__mro__ if is_users(each.__module__))


@per_class
def _is_of_namespaces(kind: type) -> bool:
    return issubclass(kind, NAMESPACES)
