"""This module remembers state that the runs of one explanation left on objects, and that influences runs.

A later explanation would find this state in all its runs from the beginning. These runs would agree with
each other, so the influence would not be noticed.
"""

import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from weakref import ref

from .snapshot import KeptPart
from .values import ABSENT, DICT, LISTED, SET, is_plain

_lock = threading.Lock()
_LONG_LIVED: Any = (ContextVar,)
"""Types that allow no weak references to their objects. Such objects usually live as long as the process.
"""


@dataclass(frozen=True, slots=True)
class _Left:
    """A ``_Left`` describes the state that runs left on one object.

    ``holder``: a function that returns the object that has the state; None if the object no longer
    exists. ``values``: the values by name, each in a form that can be compared later (see
    ``_standing_for``). ``place``: the name of the state in messages, such as ``Cache.entries``.
    """

    holder: Callable[[], Any]
    values: dict[str, Any]
    place: str


_known: dict[int, _Left] = {}


def remember_left(kept: KeptPart, names: tuple[str, ...], place: str) -> None:
    """Remembers the current values of these names in the object of ``kept``; if ``names`` is empty, its
    whole content. ``place``: the name of the object in messages."""
    key = id(kept.node.thing)

    def forget(reference: "ref[Any]") -> None:
        # The garbage collector may call this while the same thread holds the lock, so the lock cannot be
        # taken.
        found = _known.get(key)
        if found is not None and found.holder is reference:
            _known.pop(key, None)

    owner: Any = kept.node.object()
    try:
        holder: Callable[[], Any] = ref(owner, forget)
    except TypeError:
        if not isinstance(owner, _LONG_LIVED):
            return  # Some objects allow no weak reference.

        def holder() -> Any:
            return owner

    with _lock:
        _known[key] = _Left(holder, _values(kept.now(), names), place)


def remembered(kept: Iterable[KeptPart], is_named: Callable[[str], bool]) -> str:
    """Returns the ``place`` of the first object whose content is still the one that an earlier
    explanation left; an empty text if there is none. ``kept``: the objects, each with its content.

    ``is_named``: returns True iff the application's code contains this name. Many applications use the
    same library, and each reads only some of the library's names.
    """
    if not _known:
        return ""
    with _lock:
        for each in kept:
            found = _known.get(id(each.node.thing))
            if found is None or found.holder() is not each.node.object():
                continue
            if isinstance(each.node.thing, ModuleType) and not any(map(is_named, found.values)):
                continue
            if _values(each.content, tuple(filter(None, found.values))) == found.values:
                return found.place
    return ""


def _values(content: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not names:
        return {"": _standing_for(content)}
    held: dict[str, Any] = content if isinstance(content, DICT) else {}
    return {name: _standing_for(held.get(name, ABSENT)) for name in names}


def _standing_for(value: Any) -> Any:
    """Returns a comparable form of the value: equal values have equal forms. The form keeps no object
    alive, because it has the ``id()`` of an object in place of the object."""
    if is_plain(value):
        return value
    if isinstance(value, DICT):
        return {key if is_plain(key) else id(key): _by_itself(each) for key, each in value.items()}
    if isinstance(value, (*LISTED, SET, frozenset)):
        return sorted(repr(_by_itself(each)) for each in value)
    return id(value)


def _by_itself(value: Any) -> Any:
    return value if is_plain(value) else id(value)
