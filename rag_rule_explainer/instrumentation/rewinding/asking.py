"""This module reads the state of objects that cannot be restored, such as files, queues, pools and
clients."""

import asyncio
import concurrent.futures
import contextvars
import decimal
import gc
import io
import mmap
import os
import queue
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from multiprocessing.managers import BaseProxy
from types import AsyncGeneratorType, FunctionType, GeneratorType, MappingProxyType
from typing import Any
from weakref import finalize
from xml.etree.ElementTree import Element

from pydantic import BaseModel

from ..copies.state import Same
from ..shared_state.per_class import per_class
from ..shared_state.positions import state_text_of
from .bearing import OF_ALL
from .c_objects import asked_of_c_object
from .companies import is_of_own
from .going_on import GOING_ON, variables_of
from .inside import asked_inside
from .left_alone import APART, OF_THREADS, is_connection
from .library_objects import asked_of_library_object
from .locks import is_read_lock, state_of_lock
from .loops import all_that_wait, calls_that_wait
from .named_attributes import comparable, named_attributes_of
from .of_sqlite import answer_to, settings_of_connection
from .owners import is_of_library, package_of
from .pragmas import pragmas_in
from .thread_pools import REACHING_THREADS, marks_on_threads
from .values import DICT, is_plain

_Ask = Callable[[Any], object]

_CLIENTS = frozenset({"httpx", "requests", "aiohttp", "niquests"})
"""The packages of HTTP clients whose state is read."""
_OF_CLIENTS = frozenset(
    {"cookies", "headers", "params", "auth", "base_url", "timeout", "event_hooks", "max_redirects"}
)
"""The attributes in which a client keeps state between its requests."""


# This class is typed as Any. Otherwise, pyright would report unknown types of a mapping's entries.
_REGISTER: Any = MappingProxyType
_MOST_CELLS = 1_000_000
_MOST_ELEMENTS = 2000
"""The maximum number of elements of an XML tree that are compared."""
_CACHED: Any = type(lru_cache(maxsize=None)(bool))
_OF_ERRORS = frozenset(
    {
        *("__notes__", "__cause__", "__context__", "__traceback__", "add_note", "with_traceback"),
        "__suppress_context__",
        *("format_exception", "format_exc", "print_exception", "format_tb", "TracebackException"),
    }
)
"""Names by which code reads data that was added to an error after the error was made."""

_READERS: tuple[tuple[Any, frozenset[str]], ...] = (
    (
        (type(threading.Lock()), type(threading.RLock()), threading.Semaphore, threading.Condition),
        frozenset({"acquire", "locked", "wait", "wait_for", "_value"}),
    ),
    (
        (queue.Queue, queue.SimpleQueue),
        frozenset({"get", "get_nowait", "put_nowait", "qsize", "empty", "full", "join", "queue"})
        | {"unfinished_tasks"},
    ),
)
"""Pairs of types of objects and the names by which code reads the state of these objects. The first pair
is for locks, the second for queues."""


# ``issubclass`` is called with the class of an object, because ``isinstance`` would read the object's
# ``__class__``, which the user's class may override.
@per_class
def _always_asked(kind: type) -> tuple[_Ask, ...]:
    return tuple(ask for kinds, ask in _ASKED if issubclass(kind, kinds))


@per_class
def _asked_where_named(kind: type) -> tuple[tuple[frozenset[str], _Ask], ...]:
    return tuple((names, ask) for kinds, names, ask in _ASKED_WHERE_NAMED if issubclass(kind, kinds))


def asked_of(thing: object, named: frozenset[str]) -> Iterator[_Ask]:
    """Yields functions that return the state of ``thing``, an object of no class in ``SIMPLE``. The
    caller compares their results before and after a run.

    ``named``: the names in the application's code. Some state is compared only if the code contains a
    name by which it can read this state.
    """
    yield from _always_asked(type(thing))
    for names, ask in _asked_where_named(type(thing)):
        if named & names:
            yield ask
    if (
        package_of(thing) in OF_THREADS
        and not (issubclass(type(thing), APART) or is_connection(thing))
        and _is_read(thing, named)
    ):
        yield state_text_of
    yield from _asked_of_package(thing, named)
    if is_of_library(thing):
        yield from asked_of_c_object(thing, named)
        yield from asked_inside(thing, named)
        for name in named_attributes_of(thing, named):
            yield _asking_for_attribute(name)
    if "__subclasses__" in named and issubclass(type(thing), type):
        yield lambda kind: len(type.__subclasses__(kind))
    if is_of_library(thing) and is_read_lock(thing, named):
        yield state_of_lock
    yield from asked_of_library_object(thing, named)


