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
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from types import ModuleType
from typing import Any

from ..copies.recursion_limit import own_recursion_limit
from ..copies.state import Same
from .system_settings import asked_of_the_system
from .values import is_plain

_LONGEST = 100
"""A text counts as the name of a logger only if it has at most this many characters."""
_OF_LOGGING = frozenset(
    {
        *("isEnabledFor", "getEffectiveLevel", "level", "disabled", "propagate", "filters"),
        *("handlers", "hasHandlers", "manager"),
    }
)
"""Names by which code reads the settings of a logger."""
_OF_THE_COLLECTOR = frozenset({"isenabled", "get_threshold", "get_debug", "callbacks"})
_OF_WARNINGS = frozenset({"simplefilter", "filterwarnings", "resetwarnings"})
"""Names of functions that code calls to set filters for warnings. Libraries may set these filters too."""
_OF_THREADS = frozenset({"active_count", "activeCount"})
"""Names of functions that count the threads of the process. ``threading.enumerate``, which lists them, is
not included, because the name ``enumerate`` usually means the builtin function. ``_LISTS_THREADS`` has it
with its module."""
_LISTS_THREADS = "threading.enumerate"
_OF_PROGRAMS = frozenset({"argv", "orig_argv", "warnoptions"})
"""Lists in ``sys`` that libraries do not change. If one has changed, the application changed it."""
_OF_IMPORTS = frozenset({"meta_path", "path_hooks"})
"""Lists in ``sys`` of the objects that find modules for ``import``. The identities of these objects are
compared."""
_REGISTERS: tuple[tuple[str, str, frozenset[str], Callable[[Any], object]], ...] = (
    (
        "mimetypes",
        "add_type",
        frozenset({"guess_type", "guess_extension", "guess_all_extensions", "types_map"}),
        lambda module: module._db and [{**each} for each in module._db.types_map],
    ),
    ("copyreg", "pickle", frozenset({"dispatch_table"}), lambda module: {**module.dispatch_table}),
    (
        "logging",
        "setLogRecordFactory",
        frozenset({"getLogRecordFactory", "makeLogRecord"}),
        lambda module: module.getLogRecordFactory(),
    ),
    ("atexit", "register", frozenset({"_ncallbacks"}), lambda module: module._ncallbacks()),
    (
        "threading",
        "main_thread",
        frozenset({"main_thread", "current_thread"}),
        lambda module: module.main_thread().name,
    ),
    ("csv", "field_size_limit", frozenset({"field_size_limit"}), lambda its: its.field_size_limit()),
    (
        "readline",
        "add_history",
        frozenset({"get_history_item", "get_current_history_length"}),
        lambda module: module.get_current_history_length(),
    ),
    (
        "pandas",
        "set_option",
        frozenset({"get_option", "options"}),
        lambda module: repr(module.options.d),
    ),
    ("gettext", "textdomain", frozenset({"textdomain", "gettext"}), lambda module: module.textdomain()),
    ("locale", "setlocale", frozenset({"getlocale", "localeconv"}), lambda module: module.localeconv()),
)
"""Registers of libraries for the whole process, such as the file types of ``mimetypes``. Each entry has
the module, the name of the function that sets the register, the names by which the user's code reads it,
and a function that returns its content."""
_OF_EACH_THREAD = frozenset({"asyncio", "decimal", "random"})
"""Modules whose pairs of functions, such as ``random.setstate`` and ``random.getstate``, are not
compared: their settings differ between threads, or change with every random number."""
_OF_THIS_PACKAGE = "rag-rule"
"""The beginning of the names of this package's own threads."""


def settings_of_the_process(named: frozenset[str], calls: frozenset[str]) -> dict[str, object]:
    """Returns the current settings of the process, by the name of the function or module that sets them.

    ``named``: the names in the application's code. Some settings are also changed by libraries; such a
    setting is returned only if this code contains a name by which it can be read. ``calls``: the
    functions that this code may call, each with its module, such as "threading.enumerate".
    """
    found = dict[str, object]()
    for name, ask in (*_asked(named), *_asked_of_workers(named, calls)):
        # A name may occur twice: first as the name of a setting, then as the name of a function of
        # ``sys``. The first occurrence counts.
        if name not in found:
            found[name] = _answer(ask)
    return found


