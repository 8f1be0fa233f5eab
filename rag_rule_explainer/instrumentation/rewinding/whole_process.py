"""What is set for the whole process: of the operating system's, the interpreter's, and of Python's own
modules."""

import builtins
import csv
import gc
import logging
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from .values import is_plain

_OF_LOGGING = frozenset({"isEnabledFor", "getEffectiveLevel", "level"})
_OF_THE_COLLECTOR = frozenset({"isenabled", "get_threshold", "get_debug"})
_OF_WARNINGS = frozenset({"simplefilter", "filterwarnings", "resetwarnings"})
"""Names by which code asks for what libraries may set as well."""
_OF_THIS_PACKAGE = "rag-rule"
"""How the names of this package's own threads begin."""


def settings_of_the_process(named: frozenset[str]) -> dict[str, object]:
    """Returns what is set now, by what sets it. ``named``: the names in an application's code; what
    libraries set as well counts only where one of these asks for it."""
    return {name: _answer(ask) for name, ask in _asked(named)}


def _asked(named: frozenset[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "os.chdir", Path.cwd
    yield "socket.setdefaulttimeout", socket.getdefaulttimeout
    yield "sys.setrecursionlimit", sys.getrecursionlimit
    yield "csv.register_dialect", lambda: tuple(csv.list_dialects())
    yield "builtins", lambda: frozenset(vars(builtins))
    yield "time.tzset", lambda: (time.tzname, time.timezone)
    yield "calendar.setfirstweekday", lambda: _loaded("calendar").firstweekday()
    yield "decimal.DefaultContext", _default_context
    for module in (builtins, sys):
        for name in sorted(named & vars(module).keys()):
            yield f"{module.__name__}.{name}", _plain_in(module, name)
    if named & _OF_LOGGING:
        yield "logging", _levels
    if named & _OF_WARNINGS and "warn" in named:
        yield "warnings", lambda: list(warnings.filters)
    if {"threading", "enumerate"} <= named:
        yield "threading", _names_of_threads
    if named & _OF_THE_COLLECTOR:
        yield "gc", lambda: (gc.isenabled(), gc.get_threshold(), gc.get_debug())


def _answer(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except Exception:  # there may be none, such as of a folder that is gone
        return None


def _loaded(module: str) -> Any:
    return sys.modules[module]


def _default_context() -> object:
    context = _loaded("decimal").DefaultContext
    return context.prec, context.rounding


def _plain_in(module: ModuleType, name: str) -> Callable[[], object]:
    def ask() -> object:
        value = vars(module)[name]
        return value if is_plain(value) else None

    return ask


def _levels() -> object:
    # What is loaded meanwhile brings loggers of its own.
    return logging.root.level, logging.root.manager.disable


def _names_of_threads() -> object:
    names = (thread.name for thread in threading.enumerate())
    return sorted(name for name in names if not name.startswith(_OF_THIS_PACKAGE))
