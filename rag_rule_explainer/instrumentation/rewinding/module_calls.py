"""This module finds the functions of modules that code names, each with its module.

The name of a function alone does not tell what it does. For example, ``enumerate`` usually means the
builtin function, and rarely ``threading.enumerate``.
"""

import dis
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_CLOSURE")
_TAKES = ("LOAD_ATTR", "LOAD_METHOD")
_PUBLIC = {"posix": "os", "nt": "os", "_thread": "threading", "_socket": "socket", "_signal": "signal"}
"""For each module of C code, the public module by whose name users call its functions."""


def functions_of_modules(things: Iterable[object]) -> frozenset[str]:
    """Returns the names of functions with their modules, such as "threading.enumerate": the functions
    that the Python functions in ``things`` name in their code, and the built-in functions in ``things``
    themselves."""
    found = set[str]()
    for each in things:
        if isinstance(each, FunctionType):
            known = _known(each)
            found.update(f"{module}.{name}" for module, name in _named_in(own_code(each), known))
        elif type(each) is type(len):
            found.add(_called(each))
    return frozenset(found)


def _called(function: Any) -> str:
    """Returns the name of a function with its module, such as ``os.nice``; empty if the object cannot be
    read."""
    try:
        module = str(getattr(function, "__module__", ""))
        return f"{_PUBLIC.get(module, module)}.{getattr(function, '__name__', '')}"
    except Exception:  # an object of the user's may raise any error when it is read
        return ""


def _known(function: FunctionType) -> dict[str, object]:
    """Returns the globals of a function and the variables of enclosing functions that it uses, by
    name."""
    known: dict[str, object] = {**function.__globals__}
    for name, cell in zip(own_code(function).co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # no value has been stored in the cell yet
            known[name] = cell.cell_contents
    return known


def _named_in(code: CodeType, known: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yields a pair for each function of a module that this code names: the name of the module, and the
    name of the function. ``known``: the globals and enclosed variables of the code, by name."""
    imported: dict[str, object] = {**known}
    for step in _steps(code):
        name, rest = step[0], step[1:]
        if name == "=":
            yield rest[0], rest[1]
        elif name.startswith("="):
            imported[name[1:]] = sys.modules.get(rest[0])
        thing: Any = imported.get(name)
        for each in rest:
            if not isinstance(thing, ModuleType):
                break
            yield thing.__name__, each
            thing = vars(thing).get(each)
        if callable(thing) and not isinstance(thing, type):
            module, _, called = _called(thing).rpartition(".")
            if called:
                yield module, called
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _named_in(inner, imported)


@lru_cache(maxsize=2048)
def _steps(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """Returns a tuple for each name that the code reads or imports, in order: ("a", "b", "c") for
    ``a.b.c``, and ("=", "a", "b") for ``from a import b``. An import also adds a tuple for the name that
    it sets, with the module: ("=b", "a.b")."""
    found, module, part = list[tuple[str, ...]](), "", ""
    for step in dis.get_instructions(code):
        name = str(step.argval)
        if step.opname == "IMPORT_NAME":
            module, part = name, ""
        elif step.opname == "IMPORT_FROM":
            part = name
            found.append(("=", module, name))
        elif step.opname.startswith("STORE_") and module:
            # ``import a.b`` sets the variable to the module ``a``, and ``from a import b`` sets it to
            # ``a.b``.
            found.append((f"={name}", f"{module}.{part}" if part else module.partition(".")[0]))
            module = module if part else ""
        elif step.opname in _LOADS:
            found.append((name,))
        elif step.opname in _TAKES and found:
            found[-1] = (*found[-1], name)
    return tuple(found)
