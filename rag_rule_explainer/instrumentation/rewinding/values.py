"""This module compares values: texts and numbers by equality, and all other objects by identity
(``is_same``) or by their content (``is_equal``)."""

from collections import deque
from contextlib import suppress
from functools import partial
from operator import is_
from types import CellType, FunctionType, MemberDescriptorType, MethodType
from typing import Any, cast
from weakref import ReferenceType

from ..copies.guarded_code import own_code
from ..shared_state.per_class import per_class

_PLAIN = (str, int, float, bool, bytes, complex, type(None))
_PLAIN_KINDS = frozenset({*_PLAIN, tuple})

# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
DICT: Any = dict
LIST: Any = list
SET: Any = set
DEQUE: Any = deque
TUPLES: Any = (tuple, frozenset)
LISTED: Any = (list, tuple)

# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
_REFERENCE: Any = ReferenceType
_FUNCTION: Any = FunctionType
_METHOD: Any = MethodType
_CELL: Any = CellType
_REFERRING: Any = (FunctionType, MethodType, CellType, partial, ReferenceType)

_COLLECTIONS: Any = (dict, list, tuple, set, frozenset)
_OF_PYTHON = 1 << 9
"""The bit of a class's ``__flags__`` that is set for all classes that Python code defines. It is not set
for most classes that are implemented in C."""

ABSENT = object()
"""This object stands for the value of an entry that does not exist."""


def is_plain(value: object) -> bool:
    """Returns True iff the value is a text, a number, bytes, None, or a tuple of these."""
    kind = type(value)
    # Most values have one of these types, so these types are checked first.
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if isinstance(value, tuple):
        return all(map(is_plain, cast("tuple[Any, ...]", value)))
    return isinstance(value, _PLAIN)


def is_all_plain(value: object) -> bool:
    """Returns True iff the value is plain (``is_plain``) and no object in it can have attributes that
    user code sets, as an object of a user's subclass of ``int`` can."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if isinstance(value, tuple):
        return _has_no_attributes(value) and all(map(is_all_plain, cast("tuple[Any, ...]", value)))
    return isinstance(value, _PLAIN) and _has_no_attributes(value)


def _has_no_attributes(value: Any) -> bool:
    return type(value) in _PLAIN_KINDS or getattr(value, "__dict__", None) is None


def is_same(first: object, second: object) -> bool:
    """Returns True iff both values are the same object, or are texts, numbers or tuples of these that
    have the same type and are equal."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        mine, others = cast("tuple[Any, ...]", first), cast("tuple[Any, ...]", second)
        return len(mine) == len(others) and all(map(is_same, mine, others))
    return isinstance(first, _PLAIN) and first == second


def is_equal(first: Any, second: Any, depth: int = 1) -> bool:
    """Returns True iff the values are the same object or equal texts or numbers, or have the same type
    and equal content.

    ``depth``: the number of levels of nested content that are compared by content. Values at deeper
    levels must be the same object, or equal texts or numbers.
    """
    if is_same(first, second):
        return True
    if type(first) is not type(second) or is_plain(first) or depth < 1:
        return False
    if isinstance(first, _REFERRING):
        return is_equal(_referred_by(first), _referred_by(second), depth)
    if isinstance(first, _COLLECTIONS):
        return _is_equal_inside(first, second, depth) and (
            type(first) in _COLLECTIONS or _has_equal_attributes(first, second, depth, is_needed=False)
        )
    return _has_equal_attributes(first, second, depth, is_needed=True)


def _is_equal_inside(first: Any, second: Any, depth: int) -> bool:
    if isinstance(first, DICT):
        return first.keys() == second.keys() and all(
            is_equal(value, second[key], depth - 1) for key, value in first.items()
        )
    if isinstance(first, LISTED):
        # A fast path: most entries are the same objects.
        return len(first) == len(second) and (
            all(map(is_, first, second))
            or all(is_equal(each, others, depth - 1) for each, others in zip(first, second, strict=True))
        )
    return {id(each) for each in first} == {id(each) for each in second} or bool(first == second)


def _has_equal_attributes(first: Any, second: Any, depth: int, *, is_needed: bool) -> bool:
    """Returns True iff the attributes of two objects of the same class are equal. ``is_needed``: True if
    nothing else of the objects can be compared; objects without attributes then count as different."""
    held, others = held_by(first), held_by(second)
    if held is None or others is None:
        return False
    return bool(held or not is_needed) and is_equal(held, others, depth)


def held_by(thing: Any) -> dict[str, Any] | None:
    """Returns the values in the attributes and slots of an object, by name; None if C code may keep
    further values in it."""
    members = _slots_of(type(thing))
    return None if members is None else _attributes_of(thing, members)


def _attributes_of(thing: Any, members: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    held: dict[str, Any] = {**(getattr(thing, "__dict__", None) or {})}
    for name, member in members:
        with suppress(AttributeError):  # the slot is empty
            held[name] = member.__get__(thing)
    return held


@per_class
def _slots_of(kind: type) -> tuple[tuple[str, Any], ...] | None:
    """Returns the slots of a class, each as its name and its descriptor; None if the class is implemented
    in C, because its objects may then hold more than slots and attributes."""
    bases = [each for each in kind.__mro__ if each is not object and each not in _COLLECTIONS]
    if not all(each.__flags__ & _OF_PYTHON for each in bases):
        return None
    return tuple(
        (name, member)
        for each in bases
        for name, member in vars(each).copy().items()
        if isinstance(member, MemberDescriptorType)
    )


def _referred_by(thing: Any) -> tuple[Any, ...]:
    """Returns the objects by which two functions, methods, partials, cells or weak references are
    compared: for a function, its code, its enclosed variables and its default values. Returns an empty
    tuple for a cell without a value."""
    if isinstance(thing, _FUNCTION):
        code = own_code(thing)
        return code, thing.__closure__, thing.__defaults__, thing.__kwdefaults__, _dict_of(thing)
    if isinstance(thing, _METHOD):
        return thing.__self__, thing.__func__
    if isinstance(thing, _CELL):
        try:
            return (thing.cell_contents,)
        except ValueError:  # the enclosed variable has no value yet
            return ()
    if isinstance(thing, _REFERENCE):
        return (thing(),)
    return thing.func, thing.args, thing.keywords, _dict_of(thing)


def _dict_of(thing: Any) -> dict[str, Any]:
    return thing.__dict__
