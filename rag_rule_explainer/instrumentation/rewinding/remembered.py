"""This module remembers state that the runs of one explanation left on objects and that influences runs.

All runs of a later explanation find this state from the beginning, so they agree with each other. Without
this module, the influence would not be noticed.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .before_earlier import comparable_form, weakly
from .snapshot import KeptPart
from .values import ABSENT, DICT

_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Left:
    """A ``_Left`` describes the state that runs left on one object.

    ``holder``: returns the object, or None if it no longer exists. ``values``: for each name, a form of
    the value that is equal for equal values and keeps no object alive. ``place``: the name of the object
    and the attribute in messages, such as ``Cache.entries``.
    """

    holder: Callable[[], Any]
    values: dict[str, Any]
    place: str


_known: dict[int, _Left] = {}


def remember_left(kept: KeptPart, names: tuple[str, ...], place: str) -> None:
    """Remembers the current values of these names in the object of ``kept``; if ``names`` is empty,
    remembers its whole content. ``place``: the name of the object in messages."""
    key = id(kept.node.thing)

    def forget(reference: object) -> None:
        # The garbage collector may call this function while the same thread holds the lock, so this
        # function must not wait for the lock.
        found = _known.get(key)
        if found is not None and found.holder is reference:
            _known.pop(key, None)

    holder = weakly(kept.node.object(), forget)
    if holder is None:
        return  # Some objects allow no weak reference.
    with _lock:
        _known[key] = _Left(holder, _values(kept.now(), names), place)


def remembered(kept: Iterable[KeptPart], is_named: Callable[[str], bool]) -> str:
    """Returns the ``place`` of the first object that still has the content that an earlier explanation
    left; an empty text if there is none. ``kept``: the objects, each with its content.

    ``is_named``: returns True iff the application's code contains this name. Many applications use the
    same library, but each reads only some of the library's names.
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
            if _values(each.as_found, tuple(filter(None, found.values))) == found.values:
                return found.place
    return ""


def _values(content: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not names:
        return {"": comparable_form(content)}
    held: dict[str, Any] = content if isinstance(content, DICT) else {}
    return {name: comparable_form(held.get(name, ABSENT)) for name in names}
