"""This module names the objects that are not searched, because other threads or tasks may be using them:
threads, pools, event loops, processes and connections."""

import asyncio
import threading
from concurrent.futures import Executor, Future
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import SynchronizedBase
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any

from .companies import is_of_own
from .library_objects import is_a_mock

_RUNNING: Any = (threading.Thread, BaseProcess, Executor, asyncio.AbstractEventLoop)
APART: Any = (CodeType, BuiltinFunctionType, ModuleType, *_RUNNING)
"""Types whose instances are not searched for further objects, because their content is no state of the
application."""
OF_THREADS = frozenset(
    {"threading", "_thread", "queue", "_queue", "asyncio", "concurrent", "multiprocessing"}
)
"""Packages whose objects are not searched and never restored, because other threads and tasks may be
using them."""
_OF_CONNECTIONS: Any = (asyncio.BaseTransport, asyncio.BaseProtocol)


def keeps_users_attributes(thing: object) -> bool:
    """Returns True iff an object is a thread, process, pool, event loop or mock. Of such an object, only
    the attributes that user code set are searched."""
    return issubclass(type(thing), _RUNNING) or is_a_mock(thing)


def value_in(thing: object) -> object:
    """Returns the object to which shared memory of processes, or a ``Future`` that is done, refers; None
    for anything else."""
    known: Any = thing
    if isinstance(thing, SynchronizedBase):
        return known.get_obj()
    return getattr(known, "_result", None) if isinstance(thing, Future) else None


def is_connection(thing: object) -> bool:
    """Returns True iff an object belongs to an open connection of a library, such as a connection that a
    client keeps for later requests. It is no state of the application: it changes whenever the other side
    sends something or closes the connection."""
    return issubclass(type(thing), _OF_CONNECTIONS) and not is_of_own(thing)
