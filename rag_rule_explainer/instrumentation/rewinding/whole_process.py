"""This module reads process-wide settings of the operating system, the interpreter and the standard
library."""

import abc
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
"""Names by which code reads settings that libraries may change too."""
_OF_THREADS = frozenset({"active_count", "activeCount"})
"""Names by which code may list the threads of the process. ``enumerate`` is not among them, since it
mostly means the builtin function."""
_OF_THIS_PACKAGE = "rag-rule"
"""The beginning of the names of this package's own threads."""


def settings_of_the_process(named: frozenset[str]) -> dict[str, object]:
    """Returns the current settings of the process. The key of each is the name of the function or module
    that sets it.

    ``named``: the names in the application's code. A setting that libraries change as well is returned
    only if the code reads it.
    """
    found = dict[str, object]()
    for name, ask in _asked(named):
        if name not in found:  # a function that sets a setting is named like the setting itself
            found[name] = _answer(ask)
    return found


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
    if "register" in named:
        yield "ABCMeta.register", abc.get_cache_token
    if named & _OF_THREADS:
        yield "threading", _names_of_threads
    if named & _OF_THE_COLLECTOR:
        yield "gc", lambda: (gc.isenabled(), gc.get_threshold(), gc.get_debug())


def _answer(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except Exception:  # a setting may be unreadable, such as a working folder that is gone
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
    # Single loggers are not read: a module that is imported during a run adds loggers.
    return logging.root.level, logging.root.manager.disable


def _names_of_threads() -> object:
    names = (thread.name for thread in threading.enumerate())
    return sorted(name for name in names if not name.startswith(_OF_THIS_PACKAGE))
