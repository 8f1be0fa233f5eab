"""This module finds the attributes of an object that code may read."""

import inspect
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, partialmethod
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, cast

from ...probing.whose import is_users
from ..copies.guarded_code import own_code
from ..rewinding.values import held_by
from .noted_reads import ReadPath
from .object_uses import ALL_OF_IT, ANYWHERE, WHOLE, argument_of
from .reached import DATA, Holder
from .read_names import CodeNames, names_in_code

_MAKING = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})
"""The special methods that code calls by the class."""
_OF_WHOLE = frozenset(
    {
        *("__repr__", "__str__", "__format__", "__eq__", "__ne__", "__hash__", "__lt__", "__le__"),
        *("__gt__", "__ge__", "__reduce__", "__reduce_ex__", "__getstate__", "__copy__", "__deepcopy__"),
        "__replace__",
    }
)
"""The special methods that code calls only where it uses an object otherwise than by an attribute."""
_OF_PYDANTIC = ("__pydantic_extra__", "__pydantic_private__")
"""The names of attributes in which pydantic keeps further attributes."""
_FUNCTIONS = (FunctionType, classmethod, staticmethod)


class Attribute(NamedTuple):
    """An ``Attribute`` is one attribute of an object. ``holder``: identifies it; ``is_read``: True if the
    code may read it; ``is_handed_on``: True if the code does not name it, and hands the object on;
    ``is_of_whole``: True if the code may read all of the object, with the objects in it."""

    name: str
    value: Any
    holder: Holder
    is_read: bool
    is_handed_on: bool = False
    is_of_whole: bool = False


def attributes_read(
    value: Any, path: ReadPath, known: CodeNames, *, is_in_whole: bool
) -> Iterator[Attribute]:
    """Yields the attributes of an object, a class or a module that code uses, and the methods of its
    class. ``path``: where the object was found; ``known``: the names in the code; ``is_in_whole``: True
    if the object is in one all of which the code may read."""
    held = attributes_held(value)
    if isinstance(value, ModuleType):
        yield from (
            _named(value, name, each, known) for name, each in held.items() if name in known.named
        )
        return
    of_own = _of_own_methods(value, known)
    is_handed_on = WHOLE in of_own or not known.whole.isdisjoint(path)
    of_own |= _of_functions(path, known)
    is_any = is_in_whole or _is_any_read(value, path, known, of_own)
    for name, each in held.items():
        if is_any or name in known.named:
            found = _named(value, name, each, known)
            yield found._replace(is_read=is_any or is_handed_on or found.is_read, is_of_whole=is_any)
        elif is_handed_on:
            found = _named(value, name, each, known)
            yield found._replace(is_read=True, is_handed_on=True)
    is_class = isinstance(value, type)
    for owner in _owners(value):
        for name, each in vars(owner).copy().items() if is_users(str(owner.__module__)) else ():
            is_own = name in held and not isinstance(each, property)
            if name in _OF_WHOLE and not (is_any or is_handed_on):
                continue
            is_wanted = _is_wanted(name, each, known, is_any=is_any, is_class=is_class)
            if not is_own and (is_wanted or (is_any and name in _when_printed(owner))):
                found = _named(owner, name, each, known)
                yield found._replace(is_read=is_any or found.is_read)


def attributes_held(value: Any) -> Mapping[str, Any]:
    """Returns the attributes of an object, or the variables of a module; none for a class."""
    if isinstance(value, (type, ModuleType)):
        return vars(value).copy() if isinstance(value, ModuleType) else {}
    held = held_by(value) or {**getattr(value, "__dict__", {})}
    for each in _OF_PYDANTIC:
        held.update(held.pop(each, None) or {})
    return held


def _named(owner: object, name: str, value: object, known: CodeNames) -> Attribute:
    return Attribute(name, value, (id(owner), name), name in known.read)


def _is_wanted(name: str, value: object, known: CodeNames, *, is_any: bool, is_class: bool) -> bool:
    """Returns True iff code may use what a class has under a name. ``is_class``: True if it has the class
    itself, and may make an object of it."""
    if name.startswith("__"):
        return isinstance(value, _FUNCTIONS) and (is_class or name not in _MAKING)
    is_computed = known.is_computed and isinstance(value, _FUNCTIONS)
    return name in known.named or is_computed or (is_any and isinstance(value, (*DATA, property)))


def _is_any_read(value: Any, path: ReadPath, known: CodeNames, of_own: Collection[str]) -> bool:
    """Returns True iff code may read any attribute of an object: it takes attributes by computed names,
    prints it, or calls a method that a library defines for its class. ``of_own``: the attributes that the
    object's own methods load of it."""
    if known.is_computed:
        return True
    loaded = {name for owner, name in known.of_named if owner in path[-1:]} | {*of_own}
    others = (
        each for each in _owners(value) if each is not object and not is_users(str(each.__module__))
    )
    methods = {name for each in others for name, one in vars(each).copy().items() if callable(one)}
    return ALL_OF_IT in loaded or any(not name.startswith("__") for name in methods & loaded)


def _when_printed(owner: type) -> Collection[str]:
    """Returns the names of the methods by which pydantic prints an object."""
    known: Any = vars(owner).get("__pydantic_decorators__")
    return () if known is None else {**known.field_serializers, **known.model_serializers}


def _of_functions(path: ReadPath, known: CodeNames) -> set[str]:
    """Returns how functions use an object that they got from other code, which names it."""
    getting = {function for name, function in known.handed if name in path}
    while True:
        given = {argument_of(each) for each in getting}
        further = {function for name, function in known.handed if name in given} - getting
        if not further:
            return {use for by, use in known.of_unnamed if by in getting or ANYWHERE in getting}
        getting |= further


def _of_own_methods(value: Any, known: CodeNames) -> set[str]:
    """Returns the attributes that an object's methods that code may call load of it, with ``WHOLE`` if
    they use it as a whole."""
    found = set[str]()
    for owner in _owners(value):
        for name, each in vars(owner).copy().items() if is_users(str(owner.__module__)) else ():
            is_called = name in known.named or (name.startswith("__") and name not in _OF_WHOLE)
            function = _function_of(each) if is_called and name not in _MAKING else None
            if function is not None:
                found |= names_in_code(own_code(function)).of_first
    return found


def _function_of(held: Any) -> FunctionType | None:
    """Returns the function that gets an object as its first argument, of what the object's class has;
    None for a value that is no method."""
    found: Any = held.fget if isinstance(held, property) else getattr(held, "__func__", held)
    if isinstance(found, (cached_property, partialmethod)):
        found = found.func
    return inspect.unwrap(found) if isinstance(found, FunctionType) else None


def _owners(value: Any) -> tuple[type, ...]:
    kind = cast("type[Any]", type(value))
    of_value: tuple[type, ...] = value.__mro__ if isinstance(value, type) else ()
    return *of_value, *kind.__mro__
