"""This module remembers state that an explanation left on objects and that influences runs.

A later explanation would find that state from the beginning, so that all of its runs would agree.
"""

import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import ref

from .snapshot import KeptPart
from .values import ABSENT, DICT, LISTED, SET, is_plain

_lock = threading.Lock()
_LONG_LIVED: Any = (ContextVar,)
"""Types that allow no weak reference, and whose objects usually live as long as the process."""


@dataclass(frozen=True, slots=True)
class _Left:
    """A ``_Left`` is state that was left on an object. ``values``: stand-ins for the values, by name;
    ``place``: words for the object and name."""

    holder: Callable[[], Any]
    values: dict[str, Any]
    place: str


_known: dict[int, _Left] = {}


def remember_left(kept: KeptPart, names: tuple[str, ...], place: str) -> None:
    """Notes the values that a part holds now under these names, or all its values without names."""
    key = id(kept.node.thing)

    def forget(reference: "ref[Any]") -> None:
        # The garbage collector may call this at any point, so no lock can be taken.
        found = _known.get(key)
        if found is not None and found.holder is reference:
            _known.pop(key, None)

    owner: Any = kept.node.object()
    try:
        holder: Callable[[], Any] = ref(owner, forget)
    except TypeError:
        if not isinstance(owner, _LONG_LIVED):
            return  # some objects allow no weak reference

        def holder() -> Any:
            return owner

    with _lock:
        _known[key] = _Left(holder, _values(kept.now(), names), place)


def remembered(kept: Iterable[KeptPart]) -> str:
    """Returns the first place that still holds the state of an earlier explanation; empty for none."""
    if not _known:
        return ""
    with _lock:
        for each in kept:
            found = _known.get(id(each.node.thing))
            if found is None or found.holder() is not each.node.object():
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
    """Returns a comparable stand-in for a value that keeps no object alive."""
    if is_plain(value):
        return value
    if isinstance(value, DICT):
        return {key if is_plain(key) else id(key): _by_itself(each) for key, each in value.items()}
    if isinstance(value, (*LISTED, SET, frozenset)):
        return sorted(repr(_by_itself(each)) for each in value)
    return id(value)


def _by_itself(value: Any) -> Any:
    return value if is_plain(value) else id(value)
