"""This module remembers which values the runs of earlier explanations changed on objects: the values
before these runs, and the values that the runs left.

A later explanation begins with the values that the earlier runs left. All runs of the later explanation
find these values, so they agree with each other even if the values influence them. The influence shows
only in a replay that starts with the values from before all explanations.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

from ..copies.live import entries_now, members_now, unchanged
from .values import ABSENT, DICT, LISTED, SET, is_plain

_MOST = 500
"""The maximum number of objects whose earlier values are stored. Above it, those stored first are
dropped."""
_MOST_ALIVE = 100
"""The maximum number of stored objects that allow no weak references, and so are kept alive. Above it,
those stored first are dropped."""
_LONG_LIVED: Any = (ContextVar,)
"""Types that allow no weak references to their objects. Such objects usually live as long as the process.
"""

MISSING = object()
"""``MISSING`` stands for the earlier value of a name that did not exist at that time. (``ABSENT`` stands
for an empty slot: the slot exists, but has no value.)"""

_lock = threading.RLock()


@dataclass(slots=True, eq=False)
class _Before:
    """A ``_Before`` has the values of one object from before the runs that changed them.

    ``holder``: returns the object, or, for a collection, the object that refers to it; None if it no
    longer exists. ``values``: for each name, the earlier value, and the value that the runs left, in a
    form that is equal for equal values and keeps no object alive."""

    holder: Callable[[], Any]
    values: dict[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])


_known: dict[int, _Before] = {}
_caches: WeakKeyDictionary[Any, tuple[int, int]] = WeakKeyDictionary()
"""For each cache of ``functools`` that runs have filled: the number of its entries before these runs, and
the number after them."""
_modules: WeakValueDictionary[str, ModuleType] = WeakValueDictionary()
"""The modules that runs have added to ``sys.modules``, by name."""


def note_before(thing: object, holder: object, values: Mapping[str, tuple[Any, Any]]) -> None:
    """Stores the values that an object had before runs changed them, for later explanations.

    ``thing``: the object. ``holder``: the object to which ``thing`` belongs if ``thing`` is a collection;
    otherwise ``thing`` itself. ``values``: for each name, the earlier value (``ABSENT`` or ``MISSING`` if
    there was none) and the present value; an empty name stands for the whole content.
    """
    key = id(thing)
    refers = weakly(holder, lambda gone: _forget(key, gone)) or partial(_itself, holder)
    with _lock:
        known = _known.pop(key, None)
        if known is None or known.holder() is not holder:
            known = _Before(refers)
        known.values.update({name: (was, comparable_form(now)) for name, (was, now) in values.items()})
        _known[key] = known


def drop_oldest() -> None:
    """Drops the values that were stored first, if there are more than ``_MOST`` or ``_MOST_ALIVE``
    allow."""
    with _lock:
        # An object may cease to exist meanwhile, and ``_forget`` takes no lock.
        alive = [key for key, each in _known.copy().items() if isinstance(each.holder, partial)]
        for key in (*alive[:-_MOST_ALIVE], *[*_known][:-_MOST]):
            _known.pop(key, None)


def has_earlier(thing: object) -> bool:
    """Returns False only if ``before_earlier`` returns nothing for this object."""
    return id(thing) in _known


def before_earlier(thing: object, holder: object, now: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values that an object had before the runs of earlier explanations, by name; ``ABSENT``
    or ``MISSING`` for values that did not exist. Contains only names whose present values are still those
    that these runs left.

    ``thing``: the object. ``holder``: the object to which ``thing`` belongs if ``thing`` is a collection;
    otherwise ``thing`` itself. ``now``: the present values by name; an empty name stands for the whole
    content.
    """
    found = _known.get(id(thing))
    if found is None:
        return {}
    with _lock:
        if found.holder() is not holder:
            return {}
        return {
            name: was
            for name, (was, left) in found.values.items()
            if comparable_form(now.get(name, ABSENT)) == left
        }


def note_filled(cached: Any, before: int) -> None:
    """Stores, for later explanations, the number of entries that a cache of ``functools`` had before runs
    filled it."""
    _caches[cached] = (before, cached.cache_info().currsize)


def size_before_earlier(cached: Any) -> int:
    """Returns the number of entries that a cache of ``functools`` had before runs of earlier explanations
    filled it. If the cache has changed since these runs, returns the present number."""
    now: int = cached.cache_info().currsize
    before, left = _caches.get(cached, (now, now))
    return before if left == now else now


def note_modules(names: Iterable[str]) -> None:
    """Stores, for later explanations, which modules runs have added. ``names``: the names of these
    modules in ``sys.modules``."""
    for name in names:
        with suppress(TypeError, KeyError):  # a package may put any object into ``sys.modules``
            _modules[name] = sys.modules[name]


def modules_before_earlier() -> frozenset[str]:
    """Returns the names of the loaded modules, without those that runs of earlier explanations have
    added."""
    modules = unchanged(lambda: dict(_modules))
    known = {name: each for name, each in modules.items() if sys.modules.get(name) is each}
    loaded = frozenset(sys.modules)
    return loaded - known.keys() if known else loaded


def _itself(thing: Any) -> Any:
    return thing


def weakly(thing: Any, forget: Callable[[Any], None]) -> Callable[[], Any] | None:
    """Returns a function that returns ``thing`` as long as it exists, and None afterwards. Returns None
    instead of a function if ``thing`` allows no weak reference. ``forget``: is called with the weak
    reference as soon as ``thing`` no longer exists."""
    try:
        return ref(thing, forget)
    except TypeError:
        return (lambda: thing) if isinstance(thing, _LONG_LIVED) else None


def _forget(key: int, gone: object) -> None:
    # The garbage collector may call this while another thread holds the lock, so the lock is not taken.
    # While Python shuts down, the globals of this module are None, and this may still be called.
    found = _known.get(key) if _known else None
    if found is not None and found.holder is gone:
        _known.pop(key, None)


def comparable_form(value: Any) -> Any:
    """Returns a form of the value for comparisons: equal values have equal forms. The form contains the
    ``id()`` of an object instead of the object, so it keeps no object alive."""
    if is_plain(value):
        return value
    if isinstance(value, DICT):
        return {
            key if is_plain(key) else id(key): _by_itself(each)
            for key, each in entries_now(value).items()
        }
    if isinstance(value, (*LISTED, SET, frozenset)):
        return sorted(repr(_by_itself(each)) for each in members_now(value))
    return id(value)


def _by_itself(value: Any) -> Any:
    return value if is_plain(value) else id(value)
