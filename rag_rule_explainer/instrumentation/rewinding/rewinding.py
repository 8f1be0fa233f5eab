"""This module gives an application the state that it had before the baseline, for replays.

State that the baseline has set is the same in all later runs, so a comparison of these runs cannot show
its influence. A replay that starts from the earlier state, as the first run did, can show it.
"""

import sys
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..shared_state.files import Left
from ..shared_state.reaching import is_ours, is_users
from .apart import held_apart, things_in
from .bearing import Bearing
from .beyond import Beyond
from .earlier_doubts import EarlierDoubts, note_doubt
from .making import MadeAgain
from .own_servers import OwnServers
from .reachable import Reachable
from .remembered import remember_left, remembered
from .renewed_caches import renewed, with_new_caches
from .snapshot import KeptPart, Snapshot, with_what_was_added
from .values import DICT, LISTED, SET

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Change:
    """A ``_Change`` is a part of an object's state that differs now from before the baseline.

    ``kept``: the part with its content before the baseline. ``names``: the names whose values are
    restored; empty for the whole content. ``place``: the name of the part in messages.
    """

    kept: KeptPart
    names: tuple[str, ...]
    place: str


class Rewinding:
    """A ``Rewinding`` stores the state of an application when it is created, and restores this state for
    those replays that ask for it (see ``wanted``).

    ``is_harmless``: a function that returns True for state of this name if the user wants its changes to
    be ignored. ``isolated``: a function that returns the keys of the objects that have their own state in
    each run. ``writes``: a function that returns True iff the application's code writes to shared state.
    ``asked``: a function that returns the names of the services that were asked during runs.
    """

    def __init__(
        self,
        application: object,
        is_harmless: Callable[[str], bool],
        isolated: Callable[[], Iterable[Hashable]],
        writes: Callable[[], bool] = lambda: True,
        asked: Callable[[], str] = str,
    ) -> None:
        self._application, self._doubts = application, EarlierDoubts(application)
        self._servers, self._asked = OwnServers(), asked
        self._snapshot = Snapshot(application)
        self._is_harmless = is_harmless
        self._isolated = isolated
        self._bearing = Bearing(self._snapshot)
        self._beyond = Beyond(self._snapshot.asked, self._bearing.named, self._bearing.texts, writes)
        self._is_missed = False
        self.is_wanted = False
        self.tools: frozenset[str] | None = None
        self._of_tools: list[Any] | None = None
        self._places: tuple[str, ...] = ()
        self.was_useful = False
        self._made = MadeAgain()

    def miss_the_baseline(self) -> None:
        """Records that the baseline had already run when the state was stored. The state before the
        baseline is then unknown."""
        self._is_missed = True

    def is_useful(self) -> bool:
        """Returns True iff it is useful to replay from the state before the baseline: some state that can
        be restored, and that may influence a run, has changed at least once."""
        if self._is_missed:
            return False
        found = list(self._changes())
        self._places = tuple(dict.fromkeys(each.place for each in found)) or self._places
        self.was_useful = self.was_useful or bool(found or self._new_modules() or self._grown_caches())
        return self.was_useful

    @property
    def dependent_places(self) -> str:
        """Returns the names of changed state that may depend on the run that set it, as a list in words;
        empty if there is none."""
        if not self._places:
            return ""
        changed = {name for each in self._changes() for name in _names_of(each)}
        return self.clause if self._bearing.may_depend(changed) else ""

    def remember(self, place: str, names: Collection[str] | None) -> None:
        """Remembers, for later explanations in this process, state that runs left and that influences
        runs.

        ``place``: the name of the state, which is remembered as a doubt about this application; empty to
        remember no such doubt. ``names``: the names of the changed values that are remembered together
        with their objects, for all applications that use these objects; None for all changed values.
        """
        for change in self._changes():
            if names is None or set(names) & {*change.names, *change.kept.node.names()}:
                remember_left(change.kept, change.names, change.place)
        if place:
            note_doubt(self._application, place)

    def earlier_doubt(self, files: Collection[str]) -> str:
        """Returns the name of state on which the application's runs depend, as an earlier explanation
        found.

        The earlier explanation was of this application, or of any application that reads one of
        ``files``. Returns an empty text if no such state is known, or if the user declared it harmless.
        ``files``: the files that runs read.
        """
        place = self._doubts.place(files)
        return "" if not place or self._is_harmless(place) else place

    def left(self) -> Left | None:
        """Returns a reason to doubt the rules: state that an earlier explanation left, or a change of
        state that cannot be restored. Returns None if there is neither."""
        known = remembered(self._snapshot.kept, self._bearing.is_named)
        if known:
            finding = f"an earlier explanation found that runs go by {known}, and has left that set"
            return None if self._is_harmless(known) else Left(known, finding)
        found = () if self._is_missed else self._beyond_reach()
        return next((each for each in found if not self._is_harmless(each.place)), None)

    def _beyond_reach(self) -> Iterator[Left]:
        yield from self._beyond.all_left(self._held_apart)
        yield from self._servers.left(self._asked())

    def _held_apart(self) -> frozenset[int]:
        return held_apart(self._snapshot, self._isolated())

    @contextmanager
    def wanted(self) -> Generator[None, None, None]:
        """Requests that a replay in this block starts from the state before the baseline."""
        self.is_wanted = True
        try:
            yield
        finally:
            self.is_wanted = False

    @contextmanager
    def earlier(self, sources: Iterable[str] = ()) -> Generator[None, None, None]:
        """Restores the state before the baseline for the duration of the block, and the current state at
        its end.

        ``sources``: the ids of the sources of the replay that runs in the block.
        """
        changes = list(self._changes())
        new = {id(cached): renewed(cached) for cached in self._grown_caches()}
        writes = [*self._earlier(changes, new)]
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
                _write(kept, self._without_ignored(kept, with_what_was_added(kept, put, content)))
            sys.modules.update(modules)

    def put_back(self, called: Collection[str]) -> None:
        """Restores the state before the baseline permanently, so that a run for an estimate of the cost
        leaves nothing for later explanations. ``called``: the names of the tools that ran; if there are
        any, nothing is restored, because their effects cannot be undone."""
        if called:
            return
        changes = list(self._changes())
        new = {id(cached): renewed(cached) for cached in self._grown_caches()}
        for kept, content in list(self._earlier(changes, new)):
            _write(kept, content)

    def is_constant(self, name: str) -> bool:
        """Returns True iff replays from the state before the baseline computed the value of this name
        again and always got an equal value. Each source must have been omitted in one of these
        replays."""
        return self._made.is_constant(name)

    @property
    def clause(self) -> str:
        """Returns the names of the changed state as a list in words, for messages."""
        more = len(self._places) - _MOST_NAMED
        listed = ", ".join(self._places[:_MOST_NAMED]) or "what they find outside of it"
        return listed + (f" and {more} more" if more > 0 else "")

    def _changes(self) -> Iterator[_Change]:
        apart = {*things_in(self._isolated()), *self._of_tools_at_rest()}
        for kept in self._snapshot.kept:
            if id(kept.node.thing) in apart:
                continue
            try:
                found = [name for name in kept.changed() if self._bearing.matters(kept, name)]
            except Exception:  # noqa: S112 -- an object of the user's may raise any error when read
                continue
            names = [name for name in found if not self._is_left_alone(kept, name)]
            if names:
                is_whole = "" in names
                place = self._place(kept, "" if is_whole else names[0])
                yield _Change(kept, () if is_whole else tuple(names), place)

    def _is_left_alone(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff the user ignores changes of the value ``name`` in an object. The value is then
        neither compared nor restored."""
        path = [*filter(None, (name, *kept.node.names())), _name_of_holder(kept)]
        return self._is_harmless(self._place(kept, name)) or self._is_harmless(".".join(path[::-1]))

    def _without_ignored(self, kept: KeptPart, content: Any) -> Any:
        """Returns ``content``, which an object is about to get, but with the object's current values of
        all names whose changes the user ignores."""
        if not kept.part.is_named:
            return content
        now = kept.now()
        alone = {name for name in {**now, **content} if self._is_left_alone(kept, str(name))}
        kept_so = {name: now[name] for name in alone & now.keys()}
        return {**{name: each for name, each in content.items() if name not in alone}, **kept_so}

    def _of_tools_at_rest(self) -> frozenset[int]:
        """Returns the ``id()`` of each object that is reachable only through functions of tools that no
        replay runs."""
        if self.tools is not None and self._of_tools is None:
            every, others = Reachable(self._application), Reachable(self._application, self.tools)
            known = {id(node.thing) for node in others.nodes}
            # The objects are kept alive, so that no other object gets the ``id()`` of one of them.
            self._of_tools = [node.thing for node in every.nodes if id(node.thing) not in known]
        return frozenset(map(id, self._of_tools or ()))

    def _place(self, kept: KeptPart, name: str) -> str:
        names, called = list(kept.node.names()), _name_of_holder(kept)
        # The key of a dict's entry may be a long text, such as a prompt. Messages then name the dict.
        own = name if name.isidentifier() else next(iter(names), "")
        return f"{called}.{own}" if own else called

    def _earlier(
        self, changes: Iterable[_Change], renewed: dict[int, Any]
    ) -> Iterator[tuple[KeptPart, Any]]:
        for change in changes:
            yield change.kept, self._without_ignored(change.kept, change.kept.earlier(change.names))
        for kept in self._snapshot.kept if renewed else ():
            content = kept.now()
            if isinstance(content, DICT):
                new = {name: with_new_caches(value, renewed) for name, value in content.items()}
                if any(value is not content[name] for name, value in new.items()):
                    yield kept, new
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
        # A module without a spec was created by code, so it may hold state of the application. Cython
        # creates one such module for each of its versions; these are left out.
        return [
            name
            for name in new
            if is_users(name)
            or (getattr(sys.modules[name], "__spec__", None) is None and not name.startswith("_cython_"))
        ]


def _names_of(change: _Change) -> tuple[str, ...]:
    """Returns the names by which code refers to the changed state: the attributes of an object, or, for a
    collection, the collection's own name. A name is empty if it is unknown."""
    own = next(iter(change.kept.node.names()), "")
    is_object = change.names and not isinstance(change.kept.node.thing, (DICT, *LISTED, SET, deque))
    return change.names if is_object else (own,)


def _name_of_holder(kept: KeptPart) -> str:
    holder = kept.node.object()
    owner: Any = holder if isinstance(holder, (type, ModuleType)) else type(holder)
    return str(getattr(holder, "__name__", "") or owner.__name__)


def _write(kept: KeptPart, content: Any) -> None:
    # The user's object may forbid writes, as an enumeration does. It then keeps its content.
    with suppress(Exception):
        kept.part.write(kept.node.thing, content)
