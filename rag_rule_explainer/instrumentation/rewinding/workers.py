"""This module finds processes to which the application gives work: processes that were started before the
first run, and processes that a run starts.

The state that such a process keeps from one run to the next cannot be read or restored from this process.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterable
from multiprocessing import active_children
from multiprocessing.managers import BaseProxy
from multiprocessing.process import BaseProcess
from typing import Any

from .companies import is_of_own

_OF_A_POOL = "PoolWorker"
"""A part of the names of the processes of a ``multiprocessing.Pool``, by which they are recognised."""
_DEFAULT_TEXT = " object at 0x"
"""A part of the text that ``str()`` returns for an object whose class does not define ``__str__``. If
``str()`` of a proxy of ``multiprocessing`` contains this text, it does not show the content of the
proxy's object, so changes of the content cannot be noticed."""
_CHANNELS = (
    *(("multiprocessing.connection", "_ConnectionBase"), ("multiprocessing.queues", "Queue")),
    ("multiprocessing.queues", "SimpleQueue"),
)
"""The classes by which code talks to a process that ``multiprocessing`` started, each with its module."""


_BEGINNING = frozenset(
    {"fork", "forkpty", "spawnl", "spawnle", "spawnlp", "spawnv", "spawnve", "spawnvp"}
)
"""Names of functions of ``os`` that start a process. It cannot be observed which files such a process
uses."""
_WRITING = frozenset(
    {
        *("write_text", "write_bytes", "touch", "mkdir", "makedirs", "symlink", "symlink_to", "rename"),
        *(
            "unlink",
            "connect",
            "shelve",
            "dbm",
            "dump",
            "save",
            "savez",
            "to_csv",
            "to_json",
            "to_pickle",
        ),
        *("to_parquet", "mkfifo", "truncate", "copy2", "copyfile", "SharedMemory"),
    }
)
"""Names of functions that write files."""
_MODE = re.compile(r"[rwax+bt]*[wax+][rwax+bt]*")
"""Matches the mode of a file that is opened for writing."""


def processes_begun() -> object:
    """Returns a value that changes whenever this process starts another process by
    ``multiprocessing``."""
    # A private counter is read, because no public counter or list includes the processes that have ended.
    return repr(getattr(sys.modules.get("multiprocessing.process"), "_process_counter", None))


def begun_to_write(named: frozenset[str], texts: Iterable[str], *, has_begun: bool) -> str:
    """Returns a name, for messages, of a process that a run starts and that may keep state in a file;
    empty if there is none.

    ``named``, ``texts``: the names and the string constants in the application's code. ``has_begun``:
    True if runs started a process by ``multiprocessing``.
    """
    by_name = min(_BEGINNING & named, default="")
    if not (has_begun or by_name):
        return ""
    if not named & _WRITING and not ("open" in named and any(map(_MODE.fullmatch, texts))):
        return ""
    begun = f"a process of {by_name}()" if by_name else "a process of multiprocessing"
    return f"{begun}, which a run begins and whose files cannot be seen"


def worker_in(things: Collection[object], writes: Callable[[], bool]) -> str:
    """Returns a name, for messages, of a process in which a run may leave state; empty if there is none.

    ``things``: the objects that are reachable from the application. ``writes``: returns True iff the
    application's code writes to state that all runs share. The processes of a pool run the application's
    code. If this code writes nothing, no state can stay in these processes.
    """
    # The application's thousands of objects have few classes, so each class is checked once. The ``id()``
    # identifies a class, because a metaclass of the user's may define no hash.
    kinds = {id(type(each)): type(each) for each in things}.values()
    pools = [each for each in pools_in(things) if _processes_of(each)]
    known = pool_at_work(pools, writes)
    if known:
        return known
    if any(map(_is_of_channels, kinds)):
        working = [each for pool in pools for each in _processes_of(pool)]
        others = [each for each in active_children() if each not in working]
        name = next((each.name for each in others if _is_an_actor(each)), "")
        if name:
            return f"the process {name}, which began before the run"
    proxies = (each for each in things if issubclass(type(each), BaseProxy))
    hidden = next((each for each in proxies if _DEFAULT_TEXT in str(each)), None)
    return (
        "" if hidden is None else f"the process of {type(hidden).__name__}, an object in another process"
    )


def pools_in(things: Collection[object]) -> list[Any]:
    """Returns the pools of processes among these objects."""
    kinds = {id(type(each)): type(each) for each in things}.values()
    of_pools = {id(kind) for kind in kinds if _is_of_pools(kind)}
    return [each for each in things if id(type(each)) in of_pools] if of_pools else []


def pool_at_work(pools: Iterable[Any], writes: Callable[[], bool]) -> str:
    """Returns a name, for messages, of a pool whose processes go on from run to run and may keep state;
    empty if there is none. ``writes``: as for ``worker_in``."""
    pool = next((each for each in pools if _processes_of(each)), None)
    if pool is None or not writes():
        return ""
    return f"the processes of {type(pool).__name__}, which go on from run to run"


def _is_of_pools(kind: type) -> bool:
    """Returns True iff the objects of a class are pools of processes."""
    if issubclass(kind, _class_at("multiprocessing.pool", "ThreadPool")):
        return False
    return issubclass(kind, (*_class_at("multiprocessing.pool", "Pool"), *_executors()))


def _processes_of(pool: Any) -> list[Any]:
    """Returns the processes of a pool; empty if the pool has started none yet."""
    if issubclass(type(pool), _executors()):
        return [*(pool._processes or {}).values()]
    return [*(pool._pool or ())]


def _executors() -> tuple[type, ...]:
    return _class_at("concurrent.futures.process", "ProcessPoolExecutor")


def _is_of_channels(kind: type) -> bool:
    return any(issubclass(kind, _class_at(*each)) for each in _CHANNELS)


def _is_an_actor(process: BaseProcess) -> bool:
    """Returns True iff the user's code started this process by ``multiprocessing``, so that it may send
    messages to the process. Returns False for the processes of a pool, and for processes of other
    libraries."""
    return _OF_A_POOL not in process.name and (
        is_of_own(process) or str(type(process).__module__).startswith("multiprocessing")
    )


def _class_at(module: str, name: str) -> tuple[type, ...]:
    """Returns a tuple that contains the class, for ``issubclass``; an empty tuple if the module of the
    class is not loaded."""
    found = getattr(sys.modules.get(module), name, None)
    return (found,) if isinstance(found, type) else ()
