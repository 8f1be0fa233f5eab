"""This module finds the objects to which names in code refer. It also finds the user's handlers of
loggers, and the globals that a function sets."""

import gc
import logging
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from inspect import getattr_static
from operator import attrgetter, methodcaller
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.instructions import instructions_of
from .companies import is_of_own, is_own

_BY_NAME = {
    id(each): each.__name__
    for each in (getattr, setattr, vars, eval, exec, globals, getattr_static, attrgetter, methodcaller)
}
"""The functions, such as ``getattr``, by which code can use an attribute or a global with a computed
name. The keys are the ``id()`` of the functions, the values are their names."""
WHOLE_NAMESPACES = frozenset(
    {"globals", "vars", "eval", "exec", "__dict__", "__globals__", "f_globals", "f_builtins", "modules"}
)
"""Names by which code can reach any global of a module, even by a name that the code computes, as in
``globals()["on_" + x]``."""
_LOOKUPS = WHOLE_NAMESPACES | {"getattr", "setattr", "attrgetter", "import_module", "__import__"}
"""Names by which code can reach any attribute of an object or module, even by a name that the code
computes."""
_CHANGING = (type, dict, list, set, deque)
"""Types of objects in a module that code may change: classes and collections."""


def visible_to(function: FunctionType) -> dict[str, Any]:
    """Returns the globals of a function, and the modules to which its enclosed variables refer."""
    cells = zip(own_code(function).co_freevars, function.__closure__ or (), strict=True)
    enclosed = {name: each for name, cell in cells for each in gc.get_referents(cell)}
    modules = {name: each for name, each in enclosed.items() if isinstance(each, ModuleType)}
    return {**function.__globals__, **modules}


def named_by(names: frozenset[str], held: dict[str, Any]) -> Iterator[Any]:
    """Yields each object to which one of these names may refer: a global, a module, or an attribute of a
    module. ``held``: the globals by name."""
    for name in names:
        for each in (held.get(name), sys.modules.get(name)):
            yield each
            if isinstance(each, ModuleType):
                inner = vars(each).copy()
                yield from (inner[name] for name in names & inner.keys())


def looked_up_in(held: dict[str, Any], names: frozenset[str], *, is_own: bool) -> frozenset[str]:
    """Returns the names of a module's globals that code may look up by a name that it computes, as in
    ``globals()["on_" + x]``; empty if the code has no such look-up. Leaves out globals that are modules.

    ``held``: the module's globals. ``names``: all names in the function whose code looks them up.
    ``is_own``: True if the function is defined in this module.
    """
    if names.isdisjoint(WHOLE_NAMESPACES if is_own else _LOOKUPS):
        return frozenset()
    return frozenset(
        name
        for name, each in held.copy().items()
        if not (isinstance(each, ModuleType) or (name.startswith("__") and name.endswith("__")))
    )


def held_in(module: ModuleType, names: frozenset[str]) -> frozenset[str]:
    """Returns the names of the classes and collections in a module that code may look up by a name that
    it computes, and then change; empty if the code has no such look-up. ``names``: all names in the
    function whose code may look them up."""
    if names.isdisjoint(_LOOKUPS - {"modules", "import_module", "__import__"}):
        return frozenset()
    return frozenset(name for name, each in vars(module).copy().items() if isinstance(each, _CHANGING))


def modules_of(function: FunctionType, names: frozenset[str]) -> Iterator[ModuleType]:
    """Yields the user's modules to which a function refers, by a name or by an enclosed variable.
    ``names``: the names in the function's code."""
    package = str(function.__globals__.get("__package__") or "")
    of_names = (
        each
        for name in names
        for each in (
            function.__globals__.get(name),
            *map(sys.modules.get, (name, f"{package}.{name}")),
        )
    )
    enclosed = gc.get_referents(*function.__closure__) if function.__closure__ else ()
    for each in (*of_names, *enclosed):
        if isinstance(each, ModuleType) and is_own(each.__name__):
            yield each


def own_of_loggers() -> Iterator[Any]:
    """Yields the handlers and filters of loggers, if their classes are the user's own."""
    for logger in (logging.root, *list(logging.root.manager.loggerDict.values())):
        if isinstance(logger, logging.Logger):
            yield from (each for each in (*logger.handlers, *logger.filters) if is_of_own(each))


@cache
def globals_set_in(code: CodeType) -> frozenset[str]:
    """Returns the names of the globals that the code sets."""
    return frozenset(str(each.argval) for each in instructions_of(code, "STORE_GLOBAL"))


def under_usual_names(functions: Iterable[Any]) -> Iterator[str]:
    """Yields the name of each function in ``_BY_NAME``, such as ``getattr``, that these functions use,
    even if they use it under another name. ``functions``: the user's functions, with their code."""
    yield from (_BY_NAME[id(each)] for each in _in_variables(functions) if id(each) in _BY_NAME)


def texts_of_variables(functions: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of the global and the enclosed variables that the code of these functions names,
    such as the name of a logger. ``functions``: the user's functions, with their code."""
    yield from (each for each in _in_variables(functions) if type(each) is str)


def _in_variables(functions: Iterable[Any]) -> Iterator[object]:
    for function in functions:
        cells = gc.get_referents(*function.__closure__) if function.__closure__ else ()
        yield from (function.__globals__.get(name) for name in own_code(function).co_names)
        yield from cells
