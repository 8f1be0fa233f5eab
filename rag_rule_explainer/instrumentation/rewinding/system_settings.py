"""This module reads settings of the operating system and the interpreter that apply to the whole process
and that may stay changed after a run."""

import faulthandler
import locale
import os
import signal
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_SETS_DESCRIPTORS = frozenset(
    {"set_blocking", "get_blocking", "set_inheritable", "get_inheritable", "fcntl"}
)
"""Names of functions that set or read flags of open files."""
_MOST_DESCRIPTORS = 1024
_STATUS = Path("/proc/self/status")
_MASK = "Umask:"


def asked_of_the_system(named: frozenset[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yields settings of the whole process. Each yielded pair is the name of the function that sets it,
    such as "os.umask", and a function that returns its current value. ``named``: the names in the
    application's code."""
    yield "os.umask", _mask
    yield "locale.setlocale", lambda: locale.setlocale(locale.LC_ALL)
    yield "tracemalloc.start", tracemalloc.is_tracing
    yield "faulthandler.enable", faulthandler.is_enabled
    yield "threading.stack_size", threading.stack_size
    yield "sys.set_int_max_str_digits", _digits
    yield "signal.setitimer", _timers
    yield "resource.setrlimit", _limits
    yield "os.setpriority", lambda: os.getpriority(os.PRIO_PROCESS, os.getpid())
    yield "os.sched_setaffinity", lambda: frozenset(os.sched_getaffinity(os.getpid()))
    yield "the standard streams", _standard_streams
    # Libraries may change the following settings when the libraries are first used. So these settings are
    # read only if the application's code contains their names.
    if "excepthook" in named:
        yield "sys.excepthook", lambda: (id(sys.excepthook), id(threading.excepthook))
    if named & {"signal", "getsignal"}:
        yield "signal.signal", _handlers
    if named & _SETS_DESCRIPTORS:
        yield "os.set_blocking", _flags_of_descriptors


def _digits() -> object:
    ask: Any = getattr(sys, "get_int_max_str_digits", None)  # not in the first releases of Python 3.10
    return None if ask is None else ask()


def _mask() -> object:
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return next((line for line in lines if line.startswith(_MASK)), None)


def _handlers() -> object:
    """Returns the ``id()`` of the handler of each signal. Ctrl-C (SIGINT) is left out, because
    explanations handle it themselves."""
    return {number: id(signal.getsignal(number)) for number in signal.valid_signals() - {signal.SIGINT}}


def _timers() -> object:
    timers = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
    return [(left > 0, every) for left, every in map(signal.getitimer, timers)]


def _limits() -> object:
    held: dict[str, Any] = vars(import_module("resource"))
    found = dict[str, object]()
    for name in sorted(held):
        if name.startswith("RLIMIT_"):
            with suppress(ValueError, OSError):
                found[name] = held["getrlimit"](held[name])
    return found


def _standard_streams() -> object:
    """Returns the current settings (encoding, handling of errors, buffering) of the streams that were the
    standard streams when the process began, such as ``sys.__stdout__``."""
    return [
        (
            getattr(each, "encoding", None),
            getattr(each, "errors", None),
            getattr(each, "line_buffering", None),
        )
        for each in (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    ]


def _flags_of_descriptors() -> object:
    """Returns the flags (blocking, inheritable) of all files that are open now, for a comparison before
    and after a run. The comparison ignores files that were opened or closed in between."""
    return _Flags(
        {
            (number, known.st_dev, known.st_ino): (os.get_blocking(number), os.get_inheritable(number))
            for number, known in _open_files()
        }
    )


class _Flags(dict[tuple[int, int, int], tuple[bool, bool]]):
    """A ``_Flags`` has the flags of open files. Two ``_Flags`` are equal iff each file that is in both
    has the same flags in both."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Flags) and all(self[key] == other[key] for key in self.keys() & other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- not hashable, like a dict


def _open_files() -> Iterator[tuple[int, os.stat_result]]:
    for number in range(_MOST_DESCRIPTORS):
        with suppress(OSError):
            yield number, os.fstat(number)


def names_of_builtins(things: list[object]) -> Iterator[str]:
    """Yields the original name of each function in ``things`` that is implemented in C, such as
    ``umask``. Code may use such a function under another name."""
    for each in things:
        # A user's object may raise any error when an attribute is read, so the type is checked first.
        if type(each) is type(len) and isinstance(getattr(each, "__self__", None), ModuleType):
            yield str(getattr(each, "__name__", ""))
