"""This module describes an object of a user's class, so that a later run can recognise an equal object.

The description consists of the code of the methods, and of the attributes that the constructor sets.
Attributes that other methods change, such as a counter, are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dis import get_instructions
from functools import cached_property
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

SETTING = frozenset({"__init__", "__post_init__", "__new__"})
"""Names of methods that construct an object. Attributes that only these methods set belong to its
description."""
_SAYS_NOTHING = frozenset({"__repr__", "__annotate__", "__annotate_func__"})
"""Methods that are left out of a description, because they do not change what an object does."""
_CHANGING = frozenset(
    {
        *("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem"),
        *("remove", "discard", "clear", "sort", "reverse", "move_to_end", "appendleft"),
    }
)
"""Methods that change a list, a set or a dict."""
_CHANGES_AN_ITEM = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR"})
_LOADS_AN_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_ENDS_A_STATEMENT = ("STORE_", "DELETE_", "POP_", "RETURN_")


def module_of(value: object) -> str:
    """Returns the name of the module in which a function or a class is defined. For any other object,
    this is the module of its class, and for a method, the module of its object."""
    held: Any = value.__self__ if isinstance(value, MethodType) else value
    module: object = getattr(
        held if isinstance(held, (type, FunctionType)) else type(held), "__module__", None
    )
    return module if isinstance(module, str) else ""


def members_of(kind: type) -> dict[str, Any]:
    """Returns the functions and the values of a class by name, also those that it inherits from classes
    of the same package."""
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if _package_of(each) != _package_of(kind):
            continue
        for name, held in vars(each).copy().items():
            function = _function_in(held)
            is_special = name.startswith("__") and name.endswith("__")
            if function is not None and name not in _SAYS_NOTHING:
                found[name] = function
            elif function is None and not is_special:
                found[name] = held
    return found


def made_of(value: object, entry: str | None, changed: Iterable[str] = ()) -> list[Any]:
    """Returns the description of an object: a dict of the members of its class, and a dict of the
    attributes with which it was constructed.

    ``entry``: the method that is called on the object; None if any method may be called. ``changed``:
    further attributes to leave out, because functions that use the object set them.
    """
    members = members_of(type(value))
    held = {name: each for name, each in _attributes(value) if not _is_computed(value, name)}
    codes = list(_codes_of_use(members, entry))
    stored = {*changed, *(name for code in codes for name in stored_by(code))}
    touched = {name for code in codes for name in _changed_by(code)}

    def is_setting(name: str, each: object) -> bool:
        if isinstance(each, property) or name in stored:
            return False
        return name not in touched or not isinstance(each, (list, set, dict))

    return [
        {name: each for name, each in both.items() if is_setting(name, each)} for both in (members, held)
    ]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yields the code of a function, and that of the functions inside of it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_in(each)


def stored_by(code: CodeType) -> Iterator[str]:
    """Yields the names of the attributes that the code of a function sets, on any object."""
    return (str(each.argval) for each in get_instructions(code) if each.opname == "STORE_ATTR")


def _package_of(kind: type) -> str:
    return module_of(kind).partition(".")[0]


def _function_in(held: object) -> FunctionType | None:
    if isinstance(held, (staticmethod, classmethod)):
        held = cast("Any", held).__func__
    elif isinstance(held, property):
        held = held.fget
    elif isinstance(held, cached_property):
        held = cast("object", held.func)
    return held if isinstance(held, FunctionType) else None


def _is_computed(value: object, name: str) -> bool:
    return any(isinstance(vars(kind).get(name), cached_property) for kind in type(value).__mro__)


def _attributes(value: object) -> Iterator[tuple[str, Any]]:
    held: Mapping[str, Any] = getattr(value, "__dict__", {})
    yield from dict(held).items()
    for kind in type(value).__mro__:
        slots: Any = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            own = f"_{kind.__name__.lstrip('_')}{name}" if re.fullmatch(r"__\w*[^_]_?", name) else name
            if name not in {"__dict__", "__weakref__"} and hasattr(value, own):
                yield name, getattr(value, own)


def _codes_of_use(members: Mapping[str, Any], entry: str | None) -> Iterator[CodeType]:
    """Yields the code that may run after an object was constructed: the code of the method ``entry``,
    and of the methods that this code calls. If ``entry`` is None, yields the code of all methods that
    the constructor does not use."""
    functions = {
        name: each
        for name, each in members.items()
        if isinstance(each, FunctionType) and name not in SETTING
    }
    making = {
        used
        for name in SETTING
        if isinstance(made := members.get(name), FunctionType)
        for code in codes_in(made.__code__)
        for used in code.co_names
    }
    waiting = [entry] if entry in functions else [name for name in functions if name not in making]
    done = set[str]()
    while waiting:
        name = waiting.pop()
        if name in done or name not in functions:
            continue
        done.add(name)
        for code in codes_in(functions[name].__code__):
            yield code
            waiting += code.co_names


def _changed_by(code: CodeType) -> Iterator[str]:
    """Yields the names of the attributes whose lists, sets or dicts the code of a function changes, as in
    ``self.seen.append(1)``. A change through another variable is not noticed."""
    loaded = list[str]()
    for each in get_instructions(code):
        if each.opname in _LOADS_AN_ATTRIBUTE:
            if each.argval in _CHANGING:
                yield from loaded[-1:]
            loaded.append(str(each.argval))
        elif each.opname in _CHANGES_AN_ITEM:
            yield from loaded
        if each.opname.startswith(_ENDS_A_STATEMENT):
            loaded.clear()
