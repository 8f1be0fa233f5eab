"""This module describes one object that was found in an application, with its content at one moment."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any, TypeAlias, cast

from .contents import COLLECTIONS, NAMESPACES, attributes_of, is_frameworks
from .per_class import per_class
from .positions import position_of, state_text_of
from .reaching import FRAMEWORKS, SIMPLE, is_opaque, is_users

_LOOKED_INTO = (FunctionType, CodeType, MethodType, partial, dict, *COLLECTIONS, *NAMESPACES)
_SIMPLE = SIMPLE | {FunctionType, MethodType}
_STATELESS = (type(None), type, ModuleType, BuiltinFunctionType, bytes)
"""Objects of these classes have no state that runs change. An exception are the user's own classes, whose
attributes are searched."""
_UNREAD, _PLAIN, _FOLLOWED, _POSITION, _VARIABLE, _OUTSIDE = range(6)
"""The kinds of values. ``_UNREAD`` values are ignored. ``_PLAIN`` are texts and numbers. ``_FOLLOWED``
are objects whose content is searched. ``_POSITION`` are iterators, ``_VARIABLE`` are context variables.
``_OUTSIDE`` are objects whose content is not searched, such as a client."""
_PLAIN_TYPES = frozenset({str, int, float, bool})
_FOLLOWING, _TOLD, _OUTER = {_FOLLOWED, _VARIABLE}, {_PLAIN, _POSITION}, {_OUTSIDE, _VARIABLE}
_MAY_CHANGE = {_UNREAD, _POSITION, _VARIABLE, _OUTSIDE}
"""The kinds of values whose state may differ at another moment although the object is the same. Their
state is read again in each comparison."""
_ANYTHING = object()
"""This object replaces a value that must not be kept alive. A later value is then compared with the
stored description of the replaced value."""

Plain = str | int | float
NamedValues: TypeAlias = list[tuple[str, Any]]


_NOTHING: Mapping[str, Any] = MappingProxyType({})
"""Thousands of objects have no content of some kind. They share this mapping and the empty tuple, because
each object that is kept alive makes the garbage collector of Python slower."""


def _nothing() -> Mapping[str, Any]:
    return _NOTHING


@dataclass(slots=True)
class Held:
    """A ``Held`` is one object that was found in an application, with its content."""

    thing: object
    name: str
    """The name by which another object, the holder, refers to this one."""
    holder: int | None
    """The index in ``Holdings.all`` of the object that refers to this one; None for the application."""
    is_users: bool
    """True if the object, or its class, is the user's."""
    size: int = 0
    """The number of entries of a collection, else 0."""
    is_of_model: bool = False
    """True if the object belongs to a model."""
    plain: Sequence[tuple[str, Plain]] = ()
    """The texts and numbers in this object, each with its name. An entry of a collection whose key is not
    a text has an empty name."""
    states: Mapping[str, str] = field(default_factory=_nothing)
    """For each object inside this one whose content has no names, such as a queue, a text that changes
    with the content. The key is the name of the inner object."""
    values: Mapping[str, object] = field(default_factory=_nothing)
    """All attributes of a framework's object."""
    followed: Sequence[tuple[str, Any]] = ()
    """The objects inside this one whose content is searched, each with its name."""
    outside: Sequence[int] = ()
    """The indices, in the list that ``read`` gets, of context variables and of objects whose content is
    not searched."""
    _entries: NamedValues | None = None
    _changing: Sequence[tuple[int, int, Any]] = ()

    @property
    def is_code(self) -> bool:
        """Returns True iff the object is a function's code, which no run changes."""
        return isinstance(self.thing, CodeType)

    def read(self, entries: NamedValues) -> None:
        """Reads the object's content into the fields of this ``Held``. ``entries``: everything in the
        object, each with its name."""
        plain, followed = list[tuple[str, Plain]](), list[tuple[str, Any]]()
        for position, entry in enumerate(entries):
            value: object = entry[1]
            kind = type(value)
            if kind in _SIMPLE:  # most values have the types of the first three branches
                followed.append(entry)
            elif kind in _PLAIN_TYPES:
                plain.append(entry)
            elif kind is not NoneType:
                self._read_other(position, entry, plain, followed)
        self.plain, self.followed = plain or (), followed or ()
        self._entries = entries
        if type(self.thing) not in SIMPLE and is_frameworks(self.thing):
            self.values = dict(entries)
        elif self._changing:
            # Values that are not searched, such as a client, are not kept alive: a run may wait until
            # nothing refers to such a value any more.
            self._entries = entries.copy()
            for position, _, _ in self._changing:
                self._entries[position] = entries[position][0], _ANYTHING

    def _read_other(
        self,
        position: int,
        entry: tuple[str, Any],
        plain: list[tuple[str, Plain]],
        followed: NamedValues,
    ) -> None:
        name, value = entry
        kind, content = self._sorted(name, value)
        if kind in _FOLLOWING:
            followed.append((name, content))
        elif kind in _TOLD:
            plain.append((name, content))
        elif kind == _OUTSIDE:
            self.states = {**self.states, name: content}
        if kind in _OUTER:
            self.outside = (*self.outside, position)
        if kind in _MAY_CHANGE and not isinstance(value, _STATELESS):
            self._changing = (*self._changing, (position, kind, content))

    def has_still(self, entries: NamedValues, size: int, *, is_of_model: bool) -> bool:
        """Returns True only if the object's content is certainly still what ``read`` stored. This check
        is much cheaper than a second ``read``. ``entries``: everything that is in the object now, each
        with its name. ``size``: the present number of entries of a collection, else 0. ``is_of_model``:
        True if the object now belongs to a model."""
        if self._entries is None or (len(entries), size, is_of_model) != (
            len(self._entries),
            self.size,
            self.is_of_model,
        ):
            return False
        for (name, value), (known, was) in zip(entries, self._entries, strict=True):
            if (value is not was and was is not _ANYTHING) or name != known:
                return False
        for position, kind, content in self._changing:
            now, value = self._sorted(*entries[position])
            # The value of a context variable may be an object of the user's, whose ``==`` may do
            # anything. So the value is compared by identity.
            if now != kind or (value is not content and (kind == _VARIABLE or value != content)):
                return False
        return True

    def held_as(self, name: str, holder: int | None) -> "Held":
        """Returns the same content with another name and holder."""
        is_same = (name, holder) == (self.name, self.holder)
        return self if is_same else replace(self, name=name, holder=holder)

    def _sorted(self, name: str, value: Any) -> tuple[int, Any]:
        """Returns the kind of a value, such as ``_PLAIN``, and the data that are stored about the
        value."""
        if type(value) in _SIMPLE:  # most values have these types, so they are checked first
            return _FOLLOWED, value
        if is_opaque(value):
            return _UNREAD, None
        if isinstance(value, (str, int, float)):
            return _PLAIN, value
        kind, content = _read(value)
        if kind == _UNREAD and name and value is not None and not self.is_of_model:
            return _OUTSIDE, "" if isinstance(value, _STATELESS) else state_text_of(value)
        return kind, content


