"""What an application held before the baseline, put back for a while.

What the baseline sets and every later run finds shows in no comparison of these runs. But it shows where
a subset of the sources is asked about once more with all that put back: the run is then the first one.
"""

import sys
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, update_wrapper
from types import ModuleType
from typing import Any

from ..shared_state.files import Left
from ..shared_state.reaching import is_ours, is_users
from .apart import held_apart, things_in
from .bearing import Bearing
from .beyond import Beyond
from .making import MadeAgain
from .remembered import remember, remembered
from .snapshot import Kept, Snapshot
from .values import DICT, LISTED, SET

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Change:
    """This class represents a part that holds something else than then. ``names``: of what is to be put
    back; none for all. ``place``: how a user would call it."""

    kept: Kept
    names: tuple[str, ...]
    place: str


class Rewinding:
    """Keeps what an application holds, and puts it back for a while.

    ``is_harmless``: of a place, whether the caller says so. ``isolated``: gives keys of what is kept
    apart run by run already.
    """

    def __init__(
        self,
        application: object,
        is_harmless: Callable[[str], bool],
        isolated: Callable[[], Iterable[Hashable]],
    ) -> None:
        self._snapshot = Snapshot(application)
        self._is_harmless = is_harmless
        self._isolated = isolated
        self._bearing = Bearing(self._snapshot)
        things = [*self._snapshot.things, *self._snapshot.others]
        self._beyond = Beyond(things, self._bearing.named, self._bearing.texts)
        self._is_missed = False
        self.is_wanted = False
        self._places: tuple[str, ...] = ()
        self._made = MadeAgain()

    def miss_the_baseline(self) -> None:
        """Notes that the baseline had been run before the first look: nothing is known of before."""
        self._is_missed = True

    def is_useful(self) -> bool:
        """Returns True iff something that can be put back, and that may bear on a run, has changed."""
        if self._is_missed:
            return False
        found = list(self._changes())
        self._places = tuple(dict.fromkeys(each.place for each in found))
        return bool(found) or bool(self._new_modules()) or bool(self._grown_caches())

    def remember(self, names: Collection[str] | None = None) -> None:
        """Notes for later explanations that runs go by what has changed; by what has one of these names,
        where any are given."""
        for change in self._changes():
            if names is None or set(names) & {*change.names, *change.kept.node.names()}:
                remember(change.kept, change.names, change.place)

    def left(self) -> Left | None:
        """Returns what has changed and cannot be put back, or what an earlier explanation has left."""
        known = remembered(self._snapshot.kept)
        if known:
            told = f"an earlier explanation found that runs go by {known}, and has left that set"
            return None if self._is_harmless(known) else Left(known, told)
        left = None if self._is_missed else self._beyond.left(self._held_apart)
        return left if left is None or not self._is_harmless(left.place) else None

    def _held_apart(self) -> frozenset[int]:
        return held_apart(self._snapshot, self._isolated())

    @contextmanager
    def wanted(self) -> Generator[None, None, None]:
        """Inside, the next replay is to be made with what the application held then."""
        self.is_wanted = True
        try:
            yield
        finally:
            self.is_wanted = False

    @contextmanager
    def earlier(self, sources: Iterable[str] = ()) -> Generator[None, None, None]:
        """Inside, the application holds what it held then. Afterwards it holds again what it holds now.

        ``sources``: the ids of those that the replay inside is on.
        """
        changes = list(self._changes())
        renewed = {id(cached): _renewed(cached) for cached in self._grown_caches()}
        writes = [*self._earlier(changes, renewed)]
        modules = {name: sys.modules[name] for name in self._new_modules()}
        now = [(kept, kept.now()) for kept, _ in writes]
        today = {id(kept): content for kept, content in now}
        try:
            for name in modules:
                del sys.modules[name]
            for kept, content in writes:
                _write(kept, content)
            yield
        finally:
            for change in changes:
                self._made.note(change.kept, change.names, today[id(change.kept)], frozenset(sources))
            for (kept, put), (_, content) in zip(writes, now, strict=True):
                _write(kept, _with_what_was_added(kept, put, content))
            sys.modules.update(modules)

    def is_constant(self, name: str) -> bool:
        """Returns True iff replays made anew what has this name, and made the same without each
        source."""
        return self._made.is_constant(name)

    @property
    def told(self) -> str:
        """Names what has changed, in words."""
        more = len(self._places) - _MOST_NAMED
        listed = ", ".join(self._places[:_MOST_NAMED]) or "what they find outside of it"
        return listed + (f" and {more} more" if more > 0 else "")

    def _changes(self) -> Iterator[_Change]:
        apart = set(things_in(self._isolated()))
        for kept in self._snapshot.kept:
            if id(kept.node.thing) in apart:
                continue
            try:
                names = [name for name in kept.changed() if self._bearing.matters(kept, name)]
            except Exception:  # noqa: S112 -- whatever an object of the user's raises that is looked at
                continue
            if not names:
                continue
            is_whole = "" in names
            place = self._place(kept, "" if is_whole else names[0])
            if not self._is_harmless(place):
                yield _Change(kept, () if is_whole else tuple(names), place)

    def _place(self, kept: Kept, name: str) -> str:
        names, holder = list(kept.node.names()), kept.node.object()
        owner: Any = holder if isinstance(holder, (type, ModuleType)) else type(holder)
        called = getattr(holder, "__name__", "") or owner.__name__
        own = name or next(iter(names), "")
        return f"{called}.{own}" if own else called

    def _earlier(self, changes: Iterable[_Change], renewed: dict[int, Any]) -> Iterator[tuple[Kept, Any]]:
        for change in changes:
            yield change.kept, change.kept.earlier(change.names)
        for kept in self._snapshot.kept if renewed else ():
            content = kept.now()
            if isinstance(content, DICT):
                if any(id(value) in renewed for value in content.values()):
                    yield kept, {name: renewed.get(id(value), value) for name, value in content.items()}
            elif isinstance(content, LISTED) and any(id(value) in renewed for value in content):
                yield kept, type(content)(renewed.get(id(value), value) for value in content)

    def _grown_caches(self) -> list[Any]:
        return [
            cached
            for cached, size in self._snapshot.caches
            if cached.cache_info().currsize != size and not is_ours(cached.__wrapped__)
        ]

    def _new_modules(self) -> list[str]:
        new = sys.modules.keys() - self._snapshot.modules
        # One that nobody has loaded from anywhere is made by the code.
        return [
            name for name in new if is_users(name) or getattr(sys.modules[name], "__spec__", None) is None
        ]


def _write(kept: Kept, content: Any) -> None:
    # An object of the user's may forbid it, such as an enumeration.
    with suppress(Exception):
        kept.part.write(kept.node.thing, content)


def _with_what_was_added(kept: Kept, put: Any, now: Any) -> Any:
    """Returns what a part is to hold again, with what a collection has got meanwhile: it may be another
    thread's."""
    thing, came = kept.node.thing, kept.now()
    if isinstance(thing, DICT) and isinstance(now, DICT):
        return {**{key: value for key, value in came.items() if key not in put}, **now}
    if isinstance(thing, SET):
        return now | (came - put)
    if isinstance(thing, (list, deque)) and came[: len(put)] == put:
        return [*now, *came[len(put) :]]
    return now


def _renewed(cached: Any) -> Any:
    """Returns a cache of the same function, with nothing in it."""
    return update_wrapper(lru_cache(**cached.cache_parameters())(cached.__wrapped__), cached.__wrapped__)
