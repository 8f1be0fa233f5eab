"""This module finds what an object of a library holds, if it holds data, such as a queue, an event, an
iterator or an array. An object of another kind, such as a client or a model, has no known content."""

import asyncio
import gc
import io
import logging
import os
import pickle
import queue
import random
import sqlite3
import sys
import threading
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableSequence,
)
from functools import lru_cache
from re import Pattern
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodDescriptorType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, cast
from weakref import ReferenceType

from ..copies.hidden_warnings import warnings_hidden
from ..rewinding.values import DICT, LIST, held_by
from ..shared_state.per_class import per_class

_NUMERIC = frozenset({"numpy", "pandas", "polars"})
_LARGEST = 10_000_000
"""The largest number of bytes of an object that are compared."""
_WORKING = (
    *("invoke", "embed_query", "get_text_embedding", "complete", "similarity_search_by_vector"),
    *("mget", "list_namespaces", "add_step"),
)
"""The methods by which an object is known that does work, such as a model, or whose reads and writes are
noted elsewhere, such as a store of a framework. Its own state is no data."""
_KEEPING = ("checkpointer", "chat_history")
"""The names by which an object is known that keeps what it is asked."""
_FILLED = ("similarity_search_by_vector", "ntotal")
"""The names by which an object is known that keeps what is added to it."""
_RUNNABLE = ("invoke", "add_step", "real_fn")
"""The names by which a runnable of LangChain, and a workflow and a tool of LlamaIndex, are known."""
_RUNNING = (
    *("func", "afunc", "coroutine", "bound", "first", "middle", "last", "steps__", "nodes", "node"),
    *("tools_by_name", "tools", "agents", "real_fn"),
)
"""The names by which they hold what they run."""
_NO_DATA = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType, MethodDescriptorType, BaseException),
    *(
        logging.Logger,
        logging.Handler,
        type(threading.RLock()),
        ReferenceType,
        type(os.environ),
        Pattern,
    ),
)
_COLLECTIONS = (dict, list, tuple, set, frozenset, object)
_OF_C = (MethodDescriptorType, WrapperDescriptorType, BuiltinFunctionType)
"""The types of methods that C code defines."""
_OF_PARTS: Mapping[type, Callable[[Any], Iterable[Any]]] = {
    queue.Queue: lambda thing: (list(thing.queue),),
    queue.SimpleQueue: lambda thing: (thing.qsize(),),
    io.IOBase: lambda thing: (thing.closed, None if thing.closed else thing.tell()),
    asyncio.Queue: lambda thing: (list(thing._queue),),
    type(threading.Lock()): lambda thing: (thing.locked(),),
    threading.Event: lambda thing: (thing.is_set(),),
    asyncio.Event: lambda thing: (thing.is_set(),),
    threading.Semaphore: lambda thing: (thing._value,),
    asyncio.Semaphore: lambda thing: (thing._value,),
    GeneratorType: lambda thing: (thing.gi_frame and (thing.gi_frame.f_lasti, thing.gi_frame.f_locals),),
    SimpleNamespace: lambda thing: (thing.__dict__,),
}
_SAMPLE = dict[str, str]()
_VIEWS: tuple[type, ...] = (
    *(MappingProxyType, type(_SAMPLE.keys())),
    *(type(_SAMPLE.values()), type(_SAMPLE.items())),
)
_CACHES = (type(lru_cache(len)),)


def viewed(thing: Any) -> Any:
    """Returns the dict or the bytes that a view shows, and the connection of a cursor; any other object
    itself."""
    if isinstance(thing, sqlite3.Cursor):
        return thing.connection
    if isinstance(thing, memoryview):
        return thing.obj
    if type(thing) not in _VIEWS:
        return thing
    inside: list[Any] = gc.get_referents(thing)
    return next((each for each in inside if isinstance(each, DICT)), thing)


