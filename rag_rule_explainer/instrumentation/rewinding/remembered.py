"""Objects of which an explanation has found that runs go by what earlier ones left there.

A later explanation would find them as that one has left them, and all of its runs would agree.
"""

import threading
from collections.abc import Iterable
from typing import Any
from weakref import ref

_lock = threading.Lock()
_known: dict[int, tuple["ref[Any]", str]] = {}


def remember(things: Iterable[Any], told: str) -> None:
    """Notes this of objects, as long as they are there. ``told``: which places of them, in words."""
    for thing in things:
        try:
            reference = ref(thing, _forgotten(id(thing)))
        except TypeError:  # not every object can be referred to weakly
            continue
        with _lock:
            _known[id(thing)] = (reference, told)


def remembered(things: Iterable[Any]) -> str:
    """Returns what was noted of the first of these objects of which anything was; empty for nothing."""
    if not _known:
        return ""
    with _lock:
        for thing in things:
            found = _known.get(id(thing))
            if found is not None and found[0]() is thing:
                return found[1]
    return ""


def _forgotten(key: int) -> Any:
    def forget(reference: "ref[Any]") -> None:
        # No lock: it may be the collector that calls, in the middle of anything.
        found = _known.get(key)
        if found is not None and found[0] is reference:
            _known.pop(key, None)

    return forget
