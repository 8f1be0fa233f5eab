"""This module finds out whether two tools do the same. It compares the *parts* of the tools: their code,
and the values that the code uses."""

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple, cast

from ..probing.whose import is_named_as_ours
from .call_keys import SAID
from .copies.guarded_code import own_code
from .requests.volatile import Steady
from .rewinding.values import held_by
from .shared_state.per_class import per_class

_PLAIN: tuple[type, ...] = (str, bytes, int, float, bool, type(None), CodeType)
_LISTED: tuple[type, ...] = (list, tuple, deque)
_CONTAINERS: tuple[type, ...] = (dict, set, frozenset, *_LISTED)
_OF_C = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
_LOCKS: tuple[type, ...] = (type(threading.Lock()), type(threading.RLock()))
_DEEPEST = 5
"""The largest number of nested levels at which a tool is divided into parts. For example, a tool holds a
function, and this function may use another function. Values at deeper levels are compared by their
content."""
_STEADY = Steady()
_MOST = 2_000
"""The maximum number of values in one object whose content is compared. An object with more values is
equal only to itself."""


class _Unknown(Exception):
    """This error says that the content of a value cannot be read, or is too large."""


class ToolParts(NamedTuple):
    """A ``ToolParts`` holds the parts of a tool: its code, and the values that this code uses.
    ``stable``: the parts that can be compared at once: code, texts, numbers, and names of classes.
    ``objects``: all other objects in the tool. ``contents``: the content of each of these objects at the
    time when this record was made; None for an object whose content is unknown."""

    stable: tuple[Any, ...]
    objects: tuple[Any, ...]
    contents: tuple[Any, ...]

    @classmethod
    def of(cls, tool: object) -> "ToolParts":
        """Returns the parts of ``tool``, which is a tool or the function of one."""
        objects = list[Any]()
        stable = _stable(tool, objects, 0)
        return cls((stable,), tuple(objects), tuple(map(_content_of, objects)))

    def does_the_same_as(self, other: "ToolParts") -> bool:
        """Returns True iff both tools have the same code, and both use either the same objects or objects
        with equal content."""
        if self.stable != other.stable or len(self.objects) != len(other.objects):
            return False
        sides = zip(self.objects, other.objects, self.contents, other.contents, strict=True)
        return all(
            mine is others or (content is not None and content == contents)
            for mine, others, content, contents in sides
        )

    def differ_from(self, other: "ToolParts") -> bool:
        """Returns True iff it is certain that the tools differ: in code, texts or numbers, or in the
        known content of an object. Ids and times are ignored, because they differ in every run."""
        if len(self.objects) != len(other.objects) or _steady(self.stable) != _steady(other.stable):
            return True
        sides = zip(self.objects, other.objects, self.contents, other.contents, strict=True)
        return any(
            mine is not others
            and content is not None
            and contents is not None
            and _steady(content) != _steady(contents)
            for mine, others, content, contents in sides
        )


def _steady(parts: Any) -> Any:
    """Returns the parts of a tool with placeholders in place of ids and times, which differ in every
    run."""
    if isinstance(parts, tuple):
        return tuple(map(_steady, cast("tuple[Any, ...]", parts)))
    if isinstance(parts, frozenset):
        return frozenset(map(_steady, cast("frozenset[Any]", parts)))
    return _STEADY(str(parts)) if isinstance(parts, (str, int, float)) else parts


def _stable(value: Any, objects: list[Any], depth: int) -> Any:
    """Returns the part of a value that can be compared at once: code, texts, numbers and names of
    classes. If this is only the name of the value's class, the value is also added to ``objects``, to be
    compared separately. ``depth``: the number of levels between the tool and the value; 0 for the tool
    itself."""
    value = _unrecorded(value)
    kind = cast("type[Any]", type(value))
    if isinstance(value, _PLAIN):
        return kind, value
    named = cast("type[Any]", value) if isinstance(value, type) else kind
    if _is_made_by_a_function(named):
        objects.append(named)
    if isinstance(value, type):
        return named.__module__, named.__qualname__
    parts = _parts_of(value, depth) if depth < _DEEPEST else None
    if parts is None:
        objects.append(value)
        return kind.__module__, kind.__qualname__
    head, inside = parts
    return head, tuple(_stable(each, objects, depth + 1) for each in inside)


def _unrecorded(value: Any) -> Any:
    """Returns the user's function, if ``value`` is a function of this package that records the calls of
    the user's function. Returns any other value unchanged."""
    while (
        isinstance(value, FunctionType)
        and hasattr(value, "__wrapped__")
        and is_named_as_ours(str(value.__globals__.get("__name__")))
    ):
        value = cast("Any", value).__wrapped__
    return value


def _is_made_by_a_function(kind: type) -> bool:
    """Returns True iff the class was defined inside a function. Two such classes with the same name may
    differ, because each call of the function may use other values."""
    return "<locals>" in kind.__qualname__


