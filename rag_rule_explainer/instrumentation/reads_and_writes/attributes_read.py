"""This module finds the attributes of an object that code may read."""

from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from ...probing.whose import is_users
from ..rewinding.values import held_by
from .noted_reads import ReadPath
from .reached import DATA, Holder
from .read_names import CodeNames

_MAKING = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})
"""The special methods that code calls by the class."""
_OF_WHOLE = frozenset(
    {
        *("__repr__", "__str__", "__format__", "__eq__", "__ne__", "__hash__", "__lt__", "__le__"),
        *("__gt__", "__ge__", "__reduce__", "__reduce_ex__", "__getstate__", "__copy__", "__deepcopy__"),
    }
)
"""The special methods that code calls only where it uses an object otherwise than by an attribute."""
_OF_PYDANTIC = ("__pydantic_extra__", "__pydantic_private__")
"""The names of attributes in which pydantic keeps further attributes."""
_FUNCTIONS = (FunctionType, classmethod, staticmethod)


class Attribute(NamedTuple):
    """An ``Attribute`` is one attribute of an object. ``holder``: identifies it; ``is_read``: True if the
    code may read it; ``is_handed_on``: True if the code does not name it, and hands the object on."""

    name: str
    value: Any
    holder: Holder
    is_read: bool
    is_handed_on: bool = False


def attributes_read(value: Any, path: ReadPath, known: CodeNames) -> Iterator[Attribute]:
    """Yields the attributes of an object, a class or a module that code uses, and the methods of its
    class. ``path``: where the object was found; ``known``: the names in the code."""
    held = attributes_held(value)
    if isinstance(value, ModuleType):
        yield from (
            _named(value, name, each, known) for name, each in held.items() if name in known.named
        )
        return
    is_any, is_handed_on = _is_any_read(value, known), not known.whole.isdisjoint(path)
    for name, each in held.items():
        if is_any or name in known.named:
            found = _named(value, name, each, known)
            yield found._replace(is_read=is_any or is_handed_on or found.is_read)
        elif is_handed_on:
            yield Attribute(name, each, (id(value), name), is_read=True, is_handed_on=True)
    kind: Any = value if isinstance(value, type) else type(value)
    owners: tuple[type, ...] = kind.__mro__
    for owner in owners:
        for name, each in vars(owner).copy().items() if is_users(str(owner.__module__)) else ():
            is_own = name in held and not isinstance(each, property)
            if name in _OF_WHOLE and not (is_any or is_handed_on):
                continue
            if not is_own and _is_wanted(name, each, known, is_any=is_any, is_class=kind is value):
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
    return name in known.named or (is_any and isinstance(value, DATA))


def _is_any_read(value: Any, known: CodeNames) -> bool:
    """Returns True iff code may read any attribute of an object: it takes attributes by computed names,
    or calls a method that a library defines for the object's class."""
    if known.is_computed:
        return True
    kind: Any = value if isinstance(value, type) else type(value)
    owners: tuple[type, ...] = kind.__mro__
    others = (each for each in owners if each is not object and not is_users(str(each.__module__)))
    methods = {name for each in others for name, one in vars(each).copy().items() if callable(one)}
    return any(not name.startswith("__") for name in methods & known.named)
