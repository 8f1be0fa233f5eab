"""This module finds servers that run in a thread of this process, and the state of the user's code behind
them.

The application reaches such a server over the network, so a search of the application's objects may not
find the server. Even a request that only reads data may change the server's state.
"""

import gc
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from threading import enumerate as enumerate_threads
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ...probing.whose import is_named_as_ours
from ..copies.guarded_code import own_code
from ..shared_state.files import Left
from ..shared_state.name_reads import reads
from ..shared_state.reaching import is_ours
from .companies import is_of_own
from .snapshot import KeptPart, Snapshot

_MOST = 3000
_HERE = ("127.0.0.1", "localhost", "[::1]")
"""The beginnings of the names of services that may run in this process."""
_ENDINGS = ("Server", "server")
_ENDS = (FunctionType, type, ModuleType, Thread, FrameType)


class OwnServers:
    """An ``OwnServers`` stores, when it is made, the state behind the servers that run in threads of this
    process."""

    def __init__(self) -> None:
        found = [*served_by_threads()]
        self._snapshot = Snapshot(found) if found else None

    def left(self, asked: str) -> Iterator[Left]:
        """Yields each change, since this object was made, of state that a server's code may read.
        ``asked``: the names of the services to which requests were sent during runs. If none of these
        services can run in this process, nothing is yielded."""
        if self._snapshot is None or not any(each in asked for each in _HERE):
            return
        for kept in self._snapshot.kept:
            try:
                # During a run, patches of this package replace some of the user's objects. Such a
                # difference is no change of the application's state.
                changed = [name for name in kept.changed() if not any(map(is_ours, kept.values(name)))]
                names = [name for name in changed if self._is_read(kept, name)]
            except Exception:  # noqa: S112 -- an object of the user's may raise any error when read
                continue
            if names:
                place = names[0] or next(iter(kept.node.names()), "") or type(kept.node.thing).__name__
                clause = f"a server in this process was asked, and {place!r} behind it is another one now"
                yield Left(place, clause)

    def _is_read(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff code behind a server reads the value ``name`` of the object in ``kept``.
        Functions that no code names are searched too, because a server calls such methods as
        ``do_GET``."""
        functions = () if self._snapshot is None else self._snapshot.functions
        names = {*kept.node.names(), *filter(None, [name])}
        return any(
            reads(own_code(node.thing), each, in_texts=True) for node in functions for each in names
        )


def served_by_threads() -> Iterator[Any]:
    """Yields the user's own functions, classes and objects behind the servers that run in threads of this
    process."""
    for thread in enumerate_threads():
        for each in _run_by(thread):
            if any(kind.__name__.endswith(_ENDINGS) for kind in type(each).__mro__):
                yield from _own_behind(each)


def _run_by(thread: Thread) -> Iterator[Any]:
    """Yields the objects that a thread uses: the object of the method that it runs (None for a function),
    the enclosed variables of its function, and the function's arguments."""
    # A thread deletes ``_target`` and ``_args`` when it ends, so they may be missing.
    target: Any = getattr(thread, "_target", None)
    yield getattr(target, "__self__", None)
    yield from getattr(thread, "_args", ())
    for cell in getattr(target, "__closure__", None) or ():
        with suppress(ValueError):  # the enclosed variable has no value yet
            yield cell.cell_contents


def _own_behind(server: Any) -> Iterator[Any]:
    waiting, seen = [server], set[int]()
    while waiting and len(seen) < _MOST:
        thing = waiting.pop(0)
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if is_of_own(thing) and not is_named_as_ours(str(type(thing).__module__)):
            yield thing
        elif not isinstance(thing, _ENDS):
            waiting += gc.get_referents(thing)