def _asked_of_package(thing: object, named: frozenset[str]) -> Iterator[_Ask]:
    if issubclass(type(thing), sqlite3.Connection):
        yield from map(_asking_for, pragmas_in(named))
    if package_of(thing) in _CLIENTS:
        yield lambda client: _of_a_client(client, named)
    if package_of(thing) == "pandas" and hasattr(type(thing), "memory_usage"):
        yield _of_a_table
    if package_of(thing) == "numpy" and named & {"flags", "writeable"}:
        yield lambda array: array.flags.writeable


def _is_read(thing: Any, named: frozenset[str]) -> bool:
    """Returns True iff the application's code may read whether a lock is taken, or what a queue contains.
    ``named``: the names in this code.

    Other uses of locks and queues cannot influence the next run: a lock that the code only enters is free
    again after a run, and a queue that the code only fills is never read.
    """
    if named & OF_ALL or (getattr(thing, "maxsize", 0) and "put" in named):
        return True
    return all(named & readers for kinds, readers in _READERS if issubclass(type(thing), kinds))


def answer_of(thing: object, ask: _Ask) -> object:
    """Returns the state that ``ask`` reads, a function that ``asked_of`` yielded for this object; None if
    ``ask`` raises an error."""
    try:
        return ask(thing)
    except Exception:  # reading fails if a file is closed, for example
        return None


def _of_a_file(thing: Any) -> object:
    """Returns the size, the time of the last change and the position of a file that is open for both
    reading and writing; None for any other file."""
    if thing.closed or "+" not in str(getattr(thing, "mode", "")):
        return None
    known = os.fstat(thing.fileno())
    return known.st_size, known.st_mtime_ns, thing.tell() if thing.seekable() else 0


def _of_a_client(thing: Any, named: frozenset[str]) -> object:
    names = ("is_closed", "closed", *sorted(_OF_CLIENTS & named))
    return [repr(getattr(thing, name, None)) for name in names]


def _of_a_table(thing: Any) -> object:
    """Returns what describes a pandas table (or column), such as its shape, and a hash of its cells.
    The hash is empty for a table of more than ``_MOST_CELLS`` cells."""
    hashed = sys.modules["pandas"].util.hash_pandas_object
    names = tuple(map(repr, getattr(thing, "columns", (getattr(thing, "name", ""),))))
    described = thing.shape, names, repr(thing.index.names), repr(thing.attrs)
    return described, hashed(thing).to_numpy().tobytes() if thing.size <= _MOST_CELLS else b""


def _asking_for(pragma: str) -> _Ask:
    return lambda connection: answer_to(connection, pragma)


def _asking_for_attribute(name: str) -> _Ask:
    return lambda thing: comparable(thing.__dict__.get(name))


def _of_each_thread(thing: threading.local) -> object:
    """Returns the texts and numbers that all threads have stored in a ``threading.local``."""
    held: list[Any] = gc.get_referents(thing)
    by_thread: list[Any] = [
        each for mapping in held if isinstance(mapping, DICT) for each in mapping.copy().values()
    ]
    of_threads = (each.copy().items() for each in by_thread if isinstance(each, DICT))
    return sorted({(str(k), repr(v)) for each in of_threads for k, v in each if is_plain(v)})


def _of_a_generator(thing: Any) -> object:
    frame = thing.gi_frame if isinstance(thing, GeneratorType) else thing.ag_frame
    if frame is None:
        return "ended"
    return frame.f_lasti, {name: each for name, each in frame.f_locals.copy().items() if is_plain(each)}


def _of_a_context(thing: contextvars.Context) -> object:
    return {Same(each): value if is_plain(value) else Same(value) for each, value in thing.items()}


