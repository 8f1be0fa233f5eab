"""This module describes one object that was found in an application, with its content at one moment."""

from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias, cast

from .contents import COLLECTIONS, NAMESPACES, attributes_of, is_frameworks
from .per_class import per_class
from .positions import position_of, state_text_of
from .reaching import FRAMEWORKS, SIMPLE, is_opaque, is_users

_LOOKED_INTO = (FunctionType, CodeType, MethodType, partial, dict, *COLLECTIONS, *NAMESPACES)
_SIMPLE = SIMPLE | {FunctionType, MethodType}
_STATELESS = (type(None), type, ModuleType, BuiltinFunctionType, bytes)
"""Values of these classes count as unchanged by runs, unless their content is searched, as that of the
user's own classes is."""
_UNREAD, _PLAIN, _FOLLOWED, _POSITION, _VARIABLE, _OUTSIDE = range(6)
"""The kinds of values: those that are left out, texts and numbers, objects whose content is searched,
iterators, context variables, and objects whose content is not searched, such as a client."""
_FOLLOWING, _TOLD, _OUTER = {_FOLLOWED, _VARIABLE}, {_PLAIN, _POSITION}, {_OUTSIDE, _VARIABLE}
_MAY_CHANGE = {_UNREAD, _POSITION, _VARIABLE, _OUTSIDE}
"""The kinds of values that may differ at another moment although the object is the same one. Such values
are read again in each comparison."""
_ANYTHING = object()
"""This object stands for a value that was not kept alive. A later value at its place is compared with
what was stored of it, not with the object itself."""

Plain = str | int | float
NamedValues: TypeAlias = list[tuple[str, Any]]


# As a default factory, an alias such as ``list[int]`` would take several times as long.
def _empty_list() -> list[Any]:
    return []


def _empty_dict() -> dict[str, Any]:
    return {}


@dataclass(slots=True)
class Held:
    """A ``Held`` is one object that was found in an application, with its content.

    ``name``: the name by which its holder refers to it. ``holder``: the index in ``Holdings.all`` of the
    object that refers to it; None for the application. ``is_users``: True if the object, or its class, is
    the user's. ``size``: the number of entries of a collection, else 0. ``is_of_model``: True if the
    object belongs to a model. ``plain``: the texts and numbers in it, each with its name; entries of a
    collection without a text as key have an empty name. ``states``: for each object in it whose content
    has no names, such as a queue, a text that changes with the content; the key is the object's name.
    ``values``: all attributes of a framework's object. ``followed``: the objects in it whose content is
    searched, each with its name. ``outside``: the positions, in the list that ``read`` gets, of context
    variables and of objects whose content is not searched.
    """

    thing: object
    name: str
    holder: int | None
    is_users: bool
    size: int = 0
    is_of_model: bool = False
    plain: list[tuple[str, Plain]] = field(default_factory=_empty_list)
    states: dict[str, str] = field(default_factory=_empty_dict)
    values: dict[str, object] = field(default_factory=_empty_dict)
    followed: NamedValues = field(default_factory=_empty_list)
    outside: list[int] = field(default_factory=_empty_list)
    _entries: NamedValues | None = None
    _changing: list[tuple[int, int, Any]] = field(default_factory=_empty_list)

    @property
    def is_code(self) -> bool:
        """Returns True iff the object is a function's code, which no run changes."""
        return isinstance(self.thing, CodeType)

    def read(self, entries: NamedValues) -> None:
        """Reads the object's content into the fields of this ``Held``. ``entries``: everything in the
        object, each with its name."""
        for position, (name, value) in enumerate(entries):
            kind, content = self._sorted(name, value)
            if kind in _FOLLOWING:
                self.followed.append((name, content))
            elif kind in _TOLD:
                self.plain.append((name, content))
            elif kind == _OUTSIDE:
                self.states[name] = content
            if kind in _OUTER:
                self.outside.append(position)
            if kind in _MAY_CHANGE and not isinstance(value, _STATELESS):
                self._changing.append((position, kind, content))
        self._entries = entries
        if is_frameworks(self.thing):
            self.values = dict(entries)
        elif self._changing:
            # Values that are not searched, such as a client, are not kept alive: a run may wait until
            # nothing refers to such a value any more.
            self._entries = entries.copy()
            for position, _, _ in self._changing:
                self._entries[position] = entries[position][0], _ANYTHING

    def has_still(self, entries: NamedValues, size: int, *, is_of_model: bool) -> bool:
        """Returns True only if the object's content is still what ``read`` stored. This check is much
        cheaper than a second ``read``. ``entries``, ``size``, ``is_of_model``: as they are now; see
        ``read`` and ``Held``."""
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
            # The default value of a variable is the user's, who may define what ``==`` does.
            if now != kind or (value is not content and (kind == _VARIABLE or value != content)):
                return False
        return True

    def held_as(self, name: str, holder: int | None) -> "Held":
        """Returns the same content with another name and holder."""
        is_same = (name, holder) == (self.name, self.holder)
        return self if is_same else replace(self, name=name, holder=holder)

    def _sorted(self, name: str, value: Any) -> tuple[int, Any]:
        """Returns the kind of a value, and what is stored of it."""
        if type(value) in _SIMPLE:  # a fast path for most values
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
    """Returns the kind of an object that is neither a text nor a number, and what is stored of it.
    ``_UNREAD`` is preliminary: ``_sorted`` changes it to ``_OUTSIDE`` for an object that has a name."""
    if isinstance(value, ContextVar):
        # If the variable's default value is a collection, all runs share it.
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
    # functools sets this attribute on a wrapper, such as a cached function. The wrapped function may be
    # the user's.
    if "__wrapped__" in attributes_of(value):
        return True
    return module.startswith(FRAMEWORKS) or is_users(module)


@per_class
def _is_of_looked_into(kind: type) -> bool:
    return issubclass(kind, _LOOKED_INTO)
