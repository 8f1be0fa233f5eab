"""This module knows the changed state without which an application was seen to run the same.

Code that reads what an earlier run left is a reason to doubt the rules. If each replay that a proof rests
on was made twice, once with that state and once without it, and nothing differed, there is none.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterable

from ..shared_state.holdings import Holdings
from ..shared_state.named_contents import contents_of, is_without
from .changes import StateChange
from .companies import is_of_own
from .reachable import APART
from .snapshot import Snapshot

_HARMLESS = frozenset(
    {
        *("environ", "getenv", "fspath", "getcwd", "cpu_count", "urandom", "getpid", "PathLike", "sep"),
        *("linesep", "listdir", "makedirs", "mkdir", "stat", "walk", "path", "pathsep", "name"),
    }
)
_OF_OS = frozenset(dir(os)) - _HARMLESS
_BESIDE_OBJECTS = frozenset(
    {"ctypes", "cffi", "fcntl", "mmap", "multiprocessing", "resource", "signal", "socket", "subprocess"}
)
"""Modules by which code changes state of the process or the system, which no replay can set back."""


def uses_the_system(named: frozenset[str]) -> bool:
    """Returns True iff code may change state of the process or the system, as ``os.dup`` does. An object
    may then only count what lies there, so setting the object back shows nothing. ``named``: the names in
    the code."""
    return bool(named & _BESIDE_OBJECTS or ("os" in named and named & _OF_OS))


def has_unrestorable(snapshot: Snapshot) -> bool:
    """Returns True iff the application has an object of a class of the user's whose attributes no replay
    sets back: a thread, an executor, an event loop, or a ``threading.local``. State is known by name, and
    such an object may keep another value of the same name."""
    apart = (*snapshot.others, *snapshot.things)
    kinds = (*APART, threading.local)
    return any(isinstance(each, kinds) and is_of_own(each) for each in apart)


class TriedWithout:
    """A ``TriedWithout`` records, for each replay from the state before the baseline, the names of the
    state that was set back. Calling it with a name returns True iff ``settle`` was called, and every such
    replay began without what earlier runs had left under this name."""

    def __init__(self) -> None:
        self._is_settled = False
        self.begin()

    def __call__(self, name: str) -> bool:
        """Returns True iff the runs do not go by the state of this name."""
        known = {*(self._names or ()), *(self._gone or ())}
        return self._is_settled and bool(name) and name in known

    def begin(self) -> None:
        """Forgets what was set back so far."""
        self._names: frozenset[str] | None = None
        self._gone: frozenset[str] | None = None

    def note(self, changes: Iterable[StateChange]) -> None:
        """Records what was set back for a replay that is about to begin."""
        names = frozenset(name for each in changes if _is_set_back(each) for name in each.written_names)
        self._names = names if self._names is None else self._names & names

    def check(
        self,
        before: Holdings,
        after: Holdings | None,
        now: Callable[[], Holdings],
        names: Collection[str],
    ) -> None:
        """Drops the names under which the application still holds what the baseline left, and adds those
        under which it holds nothing of that any more, as where an object is gone that had it.

        ``before``, ``after``: the application's state before and after the baseline. ``now``: returns
        the state at the start of the replay. ``names``: the names of state that runs changed.
        """
        if after is None or not (self._names or names):
            return
        there, known = now(), self._names or frozenset()
        gone = frozenset(
            name
            for name in names
            if contents_of(before, name) != contents_of(after, name)
            and is_without(before, after, there, name)
        )
        self._gone = gone if self._gone is None else self._gone & gone
        self._names = frozenset(name for name in known if is_without(before, after, there, name))

    def settle(self) -> None:
        """Records that each replay that a proof rests on was also made from the state before the
        baseline, with the same requests and the same answer."""
        self._is_settled = True


def _is_set_back(change: StateChange) -> bool:
    try:
        changed = change.kept.changed()
    except Exception:  # an object of the user's may raise any error when it is read
        return False
    return not (set(change.names) & set(changed) if change.names else changed)