def _of_a_dispatcher(thing: Any) -> object:
    """Returns the implementations that were registered for a function of ``functools.singledispatch``, if
    the user wrote the function. Returns None for any other object. Functions of libraries are left out,
    because libraries register implementations whenever they need them."""
    found: Any = getattr(thing, "registry", None)
    if not isinstance(found, _REGISTER) or not is_of_own(getattr(thing, "__wrapped__", None)):
        return None
    return [(Same(kind), Same(does)) for kind, does in found.copy().items()]


def _of_an_arithmetic(thing: decimal.Context) -> object:
    # Code that rounds decimal numbers sets the flags of the context. So ``_ASKED_WHERE_NAMED`` compares
    # the flags only if the application's code names them.
    return thing.prec, thing.rounding, thing.Emin, thing.Emax, thing.capitals, thing.clamp


def _of_an_element(thing: Any) -> object:
    inside = islice(thing.iter(), _MOST_ELEMENTS)
    return [(each.tag, each.text, each.tail, dict(each.attrib), len(each)) for each in inside]


def _of_an_error(thing: BaseException) -> object:
    """Returns the notes that were added to an error, whether its context is hidden, and the ``id()`` of
    its cause, of its context and of its traceback (None for one that it does not have)."""
    behind = thing.__cause__, thing.__context__, thing.__traceback__
    notes = list(getattr(thing, "__notes__", ()))
    return notes, thing.__suppress_context__, [each and id(each) for each in behind]


_ASKED: tuple[tuple[Any, _Ask], ...] = (
    (io.IOBase, lambda thing: thing.closed),
    ((io.TextIOWrapper, io.BufferedRandom, io.FileIO), _of_a_file),
    (BaseProxy, str),
    ((AsyncGeneratorType, GeneratorType), _of_a_generator),
    (decimal.Context, _of_an_arithmetic),
    (Element, _of_an_element),
    (GOING_ON, variables_of),
    (contextvars.Context, _of_a_context),
    (FunctionType, _of_a_dispatcher),
    (sqlite3.Connection, settings_of_connection),
    (threading.local, _of_each_thread),
    (asyncio.AbstractEventLoop, calls_that_wait),
    # No public attribute of an executor shows whether it was shut down, so a private one is read.
    (concurrent.futures.Executor, lambda thing: thing._shutdown),
)
_ASKED_WHERE_NAMED: tuple[tuple[Any, frozenset[str], _Ask], ...] = (
    (threading.Thread, frozenset({"name", "getName"}), lambda thread: thread.name),
    (threading.Thread, frozenset({"is_alive"}), lambda thread: thread.is_alive()),
    (asyncio.AbstractEventLoop, frozenset({"get_debug"}), lambda loop: loop.get_debug()),
    (
        asyncio.AbstractEventLoop,
        frozenset({"get_exception_handler"}),
        lambda loop: loop.get_exception_handler(),
    ),
    (
        asyncio.AbstractEventLoop,
        frozenset({"slow_callback_duration"}),
        lambda loop: loop.slow_callback_duration,
    ),
    (asyncio.AbstractEventLoop, frozenset({"get_task_factory"}), lambda loop: loop.get_task_factory()),
    (
        asyncio.Future,
        frozenset({"done", "result", "exception", "cancelled"}),
        lambda future: (future.done(), future.cancelled()),
    ),
    (asyncio.AbstractEventLoop, frozenset({"_ready", "_scheduled", "all_tasks"}), all_that_wait),
    (concurrent.futures.Executor, REACHING_THREADS, marks_on_threads),
    (finalize, frozenset({"alive"}), lambda thing: thing.alive),
    (
        decimal.Context,
        frozenset({"flags", "traps"}),
        lambda thing: (dict(thing.flags), dict(thing.traps)),
    ),
    (BaseException, _OF_ERRORS, _of_an_error),
    (_CACHED, frozenset({"hits", "misses"}), lambda cached: cached.cache_info()),
    (mmap.mmap, frozenset({"tell", "read", "read_byte", "readline"}), lambda held: held.tell()),
    (
        BaseModel,
        frozenset({"model_fields_set", "exclude_unset"}),
        lambda thing: set(thing.model_fields_set),
    ),
)
"""Functions that read state which is compared only if the application's code contains certain names. Each
entry has the types of the objects, these names, and the function."""
