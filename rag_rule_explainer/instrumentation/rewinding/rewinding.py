"""This module gives an application the state that it had before the baseline, for replays.

State that the baseline has set is the same in all later runs, so a comparison of these runs cannot show
whether the state influences them. A replay that starts with the state from before the baseline can show
it.
"""

import sys
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    ValuesView,
)
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import PurePath
from typing import Any

from ..shared_state.files import Left
from .apart import held_apart
from .bearing import Bearing
from .beyond import Beyond
from .changes import Changes
from .earlier_doubts import EarlierDoubts, note_doubt
from .handed_functions import names_of_handed_functions
from .making import MadeAgain
from .outlasting import note_files
from .own_servers import OwnServers
from .remembered import remember_left, remembered
from .renewed_caches import renewed
from .snapshot import KeptPart, Snapshot, with_what_others_set
from .system_settings import names_of_builtins

_MOST_NAMED = 3
_SEVERAL: Any = (list, tuple, set, ValuesView)


class Rewinding:
    """A ``Rewinding`` stores the state of an application when it is created, and restores this state for
    those replays that are made inside a block of ``wanted``.

    ``is_harmless``: returns True iff the user ignores changes of the state with this name. ``isolated``:
    returns the keys of the objects that have their own state in each run. ``writes``: returns True iff
    the application's code writes to shared state. ``asked``: returns the names of the services that were
    asked during runs. ``changed_files``: returns the paths of the files that runs have changed; the value
    of a path is True if the file was made or removed.
    """

    def __init__(
        self,
        application: object,
        is_harmless: Callable[[str], bool],
        isolated: Callable[[], Iterable[Hashable]],
        writes: Callable[[], bool] = lambda: True,
        asked: Callable[[], str] = str,
        changed_files: Callable[[], Mapping[str, bool]] = dict,
    ) -> None:
        self._application, self._doubts = application, EarlierDoubts(application)
        self._servers, self._asked, self._changed_files = OwnServers(), asked, changed_files
        self._snapshot = Snapshot(application)
        self._is_harmless = is_harmless
        self._isolated = isolated
        self._bearing = Bearing(self._snapshot)
        texts = (*self._bearing.texts, *self._bearing.texts_by_name)
        self._beyond = Beyond(self._snapshot.asked, self._bearing.named, texts, writes)
        self._changes = Changes(application, self._snapshot, self._bearing, is_harmless, isolated)
        self._is_missed = self.is_wanted = self.is_live = False
        self._places: tuple[str, ...] = ()
        self.was_useful = False
        self._made = MadeAgain()

    def miss_the_baseline(self) -> None:
        """Records that the state was stored only after the baseline, so that the state before the
        baseline is unknown."""
        self._is_missed = True

    def is_useful(self) -> bool:
        """Returns True iff replays that begin with the application's state from before the baseline
        may differ from other replays. This is possible only if some state has changed since then, can
        be restored, and may influence a run. Returns False if the state from before the baseline is
        unknown."""
        if self._is_missed:
            return False
        found = list(self._changes.found())
        self._places = tuple(dict.fromkeys(each.place for each in found)) or self._places
        self.was_useful = self.was_useful or bool(
            found or self._changes.new_modules() or self._changes.grown_caches()
        )
        return self.was_useful

    @cached_property
    def handed_functions(self) -> frozenset[str]:
        """Returns the names of the libraries' functions to which the user's objects refer, so that code
        may call them without their names."""
        builtins = names_of_builtins(self._snapshot.things + self._snapshot.others)
        return frozenset((*names_of_handed_functions(self._snapshot.nodes), *builtins))

    @property
    def dependent_places(self) -> str:
        """Returns a phrase that lists the names of changed state that may depend on the run that set this
        state; empty if there is no such state."""
        if not self._places:
            return ""
        changed = {name for each in self._changes.found() for name in each.written_names}
        return self.clause if self._bearing.may_depend(changed) else ""

    def remember(self, place: str, names: Collection[str] | None) -> None:
        """Remembers, for later explanations in this process, state that runs left.

        ``place``: the name of state that influences runs of this application; empty if there is none.
        ``names``: changed state with one of these names is remembered, because other applications may
        read it; None to remember all changed state. The values before the changes are stored as well. If
        the baseline was the user's own run, its changes are meant to stay, so they are not stored in this
        way.
        """
        parts = self._changes.parts()
        for change in self._changes.found(parts):
            if names is None or set(names) & {*change.names, *change.kept.node.names()}:
                remember_left(change.kept, change.names, change.place)
        if place:
            note_doubt(self._application, place)
        if not (self._is_missed or self.is_live):
            self._keep_for_later(parts)

    def _keep_for_later(self, parts: Iterable[KeptPart] | None = None) -> None:
        self._changes.keep_for_later(parts)
        self._beyond.keep_for_later()
        note_files(self._changed_files())

    def limit_to(self, tools: frozenset[str] | None) -> None:
        """Records the names of the only tools that may run in replays; None if all may."""
        self._changes.tools = tools

    def may_read(self, name: str) -> bool:
        """Returns True iff the application's code may read an attribute of this name."""
        return any(self._bearing.is_read(name, each, as_attribute=True) for each in (False, True))

    def earlier_doubt(self, read: Collection[str], *, asks_for_files: bool) -> Left | None:
        """Returns state that may influence the application's runs, and that earlier explanations in this
        process found or changed. Returns None if none is known, or if the user ignores its changes.

        ``read``: the files that runs read. ``asks_for_files``: True if the application's code asks
        whether files exist, or for their properties.
        """
        texts = self._texts if asks_for_files else tuple[str]
        return self._doubts.found(read, texts, self._is_harmless)

    def _texts(self) -> Iterator[str]:
        """Yields the texts from which the application may build the path of a file: string constants in
        its code, and texts and paths that its objects hold."""
        yield from self._bearing.texts
        for kept in self._snapshot.kept:
            content = kept.content.values() if kept.part.is_named else kept.content
            if isinstance(content, _SEVERAL):
                yield from (str(each) for each in content if isinstance(each, (str, PurePath)))

    def left(self) -> Left | None:
        """Returns state that gives a reason to doubt the rules: state that an earlier explanation left,
        or changed state that cannot be restored. Returns None if there is neither."""
        known = remembered(self._snapshot.kept, self._bearing.is_named)
        if known:
            finding = f"an earlier explanation found that runs go by {known}, and has left that set"
            return None if self._is_harmless(known) else Left(known, finding)
        found = () if self._is_missed else self._beyond_reach()
        return next((each for each in found if not self._is_harmless(each.place)), None)

    def _beyond_reach(self) -> Iterator[Left]:
        at_rest = self._changes.of_tools_at_rest
        yield from self._beyond.all_left(lambda: self._held_apart() | at_rest(), self._changes.is_at_rest)
        yield from self._servers.left(self._asked())

    def _held_apart(self) -> frozenset[int]:
        return held_apart(self._snapshot, self._isolated())

    @contextmanager
    def wanted(self) -> Generator[None, None, None]:
        """Makes replays in this block start with the application's state from before the baseline."""
        self.is_wanted = True
        try:
            yield
        finally:
            self.is_wanted = False

    @contextmanager
    def earlier(self, sources: Iterable[str] = ()) -> Generator[None, None, None]:
        """Gives the application the state from before the baseline for the duration of the block. At the
        end of the block, restores the state from before the block.

        ``sources``: the ids of the sources of the replay that runs in the block.
        """
        changes = list(self._changes.found())
        new = {id(cached): renewed(cached) for cached in self._changes.grown_caches()}
        writes = [*self._changes.earlier(changes, new)]
        # Another thread may remove a module from ``sys.modules`` meanwhile, for example because an import
        # fails. So a copy is used.
        loaded = sys.modules.copy()
        modules = {name: loaded[name] for name in self._changes.new_modules() if name in loaded}
        now = [(kept, kept.now()) for kept, _ in writes]
        today = {id(kept): content for kept, content in now}
        try:
            for name in modules:
                sys.modules.pop(name, None)
            for (kept, content), (_, before) in zip(writes, now, strict=True):
                _write(kept, with_what_others_set(kept, before, content))
            yield
        finally:
            for change in changes:
                self._made.note(change.kept, change.names, today[id(change.kept)], frozenset(sources))
            for (kept, put), (_, content) in zip(writes, now, strict=True):
                _write(
                    kept, self._changes.without_ignored(kept, with_what_others_set(kept, put, content))
                )
            sys.modules.update(modules)

    @contextmanager
    def undone(self, called: Callable[[], Collection[str]]) -> Generator[None, None, None]:
        """Restores the state before the baseline permanently at the end of the block. A run for an
        estimate of the cost then leaves nothing that influences later explanations. State that cannot be
        restored, such as files, is remembered for these explanations. ``called``: returns the names of
        the tools that ran; if tools ran, nothing is restored, because their effects cannot be undone."""
        try:
            yield
        finally:
            if not called():
                changes = [each for each in self._changes.found() if not each.is_inherited]
                new = {id(cached): renewed(cached) for cached in self._changes.grown_caches()}
                for kept, content in list(self._changes.earlier(changes, new)):
                    _write(kept, content)
            self._keep_for_later()

    def is_constant(self, name: str) -> bool:
        """Returns True iff the value of this name does not depend on the run: replays that started
        with the state from before the baseline have computed the value again, and have always got the
        value that the application had before them. Each source must have been omitted in one of these
        replays."""
        return self._made.is_constant(name)

    @property
    def clause(self) -> str:
        """Returns the names of the changed state as a list in words, for messages."""
        more = len(self._places) - _MOST_NAMED
        listed = ", ".join(self._places[:_MOST_NAMED]) or "what they find outside of it"
        return listed + (f" and {more} more" if more > 0 else "")


def _write(kept: KeptPart, content: Any) -> None:
    # If the user's object forbids writes, as an enumeration does, the object keeps its present content.
    with suppress(Exception):
        kept.part.write(kept.node.thing, content)
