"""This module finds the modules of libraries that the user's code uses, and the globals of frameworks
that it may set."""

import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.reaching import FRAMEWORKS
from .companies import is_own
from .named import globals_set_in

_MOST_LIBRARIES = 30


def note_libraries(libraries: dict[str, ModuleType], named: Iterable[Any]) -> None:
    """Adds modules of libraries to ``libraries``, by name. ``named``: the objects that code names. If an
    object is a module, it is added; otherwise the module in which it is defined is added."""
    for each in named:
        module = each if isinstance(each, ModuleType) else sys.modules.get(_module_of(each))
        if module is None or module.__name__.startswith(("builtins", "sys", *FRAMEWORKS)):
            continue
        if not is_own(module.__name__) and len(libraries) < _MOST_LIBRARIES:
            libraries.setdefault(module.__name__, module)


def note_settings(settings: dict[str, frozenset[str]], named: Iterable[Any]) -> None:
    """Adds the globals of frameworks that the functions in ``named``, such as ``set_debug``, set to
    ``settings``, by the name of the module. ``named``: the objects that the user's code names."""
    for each in named:
        if isinstance(each, FunctionType) and str(each.__module__).startswith(FRAMEWORKS):
            module = str(each.__globals__.get("__name__", ""))
            settings[module] = settings.get(module, frozenset()) | globals_set_in(own_code(each))


def _module_of(thing: Any) -> str:
    known = thing if isinstance(thing, (type, FunctionType)) else type(thing)
    return str(known.__module__)
