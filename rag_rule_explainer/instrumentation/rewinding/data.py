"""This module distinguishes data from objects that are made once and then only used, such as a client, a
lock or an index."""

import asyncio
import concurrent.futures
import hashlib
import pickle
import queue
import subprocess
from mmap import mmap
from types import AsyncGeneratorType, GeneratorType, MethodType
from typing import Any
from weakref import ref

from ..shared_state.reaching import FRAMEWORKS
from .companies import is_of_own
from .parts import read_slots
from .values import DICT, LISTED, SET, is_plain

_MOST = 200
"""The maximum number of objects inside a value that are checked. If all of them are data, the value
counts as data."""
# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
_METHOD: Any = MethodType
_FUTURES: Any = (asyncio.Future, concurrent.futures.Future)
_KEEPING: Any = (
    *(queue.Queue, queue.SimpleQueue, asyncio.Queue, asyncio.AbstractEventLoop, subprocess.Popen, mmap),
    *(GeneratorType, AsyncGeneratorType, type(hashlib.sha256()), type(hashlib.blake2b())),
)
"""Types whose objects cannot be pickled, but contain data that runs put into them."""


def is_data(value: Any) -> bool:
    """Returns True iff the value counts as data. A value is data in three cases: everything in it can be
    pickled; it contains an object of a class that the user wrote; or it contains an object that is filled
    during runs, such as a queue."""
    seen = set[int]()
    waiting: list[Any] = [value]
    while waiting and len(seen) < _MOST:
        each = waiting.pop()
        if is_plain(each) or id(each) in seen or isinstance(each, type):
            continue
        seen.add(id(each))
        if is_of_own(each) or isinstance(each, (*_FUTURES, *_KEEPING)):
            return True
        if isinstance(each, ref):
            waiting.append(each())
            continue
        if isinstance(each, _METHOD):
            waiting.append(each.__self__)
        held = _held_by(each)
        if held is None and not callable(each) and not _can_be_written_down(each):
            return False
        waiting += held or ()
    return True


def _held_by(thing: Any) -> list[Any] | None:
    """Returns the entries of a collection, or the attributes of an object; None if the object has neither
    entries nor attributes."""
    if isinstance(thing, DICT):
        return [*DICT.keys(thing), *DICT.values(thing)]
    if isinstance(thing, (*LISTED, SET, frozenset)):
        return list(thing)
    if isinstance(getattr(thing, "__dict__", None), DICT):
        return [*DICT.values(vars(thing))]
    if str(type(thing).__module__).startswith(FRAMEWORKS):
        return [*read_slots(thing).values()]
    return None


def _can_be_written_down(thing: object) -> bool:
    """Returns True iff the object can be pickled. For example, locks and sockets cannot be pickled."""
    try:
        pickle.dumps(thing)
    except Exception:  # the object's class may raise any error
        return False
    return True
