"""Marks in what the interpreter and the system keep for a whole process."""

import asyncio
import codecs
import ctypes
import gc
import logging
import os
import random
import socket
import sys
import tempfile
import threading
import typing
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]
_MARK = "rag_rule_mark"
_LOOPS: Any = asyncio


def _undone(undo: Callable[[], object]) -> None:
    undo()
    HELD_OPEN.callback(undo)


def the_level_of_a_computed_logger() -> Both:
    name = "_".join((_MARK, "level"))
    _undone(lambda: logging.getLogger(name).setLevel(logging.NOTSET))
    return (
        lambda: logging.getLogger(name).setLevel(logging.CRITICAL),
        lambda: not logging.getLogger(name).isEnabledFor(logging.ERROR),
    )


def what_is_frozen_of_the_collector() -> Both:
    HELD_OPEN.callback(gc.unfreeze)
    return lambda: gc.freeze(), lambda: gc.get_freeze_count()


def a_callback_of_the_collector() -> Both:
    def callback(phase: str, info: Any) -> None: ...

    def undo() -> None:
        gc.callbacks[:] = [each for each in gc.callbacks if each is not callback]

    HELD_OPEN.callback(undo)
    return lambda: gc.callbacks.append(callback), lambda: callback in gc.callbacks


def the_state_of_chance() -> Both:
    return lambda: random.seed(4), lambda: random.getstate()[1][0] == random.Random(4).getstate()[1][0]


def in_a_function_of_a_library() -> Both:
    kept = lru_cache(maxsize=None)(str.upper)
    return lambda: kept("two"), lambda: kept.cache_info().currsize


def among_the_registers_of_codecs() -> Both:
    def undo() -> None:
        codecs.register_error(_MARK, codecs.strict_errors)

    HELD_OPEN.callback(undo)

    def marked() -> bool:
        try:
            return codecs.lookup_error(_MARK) is codecs.ignore_errors
        except LookupError:
            return False

    return lambda: codecs.register_error(_MARK, codecs.ignore_errors), marked


def what_the_interpreter_traces() -> Both:
    HELD_OPEN.callback(sys.set_coroutine_origin_tracking_depth, 0)
    return (
        lambda: sys.set_coroutine_origin_tracking_depth(3),
        lambda: sys.get_coroutine_origin_tracking_depth() == 3,
    )


def a_function_that_threads_run() -> Both:
    HELD_OPEN.callback(threading.setprofile, None)
    return lambda: threading.setprofile(lambda *_: None), lambda: threading.getprofile() is not None


def how_the_interpreter_shows() -> Both:
    def show(value: object) -> None: ...

    before = sys.displayhook
    HELD_OPEN.callback(setattr, sys, "displayhook", before)

    def mark() -> None:
        sys.displayhook = show

    return mark, lambda: sys.displayhook is show


def the_time_that_sockets_wait() -> Both:
    HELD_OPEN.callback(socket.setdefaulttimeout, socket.getdefaulttimeout())
    return lambda: socket.setdefaulttimeout(61.0), lambda: socket.getdefaulttimeout() == 61.0


def where_a_file_was_left() -> Both:
    number = os.memfd_create(_MARK)
    HELD_OPEN.callback(os.close, number)
    return lambda: os.lseek(number, 2, os.SEEK_SET), lambda: os.lseek(number, 0, os.SEEK_CUR)


def in_a_file_without_a_name() -> Both:
    file = HELD_OPEN.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- it is held open
    return lambda: os.pwrite(file.fileno(), b"2", 0), lambda: os.pread(file.fileno(), 1, 0)


def the_size_of_an_open_file() -> Both:
    file = HELD_OPEN.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- it is held open
    return lambda: os.ftruncate(file.fileno(), 2), lambda: os.fstat(file.fileno()).st_size


def an_open_file() -> Both:
    before = len([*Path("/proc/self/fd").iterdir()])
    own: list[int] = []

    def mark() -> None:
        if len(own) < 40:
            own.append(os.open("/dev/null", os.O_RDONLY))
            HELD_OPEN.callback(os.close, own[-1])

    return mark, lambda: len([*Path("/proc/self/fd").iterdir()]) > before + 30


def in_memory_of_c() -> Both:
    held = ctypes.create_string_buffer(4)
    return lambda: ctypes.memset(held, 50, 2), lambda: held.value


def the_error_number_of_c() -> Both:
    HELD_OPEN.callback(ctypes.set_errno, 0)
    return lambda: ctypes.set_errno(5), lambda: ctypes.get_errno() == 5


def among_the_versions_of_a_function() -> Both:
    def undo() -> None:
        typing.clear_overloads() if hasattr(typing, "clear_overloads") else None

    _undone(undo)

    def known() -> None: ...

    return lambda: typing.overload(known), lambda: typing.get_overloads(known)


def what_makes_loops() -> Both:
    class Policy(asyncio.DefaultEventLoopPolicy):
        pass

    before = _LOOPS.get_event_loop_policy()
    HELD_OPEN.callback(_LOOPS.set_event_loop_policy, before)
    return (
        lambda: _LOOPS.set_event_loop_policy(Policy()),
        lambda: isinstance(_LOOPS.get_event_loop_policy(), Policy),
    )


IN_THE_INTERPRETER = (
    the_level_of_a_computed_logger,
    what_is_frozen_of_the_collector,
    a_callback_of_the_collector,
    the_state_of_chance,
    in_a_function_of_a_library,
    among_the_registers_of_codecs,
    what_the_interpreter_traces,
    a_function_that_threads_run,
    how_the_interpreter_shows,
    the_time_that_sockets_wait,
    where_a_file_was_left,
    in_a_file_without_a_name,
    the_size_of_an_open_file,
    an_open_file,
    in_memory_of_c,
    the_error_number_of_c,
    *((among_the_versions_of_a_function,) if hasattr(typing, "get_overloads") else ()),
    what_makes_loops,
)