def cached_values(thing: Any) -> list[Any]:
    """Returns the values that a cache of functools holds; none for any other object."""
    if not isinstance(thing, _CACHES):
        return []
    of_wrapper = (vars(thing), thing.__wrapped__)
    inside: list[Any] = gc.get_referents(thing)
    held = [each for each in inside if not any(each is own for own in of_wrapper)]
    # A cache without a limit holds its values in a dict, and one with a limit holds them itself.
    values: list[Any] = [value for each in held if isinstance(each, DICT) for value in each.values()]
    return [each for each in (*held, *values) if type(each).__module__ != "functools"]


def shared_parts(thing: Any) -> tuple[Any, ...] | None:
    """Returns the parts of an object by which code hands on values, such as a queue, or waits for one
    another, such as an event; None for any other object."""
    for kind, parts in _OF_PARTS.items():
        if isinstance(thing, kind):
            return tuple(parts(thing))
    if isinstance(thing, MutableSequence):
        return ([*cast("Iterable[Any]", thing)],)
    return None


def library_parts(thing: Any) -> tuple[Any, ...] | None:
    """Returns the parts of an object of a library; none for a part of it that is no data, such as a
    function, a logger or a model. None if it may hold anything else, such as a client."""
    found = shared_parts(thing)
    if found is not None:
        return found
    module = str(type(thing).__module__).partition(".")[0]
    if module in _NUMERIC:
        kept = pickle.dumps(thing)
        return (kept,) if len(kept) <= _LARGEST else None
    # What the functions of ``random`` share is chance, which is watched elsewhere.
    is_chance = thing is random.random.__self__  # pyright: ignore[reportAttributeAccessIssue]
    if is_chance or isinstance(thing, _NO_DATA) or has_work(thing):
        return ()
    if _is_of_c(type(thing)):
        return _reduced(thing)
    return tuple(part for pair in (held_by(thing) or {}).items() for part in pair) or None


def is_unknown(thing: Any) -> bool:
    """Returns True iff what an object of a library holds is not known. It may keep what it is given."""
    if any(hasattr(thing, each) for each in _FILLED):
        return True
    try:
        return library_parts(thing) != ()
    except Exception:  # the properties of a library may raise any error
        return True


def has_memory(thing: Any) -> bool:
    """Returns True iff an object of a library keeps what it is asked: an agent with a checkpointer, or an
    engine with a history."""
    if isinstance(thing, (type, ModuleType)):
        return False
    # A graph without a checkpointer, or that takes that of an outer one, has None, False or True.
    found: Any = (getattr(thing, each, None) for each in _KEEPING)
    return any(each is not None and not isinstance(each, bool) for each in found)


def is_runnable(thing: object) -> bool:
    """Returns True iff an object is a runnable, a workflow or a tool of a framework."""
    # A fake object has any attribute, and each is one more fake object.
    return any(hasattr(type(thing), each) for each in _RUNNABLE)


def parts_that_run(thing: Any) -> Iterator[Any]:
    """Yields the functions, the tools and the runnables inside a runnable of a framework."""
    for name in _RUNNING if is_runnable(thing) else ():
        held: Any = getattr(thing, name, None)
        if isinstance(held, (DICT, LIST)):
            yield from held.values() if isinstance(held, DICT) else held
        elif held is not None:
            yield held


def has_work(thing: object) -> bool:
    """Returns True iff an object does work, such as a model, so that its own state is no data."""
    return any(hasattr(thing, each) for each in _WORKING)


@per_class
def _is_of_c(kind: type) -> bool:
    own = (each for each in kind.__mro__ if each not in _COLLECTIONS)
    return any(isinstance(part, _OF_C) for each in own for part in vars(each).copy().values())


def _reduced(thing: Any) -> tuple[Any, ...] | None:
    """Returns what pickle would keep of an object that is implemented in C; None if it can keep
    nothing."""
    if str(type(thing).__module__).partition(".")[0] not in sys.stdlib_module_names:
        return None
    try:
        with warnings_hidden():  # pickling an iterator is deprecated
            kept = thing.__reduce_ex__(2)
    except TypeError:  # such as a file, a socket, or a lock
        return None
    if isinstance(kept, str):
        return (kept,)
    _, args, *more = cast("tuple[Any, ...]", kept)
    return args, *(
        list(cast("Iterator[Any]", each)) if isinstance(each, Iterator) else each for each in more
    )