def _read(value: object) -> tuple[int, Any]:
    """Returns the kind of an object that is neither a text nor a number, and the data that are stored
    about the object. If the kind is ``_UNREAD`` and the object has a name, ``_sorted`` changes the kind
    to ``_OUTSIDE``."""
    if isinstance(value, ContextVar):
        # This is the variable's value in the current context, or None if the variable has no value in
        # this context.
        return _VARIABLE, cast("ContextVar[Any]", value).get(None)
    position = position_of(value)
    if position is not None:
        return _POSITION, position
    return (_FOLLOWED, value) if _is_looked_into(value) else (_UNREAD, None)


def _is_looked_into(value: object) -> bool:
    if value is None or isinstance(value, (bytes, ModuleType)):
        return False
    if _is_of_looked_into(type(value)):
        return True
    module = (value if isinstance(value, type) else type(value)).__module__
    if isinstance(value, type):
        return is_users(module)
    # ``functools`` sets ``__wrapped__`` on a wrapper, such as a cached function. The wrapped function may
    # be the user's, so the wrapper is searched.
    if "__wrapped__" in attributes_of(value):
        return True
    return module.startswith(FRAMEWORKS) or is_users(module)


@per_class
def _is_of_looked_into(kind: type) -> bool:
    return issubclass(kind, _LOOKED_INTO)
