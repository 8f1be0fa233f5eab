"""This module finds out which fields of an argument the code of a tool reads."""

import dis
from collections.abc import Iterable, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from ..copies.guarded_code import own_code

_GETS = ("LOAD_ATTR", "LOAD_METHOD")
_WORK = ("func", "coroutine", "_run", "_arun")
"""The attributes of a tool that may hold its function."""


def fields_read(tool: object, path: Sequence[str], fields: Iterable[str]) -> frozenset[str]:
    """Returns those fields that a tool may read of one of its arguments. ``path``: the argument, and the
    attributes that lead from it to the object with these fields. Where the code does anything else with
    the object than to read fields of it, such as handing it on, all count as read."""
    known, found = frozenset(fields), frozenset[str]()
    for code in _codes_of(tool, path[0]):
        read = _read_in(code, path)
        if read is None or not read <= known:
            return known
        found |= read
    return found if any(True for _ in _codes_of(tool, path[0])) else known


def _codes_of(tool: Any, parameter: str) -> Iterable[CodeType]:
    for name in _WORK:
        function = getattr(tool, name, None)
        function = function.__func__ if isinstance(function, MethodType) else function
        if isinstance(function, FunctionType):
            code = own_code(function)
            if parameter in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                yield code


def _read_in(code: CodeType, path: Sequence[str]) -> frozenset[str] | None:
    if path[0] in code.co_cellvars:
        return None
    steps = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    found = set[str]()
    for place, step in enumerate(steps):
        loaded: Any = step.argval
        if isinstance(loaded, tuple) and path[0] in loaded:
            return None  # Python 3.13 has instructions for two variables
        if loaded != path[0] or not step.opname.startswith("LOAD_FAST"):
            continue
        names = [str(each.argval) for each in steps[place + 1 :][: len(path)] if each.opname in _GETS]
        if names[: len(path) - 1] != list(path[1:]):
            if names and len(path) > 1 and names[0] != path[1]:
                continue  # another attribute of the argument
            return None
        if len(names) < len(path):
            return None
        found.add(names[-1])
    return frozenset(found)
