"""This module finds what work may call that is handed to another process.

Such work is a function with its arguments. It reaches what its arguments and its variables hold, and what
its code names. Of an object of the user's, only those attributes count that this code names: a method
that parses a text does not call the tools that its object holds as well.
"""

import types
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from ...probing.whose import is_named_as_ours, is_users
from ..copies.guarded_code import own_code
from ..copies.live import entries_now

_PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None))
_CONTAINERS = (list, tuple, set, frozenset, deque)
_BY_ANY_NAME = frozenset({"getattr", "vars", "__dict__", "eval", "exec"})
"""Names by which code reads attributes whose names are not in the code."""
_UNNAMED = ("__call__", "__iter__", "__next__", "__enter__", "__exit__", "__getstate__", "__setstate__")
"""Methods that are called without their names."""


def reached_by(work: object, tools: type | None) -> Iterator[Any]:
    """Yields the objects that work may use in another process: functions, methods with their objects, and
    tools, among others. ``work``: the function and its arguments, or a frame whose code goes on there;
    ``tools``: the base class of tools, which are not followed; None if there is none."""
    return _Reach(work, tools).all()


class _Reach:
    """A ``_Reach`` follows work. ``_holders``: the objects of which named attributes count."""

    def __init__(self, work: object, tools: type | None) -> None:
        self._left = [work]
        self._tools = () if tools is None else (tools,)
        # The objects themselves are kept, as the id of one that is gone may be given to another one.
        self._seen = dict[int, object]()
        self._names = {*_UNNAMED}
        self._holders = list[Any]()

    def all(self) -> Iterator[Any]:
        """Yields what is reached, the work itself included."""
        while self._left or self._add_named():
            each = self._left.pop()
            if type(each) in _PLAIN or id(each) in self._seen:
                continue
            self._seen[id(each)] = each
            yield each
            if not issubclass(type(each), self._tools):
                self._follow(each)

    def _add_named(self) -> bool:
        """Adds the attributes with known names that were not yet reached. Returns False if none were."""
        is_any = not self._names.isdisjoint(_BY_ANY_NAME)
        for holder in self._holders:
            held = _attributes(holder)
            names = [*held] if is_any else [name for name in self._names if name in held]
            self._left += [held[name] for name in names if id(held[name]) not in self._seen]
        self._left = [each for each in self._left if type(each) not in _PLAIN]
        return bool(self._left)

    def _follow(self, given: Any) -> None:
        kind = cast("type[Any]", type(given))
        if kind is types.FunctionType:
            self._follow_function(given)
        elif kind is types.MethodType:
            self._left.append(given.__self__)
            self._follow(given.__func__)
        elif kind is types.FrameType:
            self._follow_code(given.f_code, given.f_globals)
            self._left += given.f_locals.values() if given.f_locals is not given.f_globals else ()
        elif issubclass(kind, type):
            self._holders += (each for each in given.__mro__ if is_users(each.__module__))
        elif issubclass(kind, types.ModuleType):
            self._holders += [given] if is_users(given.__name__) else []
        elif is_users(kind.__module__):
            self._left += _parts(given, kind)
            self._holders += [given, *(each for each in kind.__mro__ if is_users(each.__module__))]
        elif not is_named_as_ours(kind.__module__):
            self._left += [*_parts(given, kind), *_attributes(given).values()]

    def _follow_function(self, given: types.FunctionType) -> None:
        self._left += [given.__defaults__, given.__kwdefaults__, vars(given)]
        for cell in given.__closure__ or ():
            try:
                self._left.append(cell.cell_contents)
            except ValueError:  # it has no value yet
                continue
        module = str(given.__globals__.get("__name__"))
        if is_users(module) and not is_named_as_ours(module):
            self._follow_code(own_code(given), given.__globals__)

    def _follow_code(self, code: types.CodeType, variables: dict[str, Any]) -> None:
        for each in _with_inner(code):
            told = {const for const in each.co_consts if isinstance(const, str) and const.isidentifier()}
            self._names |= {*each.co_names, *told}
            self._left += [variables[name] for name in each.co_names if name in variables]
            if "globals" in each.co_names:
                self._left += variables.values()


def _parts(given: Any, kind: type) -> list[Any]:
    """Returns what an object holds otherwise than by its attributes."""
    if issubclass(kind, partial):
        return [given.func, given.args, given.keywords]
    if issubclass(kind, (staticmethod, classmethod)):
        return [given.__func__]
    if issubclass(kind, property):
        return [given.fget]
    if issubclass(kind, dict):
        entries = entries_now(given)
        return [*entries.keys(), *entries.values()]
    if issubclass(kind, _CONTAINERS):
        return [*given]
    return [given.__self__] if kind is types.BuiltinMethodType else []


def _with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _with_inner(each)


def _attributes(given: Any) -> dict[str, Any]:
    """Returns the attributes that an object holds itself, also those in slots."""
    found = dict[str, Any]()
    if not isinstance(given, type):
        for kind in type(given).__mro__:
            for name, slot in vars(kind).copy().items():
                if type(slot) is types.MemberDescriptorType and kind.__flags__ & _OF_PYTHON:
                    try:
                        found[name] = slot.__get__(given)
                    except AttributeError:  # it has no value
                        continue
    try:
        return found | vars(given)
    except TypeError:  # it has no other attributes
        return found


_OF_PYTHON = 1 << 9
"""The flag of classes that Python code defines."""
