"""This module finds, in the code of a tool, writes to files that are open already, by ``os.write`` and
functions like it. They raise no audit event when they are called."""

import dis
import os
from collections.abc import Iterator
from inspect import getattr_static
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ...probing.whose import is_users
from ..copies.guarded_code import own_code
from ..searches.functions_of_tools import functions_in

_NAMES = ("write", "writev", "pwrite", "pwritev", "sendfile", "kill", "killpg")
_WRITES = {id(getattr(os, name)): name for name in _NAMES if hasattr(os, name)}
_STANDARD = (1, 2)
"""The descriptors of stdout and stderr."""
_FILLING = ("CACHE", "PUSH_NULL", "PRECALL", "EXTENDED_ARG")
_MOST = 200
"""The largest number of functions that are looked at."""


def direct_write(given: Any) -> str:
    """Returns the name of a function, such as "os.write", that the code of a tool may call to write to an
    open file; empty if there is none. ``given``: the tool's function, or the tool."""
    for function, bound in _functions(given):
        for code in _codes(own_code(function)):
            name = _written_in(code, function, bound)
            if name:
                return f"os.{name}"
    return ""


def _functions(given: Any) -> Iterator[tuple[FunctionType, object]]:
    """Yields the user's functions that the code of a tool may call, at any depth."""
    left, seen = list(functions_in(given)), set[int]()
    while left and len(seen) < _MOST:
        function, bound = left.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        yield function, bound
        for name in _names(own_code(function)):
            for value in _values(name, function, bound):
                is_own = isinstance(value, MethodType) and value.__self__ is bound
                if isinstance(value, FunctionType) or is_own:
                    found = functions_in(value)
                    left += [(each, other or bound) for each, other in found]


def _values(name: str, function: FunctionType, bound: object) -> Iterator[Any]:
    """Yields what a name may mean in the code of a function: a variable, a method of the same object, or
    a function of a module of the user's."""
    code, cells = own_code(function), function.__closure__ or ()
    for free, cell in zip(code.co_freevars, cells, strict=False):
        try:
            if free == name:
                yield cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue
    yield function.__globals__.get(name)
    if bound is not None:
        yield getattr_static(bound, name, None)
    for each in code.co_names:
        module = function.__globals__.get(each)
        if isinstance(module, ModuleType) and is_users(module.__name__):
            yield vars(module).get(name)


def _names(code: CodeType) -> set[str]:
    return {name for each in _codes(code) for name in (*each.co_names, *each.co_freevars)}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _written_in(code: CodeType, function: FunctionType, bound: object) -> str:
    steps = [each for each in dis.get_instructions(code) if each.opname not in _FILLING]
    for place, step in enumerate(steps):
        name = step.argval
        if not isinstance(name, str) or not step.opname.startswith("LOAD_"):
            continue
        after = steps[place + 1 :]
        if step.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
            if name not in _NAMES or not _is_of_os(steps[place - 1], function, bound):
                continue
            found = name
        else:
            values = _values(name, function, bound)
            found = next((_WRITES[id(each)] for each in values if id(each) in _WRITES), "")
        first: Any = after[0].argval if after else None
        if found and first not in _STANDARD:
            return found
    return ""


def _is_of_os(step: dis.Instruction, function: FunctionType, bound: object) -> bool:
    return isinstance(step.argval, str) and any(
        each is os for each in _values(step.argval, function, bound)
    )
