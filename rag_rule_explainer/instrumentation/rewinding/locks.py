"""This module recognises the locks of libraries, such as a ``FileLock``.

Whether such a lock is held is known to the operating system or to another process. Were the attributes of
a lock that is held restored to those of a free one, the next ``acquire`` would wait for ever.
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
    """Returns True iff the object is a lock of a library, or an object of a library or a collection that
    belongs to one."""
    each: Node | None = node
    while each is not None and (each.owner is Owner.LIBRARY or each.is_passed_by):
        if each.owner is Owner.LIBRARY and _is_a_lock(type(each.thing)):
            return True
        each = each.holder
    return False


def is_read_lock(thing: object, named: frozenset[str]) -> bool:
    """Returns True iff the object is a lock that the code may find held. ``named``: the names in the
    code. Code that only enters a lock, by ``with``, finds it free in each run."""
    return bool(named & _ACQUIRING) and _is_a_lock(type(thing))


def state_of_lock(thing: object) -> object:
    """Returns whether a lock is held: the property ``is_locked`` if there is one; otherwise, which
    attributes of the lock, and of the objects that it holds, have a value. No method is called, because
    it may ask a server."""
    if isinstance(getattr(type(thing), "is_locked", None), property):
        return bool(getattr(thing, "is_locked", None))
    return [_set_in(each) for each in (thing, *_attributes_of(thing).values())]


def _set_in(thing: object) -> dict[str, bool]:
    held = _attributes_of(thing)
    return {name: value is not None and value is not False for name, value in held.items()}


def _attributes_of(thing: object) -> dict[str, Any]:
    found: Any = getattr(thing, "__dict__", None)
    return dict(found) if isinstance(found, DICT) else {}
