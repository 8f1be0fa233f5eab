"""Marks in the process: on its threads, open files, settings and registers."""

import logging
import multiprocessing
import os
import resource
import signal
import socket
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]
_MARK = "rag_rule_mark"


def _undone(undo: Callable[[], object]) -> None:
    undo()
    HELD_OPEN.callback(undo)


def a_pair_of_sockets() -> Both:
    import select

    ours, theirs = socket.socketpair()
    HELD_OPEN.callback(ours.close)
    HELD_OPEN.callback(theirs.close)
    return lambda: ours.send(b"2"), lambda: select.select([theirs], [], [], 0)[0]


def a_pipe() -> Both:
    import select

    reads, writes = os.pipe()
    HELD_OPEN.callback(os.close, reads)
    HELD_OPEN.callback(os.close, writes)
    return lambda: os.write(writes, b"2"), lambda: select.select([reads], [], [], 0)[0]


def a_pipe_of_processes() -> Both:
    reads, writes = multiprocessing.Pipe(duplex=False)
    HELD_OPEN.callback(reads.close)
    HELD_OPEN.callback(writes.close)
    return lambda: writes.send(2), lambda: reads.poll(0)


def a_thread_that_stays() -> Both:
    end = threading.Event()
    HELD_OPEN.callback(end.set)

    def mark() -> None:
        threading.Thread(target=end.wait, args=(60,), name=_MARK, daemon=True).start()

    return mark, lambda: any(each.name == _MARK for each in threading.enumerate())


def a_timer_that_waits() -> Both:
    def mark() -> None:
        timer = threading.Timer(60, print)
        timer.daemon, timer.name = True, _MARK
        timer.start()
        HELD_OPEN.callback(timer.cancel)

    return mark, lambda: [each for each in threading.enumerate() if each.name == _MARK]


def a_child_process() -> Both:
    forking = multiprocessing.get_context("fork")

    def mark() -> None:
        process = forking.Process(target=time.sleep, args=(60,), daemon=True)
        process.start()
        HELD_OPEN.callback(process.join)
        HELD_OPEN.callback(process.kill)

    return mark, lambda: multiprocessing.active_children()


def the_mask_of_files() -> Both:
    before = os.umask(0o022)
    HELD_OPEN.callback(os.umask, before)

    def marked() -> bool:
        now = os.umask(0o022)
        os.umask(now)
        return now == 0o077

    return lambda: os.umask(0o077), marked


def a_limit() -> Both:
    kind = resource.RLIMIT_CORE
    before = resource.getrlimit(kind)
    HELD_OPEN.callback(resource.setrlimit, kind, before)
    wanted = 4096 if before[0] != 4096 else 8192
    return (
        lambda: resource.setrlimit(kind, (wanted, before[1])),
        lambda: resource.getrlimit(kind)[0] == wanted,
    )


def the_mask_of_signals() -> Both:
    kinds = [signal.SIGUSR2]
    HELD_OPEN.callback(signal.pthread_sigmask, signal.SIG_UNBLOCK, kinds)

    def marked() -> bool:
        return signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, kinds), marked


def the_zone_of_times() -> Both:
    before = os.environ.get("TZ")

    def undo() -> None:
        os.environ.pop("TZ", None)
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()

    _undone(undo)

    def mark() -> None:
        os.environ["TZ"] = "XYZ+7"
        time.tzset()

    return mark, lambda: time.tzname[0] == "XYZ"


def a_filter_of_warnings() -> Both:
    filters: Any = warnings.filters
    HELD_OPEN.callback(filters.__setitem__, slice(None), filters[:])
    return (
        lambda: warnings.simplefilter("ignore", BytesWarning),
        lambda: any(each[0] == "ignore" and each[2] is BytesWarning for each in warnings.filters),
    )


def a_warning_that_was_shown() -> Both:
    register = globals().setdefault("__warningregistry__", {})
    _undone(register.clear)

    def mark() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn_explicit(_MARK, UserWarning, "x", 1, registry=register)

    return mark, lambda: any(_MARK in str(each) for each in register)


def a_note_on_an_error() -> Both:
    error: Any = ValueError("kept")
    return lambda: error.add_note("two"), lambda: getattr(error, "__notes__", ())


def the_context_of_an_error() -> Both:
    error = ValueError("kept")

    def mark() -> None:
        error.__cause__ = KeyError("two")

    return mark, lambda: "KeyError" in "".join(traceback.format_exception(error))


def the_traceback_of_an_error() -> Both:
    error = ValueError("kept")

    def mark() -> None:
        try:
            raise error
        except ValueError:
            pass

    return mark, lambda: error.__traceback__ is not None


def among_loggers() -> Both:
    known = logging.root.manager.loggerDict
    name = "_".join((_MARK, "dict"))
    _undone(lambda: known.pop(name, None))
    return lambda: logging.getLogger(name), lambda: name in logging.root.manager.loggerDict


PROCESS = (
    a_pair_of_sockets,
    a_pipe,
    a_pipe_of_processes,
    a_thread_that_stays,
    a_timer_that_waits,
    a_child_process,
    the_mask_of_files,
    a_limit,
    the_mask_of_signals,
    the_zone_of_times,
    a_filter_of_warnings,
    a_warning_that_was_shown,
    *((a_note_on_an_error,) if hasattr(BaseException, "add_note") else ()),
    the_context_of_an_error,
    the_traceback_of_an_error,
    among_loggers,
)
