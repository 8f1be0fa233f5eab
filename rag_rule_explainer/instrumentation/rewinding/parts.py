"""This module reads and writes the content of each kind of object: attributes, entries, slots.

A *part* is one kind of content of an object, such as all its attributes. Reading a part calls no method
of the object. Writing a part changes the object itself, so that all references to the object see the
change. A part does not include the content of the objects to which it refers; they have their own parts.
"""

import io
import random
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, cast

from ..copies.guarded_code import own_code
from ..copies.live import entries_now, members_now
from ..shared_state.per_class import per_class
from ..shared_state.reaching import SIMPLE
from .buffers import (
    is_buffer,
    is_of_numpy,
    read_buffer,
    read_stream,
    write_array,
    write_buffer,
    write_numpy,
    write_stream,
)
from .described import (
    read_kind_of_module,
    read_partial,
    read_property,
    write_kind_of_module,
    write_partial,
    write_property,
)
from .randomness import is_a_generator_of_numpy, read_generator, write_generator
from .unchanged import has_same_attributes, is_of_same_class, is_same_dict, is_same_list
from .values import ABSENT, DEQUE, DICT, LIST, SET, is_same

_CODE = "__code__"
_ANNOTATIONS = "__annotations__"
NAMES_OF_A_CLASS = ("__name__", "__qualname__")
OF_A_FUNCTION = ("__defaults__", "__kwdefaults__", _CODE, "__doc__", *NAMES_OF_A_CLASS, "__module__")
"""The special names that a run may set on a function."""


@dataclass(frozen=True, slots=True)
class Part:
    """A ``Part`` can read and write one kind of an object's content, such as its attributes.

    ``is_named``: True if the content is a dict whose keys are names, such as the names of attributes.
    ``known``: values before the baseline, by name; as long as a name has this value, ``read`` leaves the
    name out. ``is_unchanged``: returns True only if an object certainly still has a content.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any, Any], None]
    is_named: bool = False
    known: dict[str, Any] = field(default_factory=dict[str, Any])
    is_unchanged: Callable[[Any, Any], bool] | None = None


def parts_of(thing: object) -> Iterable[Part]:
    """Returns the parts of an object, such as its attributes or its entries, that can be restored; none
    for a class or a module."""
    known = _OF_SIMPLE.get(type(thing))
    return _parts_of(thing) if known is None else known


def _parts_of(thing: object) -> Iterator[Part]:
    of_type = _of_type(type(thing))
    if of_type is not None:
        yield of_type
    elif is_of_numpy(thing):
        yield _OF_NUMPY
    elif is_a_generator_of_numpy(thing):
        yield _OF_A_GENERATOR
    elif is_buffer(thing):
        yield _BUFFER
    is_function = isinstance(thing, FunctionType)
    if is_function:
        yield _DEFAULTS
    if isinstance(_dict_of(thing), dict):
        yield from (ATTRIBUTES,) if is_function else (ATTRIBUTES, _KIND)
    if _has_slots(type(thing)):
        yield _SLOTS


def of_names(names: frozenset[str]) -> Part:
    """Returns a ``Part`` that reads and writes the globals of a module with these names."""

    def read(module: ModuleType) -> dict[str, Any]:
        held = vars(module)
        return {name: held.get(name, ABSENT) for name in names}

    def write(module: ModuleType, content: dict[str, Any]) -> None:
        held = vars(module)
        for name, value in content.items():
            if value is ABSENT:
                held.pop(name, None)
            else:
                held[name] = value

    return Part(read, write, is_named=True)


def _dict_of(thing: object) -> Any:
    try:
        return object.__getattribute__(thing, "__dict__")
    except Exception:  # the object has no dict, or is a proxy
        return None


def _write_attributes(thing: Any, content: dict[str, Any]) -> None:
    held = _dict_of(thing)
    for name in held.keys() - content.keys():
        del held[name]
    for name, value in content.items():
        if held.get(name, ABSENT) is not value:
            held[name] = value


def _attributes(thing: Any) -> dict[str, Any]:
    return _dict_of(thing).copy()


ATTRIBUTES = Part(_attributes, _write_attributes, is_named=True, is_unchanged=has_same_attributes)


def _write_kind(thing: Any, content: dict[str, Any]) -> None:
    if type(thing) is not content[_KIND_NAME]:
        object.__setattr__(thing, _KIND_NAME, content[_KIND_NAME])


_KIND_NAME = "__class__"


def _read_kind(thing: Any) -> dict[str, Any]:
    return {_KIND_NAME: cast("Any", type(thing))}


_KIND = Part(_read_kind, _write_kind, is_named=True, is_unchanged=is_of_same_class)


@per_class
def _has_slots(kind: type) -> bool:
    return any("__slots__" in vars(each) for each in kind.__mro__)


@per_class
def _slots_of(kind: type) -> tuple[tuple[str, Any], ...]:
    """Returns the slots of a class and of its base classes by name."""
    return tuple(
        (name, member)
        for each in kind.__mro__
        if "__slots__" in vars(each)
        for name, member in vars(each).copy().items()
        if isinstance(member, MemberDescriptorType)
    )


def read_slots(thing: object) -> dict[str, Any]:
    """Returns the content of an object's slots by name; ``ABSENT`` for an empty slot."""
    content = dict[str, Any]()
    for name, member in _slots_of(type(thing)):
        try:
            content[name] = member.__get__(thing)
        except AttributeError:
            content[name] = ABSENT
    return content


