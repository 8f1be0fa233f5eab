"""This module makes *twins*: copies of objects that share no mutable state with their originals.

A twin is made only of an object that keeps all its state in its attributes. If some state may be outside
of them (in a file, a database or a global), NoTwin is raised.
"""

import asyncio
import re
import threading
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from logging import Logger
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast
from uuid import UUID

from .copying import described
from .enclosure import is_within, keeps_to_itself
from .live import entries_now, members_now, unchanged

_ATOMS = (int, float, complex, bool, str, bytes, type(None), date, time, timedelta, tzinfo)
_OTHER_ATOMS = (Decimal, UUID, Enum, range, type, re.Pattern, Logger)
_LOCKS: dict[type, Callable[[], Any]] = {
    type(threading.Lock()): threading.Lock,
    type(threading.RLock()): threading.RLock,
    asyncio.Lock: asyncio.Lock,
}


class NoTwin(Exception):
    """This error says that no twin (copy for a replay) of an object can be made, because some of its
    state may be outside of its attributes, or cannot be copied."""


@dataclass(frozen=True, slots=True)
class Twins:
    """A ``Twins`` makes twins: isolated copies that a replay can use without changing the originals.

    ``trusted``: packages and modules whose classes are known to keep all their state in their instances.
    ``shares``: returns the classes whose instances, such as models, are not copied but shared with the
    original. ``copied``: packages whose objects are copied by ``deepcopy``.
    """

    trusted: tuple[str, ...]
    shares: Callable[[], tuple[type, ...]]
    copied: tuple[str, ...] = ()

    def of(self, thing: Any) -> Any:
        """Returns a twin of the object: an isolated copy, which a replay can use. Raises NoTwin if no
        twin can be made."""
        kind = cast("type[Any]", type(thing))
        if not keeps_to_itself(kind, self.trusted):
            raise NoTwin(kind.__name__)
        own_code = not is_within(kind.__module__, self.trusted)
        return _Copying(self, self.shares(), own_code).thing(thing, locks=True)

    def described(self, thing: Any) -> str:
        """Returns a text that describes the object's content. Equal contents have equal texts. Leaves out
        the objects that a twin (copy for a replay) shares with the object."""
        shared = self.shares()
        return described({n: v for n, v in state_of(thing).items() if not isinstance(v, shared)})


@dataclass(slots=True)
class _Copying:
    """A ``_Copying`` makes one twin, the copy of an object for a run.

    ``shared``: the classes whose instances are not copied. ``own_code``: True if the class of the object
    is the user's own. The functions to which the object refers are then checked too, because they may use
    state outside of the object.
    """

    twins: Twins
    shared: tuple[type, ...]
    own_code: bool
    memo: dict[int, Any] = field(default_factory=dict[int, Any])
    as_they_are: dict[type, bool] = field(default_factory=dict[type, bool])

    def value(self, value: Any) -> Any:
        kind = cast("type[Any]", type(value))
        as_it_is = self.as_they_are.get(kind)
        if as_it_is is None:
            as_it_is = issubclass(kind, (*_ATOMS, *_OTHER_ATOMS, *self.shared))
            self.as_they_are[kind] = as_it_is
        if as_it_is:
            return value
        if id(value) in self.memo:
            return self.memo[id(value)]
        copier = _COPIERS.get(kind)
        if copier is not None:
            return copier(self, value)
        if isinstance(value, FunctionType) and (not self.own_code or self._keeps(value)):
            return value
        if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, ModuleType):
            return value
        return self._instance(value, kind)

    def _instance(self, value: Any, kind: Any) -> Any:
        if kind.__module__ == "numpy" and getattr(value, "dtype", None) != object:  # noqa: E721 -- ``dtype`` is no class
            return value.copy()
        if is_within(kind.__module__, self.twins.copied):
            return unchanged(lambda: deepcopy(value))
        if not self._keeps(kind):
            raise NoTwin(kind.__name__)
        return self.thing(value)

    def _keeps(self, thing: Any) -> bool:
        return keeps_to_itself(thing, self.twins.trusted)

    def thing(self, thing: Any, *, locks: bool = False) -> Any:
        kind = cast("type[Any]", type(thing))
        try:
            twin = self.memo[id(thing)] = object.__new__(kind)
        except TypeError as error:  # the class is implemented in C, and may keep state there
            raise NoTwin(kind.__name__) from error
        attributes: dict[str, Any] = _get(twin, "__dict__", {})
        in_slots = _in_slots(thing)
        for name, value in {**in_slots, **_get(thing, "__dict__", {})}.items():
            renewed = _LOCKS.get(cast("type[Any]", type(value))) if locks else None
            copied = self.value(value) if renewed is None else renewed()
            if name in in_slots:
                object.__setattr__(twin, name, copied)
            else:
                attributes[name] = copied
        return twin

    def of_list(self, value: list[Any]) -> list[Any]:
        if _are_numbers(value):
            return value[:]
        made: list[Any] = []
        self.memo[id(value)] = made
        made.extend(map(self.value, value))
        return made

    def of_dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        made: Any = type(value)()
        if isinstance(value, defaultdict):
            made = defaultdict[Any, Any](value.default_factory)
        self.memo[id(value)] = made
        made.update((self.value(key), self.value(each)) for key, each in entries_now(value).items())
        return made

    def of_deque(self, value: deque[Any]) -> deque[Any]:
        made = self.memo[id(value)] = deque[Any](maxlen=value.maxlen)
        made.extend(map(self.value, members_now(value)))
        return made

    def of_members(self, value: Iterable[Any]) -> Any:
        made = cast("Callable[[Iterable[Any]], Any]", type(value))(
            list(map(self.value, members_now(value)))
        )
        self.memo[id(value)] = made
        return made


_COPIERS: dict[type, Callable[[_Copying, Any], Any]] = {
    list: _Copying.of_list,
    dict: _Copying.of_dict,
    defaultdict: _Copying.of_dict,
    OrderedDict: _Copying.of_dict,
    deque: _Copying.of_deque,
    tuple: _Copying.of_members,
    set: _Copying.of_members,
    frozenset: _Copying.of_members,
    bytearray: _Copying.of_members,
}


def _are_numbers(value: list[Any]) -> bool:
    """Returns True for a list of floats, such as an embedding, whose items need not be copied. Such lists
    are long, so ``array`` is used, which checks the items fast."""
    if not value or type(value[0]) is not float:
        return False
    try:
        array("d", value)
    except TypeError:
        return False
    return True


def state_of(thing: Any) -> Mapping[str, Any]:
    """Returns all attributes in the object's dict and slots."""
    return {**_in_slots(thing), **_get(thing, "__dict__", {})}


def _in_slots(thing: Any) -> Mapping[str, Any]:
    absent = object()
    found = {name: _get(thing, name, absent) for name in _all_slots(cast("type[Any]", type(thing)))}
    return {name: value for name, value in found.items() if value is not absent}


@lru_cache(maxsize=1024)
def _all_slots(kind: type) -> tuple[str, ...]:
    names = [name for each in kind.__mro__ for name in _slots(each)]
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _slots(kind: type) -> Iterable[str]:
    slots = vars(kind).get("__slots__", ())
    for name in (slots,) if isinstance(slots, str) else tuple(cast("Iterable[str]", slots)):
        private = name.startswith("__") and not name.endswith("__")
        yield f"_{kind.__name__.lstrip('_')}{name}" if private else name


def _get(thing: Any, name: str, absent: Any) -> Any:
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return absent
