"""This module recognises the locks of libraries, such as a ``FileLock``.

Only the operating system or another process knows whether such a lock is held. So the attributes of a
lock must not be restored: if a held lock got the attributes of a free lock, the next ``acquire`` would
wait for ever.
"""

from typing import Any

from ..shared_state.per_class import per_class
from .owners import Node, Owner
from .values import DICT

_ACQUIRING = frozenset({"acquire", "is_locked", "locked"})
"""The names by which code learns whether a lock is held."""


@per_class
def _is_a_lock(kind: type) -> bool:
    return all(callable(getattr(kind, name, None)) for name in ("acquire", "release", "__enter__"))


def is_of_a_lock(node: Node) -> bool:
    """Returns True iff the object is a lock of a library, or a library's object or a collection inside
    such a lock."""
    each: Node | None = node
    while each is not None and (each.owner is Owner.LIBRARY or each.is_passed_by):
        if each.owner is Owner.LIBRARY and _is_a_lock(type(each.thing)):
            return True
        each = each.holder
    return False


def is_read_lock(thing: object, named: frozenset[str]) -> bool:
    """Returns True iff the object is a lock, and the application's code may ask whether the lock is held.
    Only then may the state of the lock influence a run: code that only enters a lock, by ``with``, finds
    the lock free at the beginning of each run. ``named``: all names in the application's code."""
    return bool(named & _ACQUIRING) and _is_a_lock(type(thing))


def state_of_lock(thing: object) -> object:
    """Returns whether a lock is held: the value of the property ``is_locked``, if there is one. Otherwise
    returns which attributes of the lock, and of the objects in it, have a value. Calls no method, because
    a method may ask a server."""
    if isinstance(getattr(type(thing), "is_locked", None), property):
        return bool(getattr(thing, "is_locked", None))
    return [_set_in(each) for each in (thing, *_attributes_of(thing).values())]


def _set_in(thing: object) -> dict[str, bool]:
    held = _attributes_of(thing)
    return {name: value is not None and value is not False for name, value in held.items()}


def _attributes_of(thing: object) -> dict[str, Any]:
    found: Any = getattr(thing, "__dict__", None)
    return dict(found) if isinstance(found, DICT) else {}
