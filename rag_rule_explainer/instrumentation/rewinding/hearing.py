"""This module finds threads of the user's code that may receive data from the runs of an application.

Often no object of the application refers to such a thread. But a run may send data to the thread, for
example by a queue that both use. The thread may keep the data in its local variables and give them to a
later run. A thread that receives no data from runs, such as a thread that writes statistics, is left out:
it changes its variables all the time, but these changes do not influence the application.
"""

import re
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from logging import Filterer
from threading import Thread
from threading import enumerate as enumerate_threads
from types import FrameType, FunctionType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.contents import names_in
from .companies import is_of_own
from .foreign_attributes import names_set_in
from .going_on import frames_of, own_frames
from .named import WHOLE_NAMESPACES, globals_set_in
from .owners import Node
from .reachable import Reachable

_OF_ALL: Any = (FunctionType, type, tuple, frozenset, re.Pattern, Enum)
"""Types whose objects are often shared by many threads and do not change, such as functions and
classes. If a thread and the application share only such an object, no data can pass between them by
this object."""
_READING = frozenset(
    {
        *(
            "accept",
            "recv",
            "recvfrom",
            "recv_into",
            "recv_bytes",
            "read",
            "readinto",
            "readline",
            "poll",
        ),
        *("readlines", "read_text", "read_bytes", "select", "open_connection", "urlopen", "communicate"),
        *(
            "execute",
            "fetchone",
            "fetchall",
            "environ",
            "getenv",
            "listdir",
            "iterdir",
            "scandir",
            "glob",
        ),
        *("exists", "is_file", "stat", "sigwait", "connect", "loads", "load"),
    }
)
"""Names of functions and variables by which a thread may receive data from a run without a shared object:
over a socket, a pipe, a file, a database or the environment."""
_SENDING = frozenset(
    {
        *(
            "open",
            "write",
            "write_text",
            "write_bytes",
            "send",
            "sendall",
            "sendto",
            "putenv",
            "post",
            "kill",
        ),
        *("touch", "unlink", "mkdir", "rename", "dump", "save", "httpx", "requests", "aiohttp", "socket"),
    }
)
"""Names of functions and modules by which a run may send data over a socket, a pipe, a file, a database
or the environment."""
_SETTING = WHOLE_NAMESPACES | {"setattr"}
"""Names by which code can set globals and attributes whose names do not appear in the code."""
_GETTING = WHOLE_NAMESPACES | {"getattr", "attrgetter"}
"""Names by which code can read globals and attributes whose names do not appear in the code."""
_EXPLAINING = frozenset({"rag_rule_explainer.instrumentation.call", "rag_rule_explainer.explainer"})
"""The modules whose functions are on a thread's call stack while the thread waits for an explanation."""


def threads_that_may_hear(application: Reachable) -> Iterator[Thread]:
    """Yields the living threads of the user's code that may receive data from runs of the application.
    Leaves out threads that only wait for an explanation."""
    for thread in enumerate_threads():
        target = getattr(thread, "_target", None)  # a thread deletes its ``_target`` when it ends
        if not (is_of_own(thread) or (target is not None and is_of_own(_function_of(target)))):
            continue
        if not tells_nothing(thread) and _may_hear(thread, own_frames(thread), application):
            yield thread


def tells_nothing(thing: object) -> bool:
    """Returns True iff the object is a thread that cannot pass data between runs: a thread that has
    ended, because its local variables no longer exist, or a thread that waits for an explanation."""
    return isinstance(thing, Thread) and not (
        thing.is_alive()
        and all(each.f_globals.get("__name__") not in _EXPLAINING for each in frames_of(thing))
    )


def _function_of(target: Any) -> Any:
    return getattr(target, "__func__", target)


def _may_hear(thread: Thread, frames: list[FrameType], application: Reachable) -> bool:
    held = Reachable([vars(thread).copy(), type(thread), *chain.from_iterable(map(_used_by, frames))])
    codes = [*(own_code(node.thing) for node in held.functions), *(each.f_code for each in frames)]
    names = frozenset(name for code in codes for name in names_in(code))
    known = {id(node.thing) for node in application.nodes if not _is_of_all(node)}
    if any(id(node.thing) in known and not _is_of_all(node) for node in held.nodes):
        return True
    own, set_by_it = _names_in(application), _names_set_by(application)
    if names & set_by_it or own & _SETTING or (set_by_it and names & _GETTING):
        return True
    return bool(names & _READING and own & (_READING | _SENDING))


def _used_by(frame: FrameType) -> Iterator[Any]:
    """Yields the local variables of a function call, and the globals whose names its code contains."""
    yield frame.f_locals.copy()
    held = frame.f_globals.copy()
    yield {name: held[name] for name in set(names_in(frame.f_code)) & held.keys()}


def _is_of_all(node: Node) -> bool:
    """Returns True iff no data can pass between two threads by this object, although both use it. The
    types in ``_OF_ALL``, such as functions, are such objects. A logger and all objects to which it refers
    are too, because many threads use the same logger."""
    if issubclass(type(node.thing), _OF_ALL):
        return True
    each: Node | None = node
    while each is not None:
        if issubclass(type(each.thing), Filterer) and not is_of_own(each.thing):
            return True
        each = each.holder
    return False


def _names_set_by(application: Reachable) -> frozenset[str]:
    """Returns the names of the globals and attributes that the application's code sets. Attributes of
    classes and modules are included."""
    found = set[str]()
    for node in application.functions:
        found |= globals_set_in(own_code(node.thing)) | names_set_in(own_code(node.thing))
    return frozenset(found)


def _names_in(application: Reachable) -> frozenset[str]:
    return frozenset(name for node in application.functions for name in names_in(own_code(node.thing)))