def _parts_of(value: Any, depth: int) -> tuple[Any, Sequence[Any]] | None:
    """Divides a value into a pair. The first is the part that can be compared at once, such as code and
    names of attributes. The second is the list of the values inside it. Returns None if the value is not
    divided, because its content is compared instead. ``depth``: the number of levels between the tool and
    the value."""
    if isinstance(value, FunctionType):
        return _parts_of_function(value)
    if isinstance(value, MethodType):
        return "method", (value.__func__, value.__self__)
    if isinstance(value, partial):
        call = cast("partial[Any]", value)
        return ("partial", *call.keywords), (call.func, *call.args, *call.keywords.values())
    if isinstance(value, tuple):
        return "tuple", cast("tuple[Any, ...]", value)
    private: Mapping[str, Any] = getattr(value, "__pydantic_private__", None) or {}
    attributes = {**getattr(value, "__dict__", {}), **private}
    if depth > 1 or not attributes:
        return None
    kind = cast("type[Any]", type(value))
    return (kind.__module__, kind.__qualname__, *attributes), tuple(attributes.values())


def _parts_of_function(value: FunctionType) -> tuple[Any, Sequence[Any]]:
    cells = [each.cell_contents for each in value.__closure__ or () if _is_filled(each)]
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    # Functions of two modules may have the same code, so the globals of the module are compared too.
    inside = (value.__globals__, *defaults, *cells, *vars(value).copy().values())
    return (value.__module__, own_code(value)), inside


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not _is_filled
    except ValueError:  # the variable has no value yet
        return False


def _content_of(value: Any) -> Any:
    """Returns the content of a value as nested tuples. Values with equal tuples behave equally. Returns
    None if the content is unknown."""
    try:
        return _content(value, {})
    except Exception:  # the user's code may raise any error, for example in a property
        return None


def _content(value: Any, seen: dict[int, tuple[int, Any]]) -> Any:
    value = _unrecorded(value)
    kind = cast("type[Any]", type(value))
    if isinstance(value, _PLAIN):
        return kind, value
    if kind in SAID:
        return kind, repr(value)
    if id(value) in seen:
        return "again", seen[id(value)][0]
    if len(seen) >= _MOST or _is_too_long(value) or _is_a_module(value):
        raise _Unknown
    seen[id(value)] = len(seen), value
    if isinstance(value, (ModuleType, BuiltinFunctionType)):
        return kind, id(value)
    if isinstance(value, _LOCKS):
        return (kind,)
    return kind.__module__, kind.__qualname__, tuple(_inside(value, seen))


def _is_too_long(value: Any) -> bool:
    sized: Any = value
    return isinstance(value, (Mapping, Set, *_LISTED)) and len(sized) > _MOST


def _is_a_module(value: Any) -> bool:
    """Returns True iff the value is the dict of a module's globals, whose content is not compared."""
    return isinstance(value, dict) and "__builtins__" in value


def _inside(value: Any, seen: dict[int, tuple[int, Any]]) -> Iterator[Any]:
    kind = cast("type[Any]", type(value))
    if isinstance(value, type):
        yield from _in_class(cast("type[Any]", value), seen)
        return
    parts = _parts_of(value, _DEEPEST)
    if parts is not None:
        head, inside = parts
        yield head
        if isinstance(value, FunctionType):
            yield id(value.__globals__)
            inside = inside[1:]
        yield from (_content(each, seen) for each in inside)
        return
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value).items()
        yield from ((_content(key, seen), _content(each, seen)) for key, each in entries)
    elif isinstance(value, _LISTED):
        yield from (_content(each, seen) for each in cast("Sequence[Any]", value))
    elif isinstance(value, Set):
        yield frozenset(_content(each, seen) for each in cast("Set[Any]", value))
    if kind in _CONTAINERS:
        return
    yield from _in_attributes(value, seen)


def _in_class(kind: type[Any], seen: dict[int, tuple[int, Any]]) -> Iterator[Any]:
    yield kind.__module__, kind.__qualname__
    if not _is_made_by_a_function(kind):
        return
    yield from (_content(each, seen) for each in kind.__bases__)
    for name, each in vars(kind).copy().items():
        if isinstance(each, (FunctionType, *_PLAIN)):
            yield name, _content(each, seen)
        elif name not in ("__dict__", "__weakref__"):
            raise _Unknown


def _in_attributes(value: Any, seen: dict[int, tuple[int, Any]]) -> Iterator[Any]:
    """Yields the class and the attributes of an object. Raises _Unknown if the object may have other
    content too, for example in C. Also raises _Unknown if the object has no attributes, because code may
    then use only its identity."""
    kind = cast("type[Any]", type(value))
    held = None if any(map(_is_made_in_c, kind.__mro__)) else held_by(value)
    if held is None or not (held or _is_made_by_a_function(kind)):
        raise _Unknown
    yield _content(kind, seen)
    yield from ((name, _content(each, seen)) for name, each in held.items())


@per_class
def _is_made_in_c(kind: type[Any]) -> bool:
    """Returns True iff the class is implemented in C, so that its objects may have content that is no
    attribute. Returns False for ``object`` and for collections such as dict."""
    return kind not in (object, *_CONTAINERS) and any(
        isinstance(each, _OF_C) for each in vars(kind).copy().values()
    )
