"""What single things tell of themselves that cannot be put back: files, queues, pools, clients."""

import concurrent.futures
import io
import os
import queue
import threading
from collections.abc import Callable, Iterator
from multiprocessing.managers import BaseProxy
from types import AsyncGeneratorType
from typing import Any
from xml.etree.ElementTree import Element

from ..shared_state.positions import state_of
from .bearing import OF_ALL
from .owners import package_of
from .reachable import APART, OF_THREADS
from .values import is_plain

_Ask = Callable[[Any], object]

_CLIENTS = frozenset({"httpx", "requests", "aiohttp", "niquests"})
"""Libraries of clients, by their names."""
_OF_CLIENTS = frozenset({"cookies", "headers", "params", "auth", "base_url"})
"""What a client keeps between its requests, and code may ask it for."""


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
"""How code finds out in which state a lock or a queue is."""


def asked_of(thing: object, named: frozenset[str]) -> Iterator[_Ask]:
    """Yields what a thing is to be asked, before a run and after it. ``named``: the names in an
    application's code."""
    for kinds, ask in _ASKED:
        # Not isinstance: an object of the user's may answer anything when asked for its class.
        if issubclass(type(thing), kinds):
            yield ask
    if package_of(thing) in OF_THREADS and not issubclass(type(thing), APART) and _tells(thing, named):
        yield state_of
    if package_of(thing) in _CLIENTS:
        yield lambda client: _of_a_client(client, named)
    if "__subclasses__" in named and issubclass(type(thing), type):
        yield lambda kind: len(type.__subclasses__(kind))


def _tells(thing: Any, named: frozenset[str]) -> bool:
    """Returns whether code may find in which state it is. A lock that code only enters is as it was when
    the run is over, and so is another thread's affair; what is only put into a queue is found by nobody
    here."""
    if named & OF_ALL or (getattr(thing, "maxsize", 0) and "put" in named):
        return True
    return all(named & readers for kinds, readers in _READERS if issubclass(type(thing), kinds))


def answer_of(thing: object, ask: _Ask) -> object:
    """Returns what a thing tells; None where it raises."""
    try:
        return ask(thing)
    except Exception:  # it may be closed, detached, or gone
        return None


def _of_a_file(thing: Any) -> object:
    """Returns the size and time of a file that is open to be read and written; nothing of another one."""
    if thing.closed or "+" not in str(getattr(thing, "mode", "")):
        return None
    known = os.fstat(thing.fileno())
    return known.st_size, known.st_mtime_ns, thing.tell() if thing.seekable() else 0


def _of_a_client(thing: Any, named: frozenset[str]) -> object:
    names = ("is_closed", "closed", *sorted(_OF_CLIENTS & named))
    return [repr(getattr(thing, name, None)) for name in names]


def _of_a_generator(thing: Any) -> object:
    frame = thing.ag_frame
    if frame is None:
        return "ended"
    return frame.f_lasti, {name: each for name, each in frame.f_locals.items() if is_plain(each)}


def _of_an_element(thing: Any) -> object:
    return thing.tag, thing.text, thing.tail, dict(thing.attrib), len(thing)


_ASKED: tuple[tuple[Any, _Ask], ...] = (
    (io.IOBase, lambda thing: thing.closed),
    ((io.TextIOWrapper, io.BufferedRandom, io.FileIO), _of_a_file),
    (BaseProxy, str),
    (AsyncGeneratorType, _of_a_generator),
    (Element, _of_an_element),
    # Nothing public tells that it takes no more jobs.
    (concurrent.futures.Executor, lambda thing: thing._shutdown),
)
