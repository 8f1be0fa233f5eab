"""This module finds threads of the user's to which the runs of an application may tell something.

Often no object of the application refers to such a thread. But if it hears of a run, by a queue or by
another object that both use, it may keep that in its local variables and tell it to a later run. A
thread that hears of no run, such as one that writes statistics, changes its variables all the time, and
this says nothing about the application.
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
"""Types whose objects many threads use, and which nobody fills. What such an object refers to is looked
at by itself."""
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
"""Names by which code may hear of a run although both share no object: over a socket, a pipe, a file, a
database or the environment."""
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
"""Names by which code may tell something in these ways."""
_SETTING = WHOLE_NAMESPACES | {"setattr"}
"""Names by which code sets globals and attributes without naming them."""
_GETTING = WHOLE_NAMESPACES | {"getattr", "attrgetter"}
"""Names by which code reads globals and attributes without naming them."""
_EXPLAINING = frozenset({"rag_rule_explainer.instrumentation.call", "rag_rule_explainer.explainer"})
"""The modules whose functions run in a thread as long as it waits for an explanation."""


def threads_that_may_hear(application: Reachable) -> Iterator[Thread]:
    """Yields the living threads of the user's to which runs of an application may tell something, and
    which do not only wait for an explanation."""
    for thread in enumerate_threads():
        target = getattr(thread, "_target", None)  # a thread deletes its ``_target`` when it ends
        if not (is_of_own(thread) or (target is not None and is_of_own(_function_of(target)))):
            continue
        if not tells_nothing(thread) and _may_hear(thread, own_frames(thread), application):
            yield thread


def tells_nothing(thing: object) -> bool:
    """Returns True iff the object is a thread that has ended, whose local variables no longer exist, or
    one that waits for an explanation."""
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
    """Yields the local variables of a function call, and the globals that its code names."""
    yield frame.f_locals.copy()
    held = frame.f_globals.copy()
    yield {name: held[name] for name in set(names_in(frame.f_code)) & held.keys()}


def _is_of_all(node: Node) -> bool:
    """Returns True iff an object says nothing of what two threads tell each other: see ``_OF_ALL``. A
    logger is used by many threads too, with all that it refers to."""
    if issubclass(type(node.thing), _OF_ALL):
        return True
    each: Node | None = node
    while each is not None:
        if issubclass(type(each.thing), Filterer) and not is_of_own(each.thing):
            return True
        each = each.holder
    return False


def _names_set_by(application: Reachable) -> frozenset[str]:
    """Returns the names of the globals and of the attributes that the application's code sets, of classes
    and modules, for example."""
    found = set[str]()
    for node in application.functions:
        found |= globals_set_in(own_code(node.thing)) | names_set_in(own_code(node.thing))
    return frozenset(found)


def _names_in(application: Reachable) -> frozenset[str]:
    return frozenset(name for node in application.functions for name in names_in(own_code(node.thing)))