def _asked(named: frozenset[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "os.chdir", Path.cwd
    yield "socket.setdefaulttimeout", socket.getdefaulttimeout
    yield "sys.setrecursionlimit", own_recursion_limit
    yield "csv.register_dialect", lambda: tuple(csv.list_dialects())
    yield "builtins", lambda: frozenset(vars(builtins))
    yield "time.tzset", lambda: (time.tzname, time.timezone)
    yield "calendar.setfirstweekday", lambda: _loaded("calendar").firstweekday()
    yield "decimal.DefaultContext", _default_context
    yield from asked_of_the_system(named)
    if "getcontext" in named:
        yield "decimal.getcontext", _current_context
    yield from _asked_of_pairs(named)
    for module in (builtins, sys):
        for name in sorted(named & vars(module).keys()):
            yield f"{module.__name__}.{name}", _plain_in(module, name)
    if named & _OF_LOGGING:
        yield "logging", _levels
    yield from _asked_of_registers(named)
    if named & _OF_WARNINGS and named & {"warn", "filters"}:
        yield "warnings", lambda: list(warnings.filters)
    if "register" in named:
        yield "ABCMeta.register", abc.get_cache_token
    if "loggerDict" in named:
        yield "logging.getLogger", lambda: frozenset(logging.root.manager.loggerDict)
    if named & _OF_THE_COLLECTOR:
        yield "gc", _of_the_collector
    if "get_freeze_count" in named:  # the number falls whenever a frozen object is no longer needed
        yield "gc.freeze", gc.get_freeze_count


def _asked_of_workers(
    named: frozenset[str], calls: frozenset[str]
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yields the running threads and processes, if the application's code may ask for them. Each yielded
    pair is a name for messages, and a function that returns the threads or processes."""
    if named & _OF_THREADS or _LISTS_THREADS in calls:
        yield "threading", _names_of_threads
    if "active_children" in named:
        yield "multiprocessing", lambda: sorted(str(each.pid) for each in active_children())


def _asked_of_registers(named: frozenset[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    for module, function, readers, ask in _REGISTERS:
        if named & readers and module in sys.modules:
            yield f"{module}.{function}", partial(ask, sys.modules[module])


def _asked_of_pairs(named: frozenset[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yields the settings that the application's code both sets and reads by a pair of functions, such as
    ``sys.setswitchinterval`` and ``sys.getswitchinterval``. Each yielded pair is the name of the first
    function, and the second function. ``named``: the names in the application's code."""
    for setter in sorted(each for each in named if each.startswith("set") and len(each) > len("set_")):
        getter = f"get{setter.removeprefix('set')}"
        for name, module in sys.modules.copy().items() if getter in named else ():
            known = name in sys.stdlib_module_names and name not in _OF_EACH_THREAD
            if known and {setter, getter} <= vars(module).keys():
                yield f"{name}.{setter}", vars(module)[getter]


def settings_of_loggers(named: frozenset[str], loggers: frozenset[str]) -> dict[str, object]:
    """Returns the current settings of the loggers with these names, by name; empty if the application's
    code reads no settings of loggers.

    ``named``: the names in the application's code. ``loggers``: the names of the loggers. A logger that
    does not exist has the settings with which it would be created.
    """
    known = logging.root.manager.loggerDict
    found = {name: known.get(name) for name in loggers if named & _OF_LOGGING}
    return {name: _settings_of(each) for name, each in found.items()}


def loggers_named(texts: Iterable[str]) -> frozenset[str]:
    """Returns the names of all existing loggers, and ``texts``, the string constants in the application's
    code, because this code may create loggers with these names later.

    Only these loggers are compared. If a module is imported during a run, it may create other loggers,
    but this does not count as a change of state.
    """
    return frozenset(
        {*logging.root.manager.loggerDict, *(each for each in texts if len(each) < _LONGEST)}
    )


def _settings_of(logger: object) -> object:
    if not isinstance(logger, logging.Logger):
        return logging.NOTSET, False, True, ()
    own = tuple(Same(each) for each in (*logger.filters, *logger.handlers))
    return logger.level, logger.disabled, logger.propagate, own


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


def _current_context() -> object:
    context = _loaded("decimal").getcontext()
    return context.prec, context.rounding


def _plain_in(module: ModuleType, name: str) -> Callable[[], object]:
    def ask() -> object:
        value = vars(module)[name]
        if value is sys.path or name in _OF_PROGRAMS:
            return tuple(value)
        if name in _OF_IMPORTS:
            return tuple(map(id, value))
        return value if is_plain(value) else None

    return ask


def _of_the_collector() -> object:
    return gc.isenabled(), gc.get_threshold(), gc.get_debug(), tuple(map(id, gc.callbacks))


def _levels() -> object:
    return logging.root.level, logging.root.manager.disable


def _names_of_threads() -> object:
    names = (thread.name for thread in threading.enumerate())
    return sorted(name for name in names if not name.startswith(_OF_THIS_PACKAGE))