def _write_slots(thing: object, content: dict[str, Any]) -> None:
    now = read_slots(thing)
    for name, member in _slots_of(type(thing)):
        value = content.get(name, ABSENT)
        if value is now[name]:
            continue
        if value is ABSENT:
            member.__delete__(thing)
        else:
            member.__set__(thing, value)


_SLOTS = Part(read_slots, _write_slots, is_named=True)


KIND_OF_MODULE = Part(read_kind_of_module, write_kind_of_module, is_named=True)
_ORDERED: Any = OrderedDict


def _write_dict(thing: Any, content: dict[Any, Any]) -> None:
    # Other threads may use the dict at the same time, so entries that stay in the dict are not removed
    # first. An OrderedDict stores the order of its entries itself; the methods of ``dict`` would ignore
    # this order.
    kind = _ORDERED if isinstance(thing, _ORDERED) else DICT
    for key in [key for key in entries_now(thing) if key not in content]:
        kind.pop(thing, key, None)
    for key, value in content.items():
        if DICT.get(thing, key, ABSENT) is not value:
            kind.__setitem__(thing, key, value)
    if list(entries_now(thing)) != list(content):
        kind.clear(thing)
        for key, value in content.items():
            kind.__setitem__(thing, key, value)


def _write_set(thing: Any, content: set[Any]) -> None:
    SET.difference_update(thing, [each for each in members_now(thing) if each not in content])
    SET.update(thing, content)


def _write_deque(thing: Any, content: list[Any]) -> None:
    DEQUE.clear(thing)
    DEQUE.extend(thing, content)


def _read_cell(cell: CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # the enclosed variable has no value yet
        return ()


def _write_cell(cell: CellType, content: tuple[Any, ...]) -> None:
    if content:
        cell.cell_contents = content[0]
    else:
        del cell.cell_contents


def _write_list(thing: Any, content: list[Any]) -> None:
    LIST.__setitem__(thing, slice(None), content)


def _write_bytes(thing: Any, content: bytes) -> None:
    bytearray.__setitem__(thing, slice(None), content)


_BY_TYPE: tuple[tuple[Any, Part], ...] = (
    (dict, Part(entries_now, _write_dict, is_named=True, is_unchanged=is_same_dict)),
    (
        list,
        Part(lambda thing: LIST.__getitem__(thing, slice(None)), _write_list, is_unchanged=is_same_list),
    ),
    (set, Part(SET.copy, _write_set)),
    (deque, Part(members_now, _write_deque)),
    (CellType, Part(_read_cell, _write_cell)),
    (bytearray, Part(bytes, _write_bytes)),
    ((io.StringIO, io.BytesIO), Part(read_stream, write_stream)),
    (array, Part(lambda thing: thing.tobytes(), write_array)),
    (random.Random, Part(lambda thing: thing.getstate(), lambda thing, content: thing.setstate(content))),
    (property, Part(read_property, write_property, is_named=True)),
    (partial, Part(read_partial, write_partial, is_named=True)),
)


@per_class
def _of_type(kind: type) -> Part | None:
    return next((part for kinds, part in _BY_TYPE if issubclass(kind, kinds)), None)


_OF_SIMPLE: dict[type, tuple[Part, ...]] = {
    kind: tuple(filter(None, (_of_type(kind),))) for kind in SIMPLE
}

_OF_NUMPY = Part(lambda thing: thing.tobytes(), write_numpy)
_OF_A_GENERATOR = Part(read_generator, write_generator)
_BUFFER = Part(read_buffer, write_buffer)


def _read_defaults(function: FunctionType) -> dict[str, Any]:
    known = {name: getattr(function, name) for name in OF_A_FUNCTION}
    return {**known, _CODE: own_code(function), _ANNOTATIONS: _annotations_of(function)}


def _annotations_of(function: FunctionType) -> tuple[tuple[str, Any], ...]:
    try:
        return tuple(function.__annotations__.items())
    except Exception:  # later Pythons compute annotations when they are first read, which may fail
        return ()


def _write_defaults(function: Any, content: dict[str, Any]) -> None:
    for name, value in content.items():
        if name == _ANNOTATIONS:
            if not is_same(value, _annotations_of(function)):
                function.__annotations__.clear()
                function.__annotations__.update(value)
            continue
        now = own_code(function) if name == _CODE else getattr(function, name)
        if now is not value:
            setattr(function, name, value)


_DEFAULTS = Part(_read_defaults, _write_defaults, is_named=True)
