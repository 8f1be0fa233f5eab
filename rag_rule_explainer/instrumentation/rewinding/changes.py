"""This module finds the state of an application that has changed since its snapshot, and the earlier
values of this state."""

import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..shared_state.holdings import is_resting
from ..shared_state.reaching import is_ours, is_users
from .apart import things_in
from .bearing import Bearing
from .before_earlier import MISSING, drop_oldest, note_before, note_filled, note_modules
from .owners import Node
from .reachable import Reachable
from .renewed_caches import with_new_caches
from .snapshot import KeptPart, Snapshot
from .values import ABSENT, DICT, LISTED, SET


@dataclass(frozen=True, slots=True)
class StateChange:
    """A ``StateChange`` is a change of one part of an object, such as its attributes.

    ``kept``: the part with its content before the baseline. ``names``: the names whose values are
    restored; empty for the whole content. ``place``: the name of the part in messages.
    """

    kept: KeptPart
    names: tuple[str, ...]
    place: str

    @property
    def written_names(self) -> tuple[str, ...]:
        """Returns the names under which code writes the changed values: for a collection, the name of the
        collection; for an object, the names of the changed attributes. A name is empty if it is
        unknown."""
        own = next(iter(self.kept.node.names()), "")
        is_object = self.names and not isinstance(self.kept.node.thing, (DICT, *LISTED, SET, deque))
        return self.names if is_object else (own,)

    @property
    def is_inherited(self) -> bool:
        """Returns True iff runs of an earlier explanation made this whole change, before the snapshot was
        taken."""
        found = self.kept.inherited
        now = self.kept.now()
        if "" in found:
            return not self.names and bool(found[""] == now)
        return bool(self.names) and all(
            name in found and found[name] is now.get(name, ABSENT) for name in self.names
        )


class Changes:
    """A ``Changes`` compares an application with its snapshot.

    ``is_harmless``: returns True iff the user ignores changes of the state with this name. ``isolated``:
    returns the keys of the objects that have their own state in each run. ``tools``: the names of the
    only tools that may run in replays; None if all may."""

    def __init__(
        self,
        application: object,
        snapshot: Snapshot,
        bearing: Bearing,
        is_harmless: Callable[[str], bool],
        isolated: Callable[[], Iterable[Hashable]],
    ) -> None:
        self._application, self._snapshot, self._bearing = application, snapshot, bearing
        self._is_harmless, self._isolated = is_harmless, isolated
        self.tools: frozenset[str] | None = None
        self._of_tools: list[Any] | None = None
        self._ids_of_tools = frozenset[int]()

    def parts(self) -> list[KeptPart]:
        """Returns the parts that have changed at all, without those of objects that have their own state
        in each run."""
        apart, found = frozenset(things_in(self._isolated())), list[KeptPart]()
        for kept in self._snapshot.kept:
            try:
                if id(kept.node.thing) not in apart and kept.changed():
                    found.append(kept)
            except Exception:  # noqa: S112 -- an object of the user's may raise any error when read
                continue
        return found

    def found(self, parts: Iterable[KeptPart] | None = None) -> Iterator[StateChange]:
        """Yields the changes that may influence a run and that the user does not ignore. ``parts``: what
        ``parts()`` has just returned; None to compare all parts."""
        for kept in self.parts() if parts is None else parts:
            try:
                found = [name for name in kept.changed() if self._bearing.matters(kept, name)]
            except Exception:  # noqa: S112 -- an object of the user's may raise any error when read
                continue
            names = [name for name in found if not self._is_left_alone(kept, name)]
            if names and not self._is_of_resting(kept.node):
                is_whole = "" in names
                place = self._place(kept, "" if is_whole else names[0])
                yield StateChange(kept, () if is_whole else tuple(names), place)

    def keep_for_later(self, parts: Iterable[KeptPart] | None = None) -> None:
        """Stores the earlier values of everything that has changed since the snapshot, for later
        explanations. Stores values that this application does not read too, because another application
        may read them. ``parts``: as in ``found``."""
        for kept in self.parts() if parts is None else parts:
            with suppress(Exception):  # an object of the user's may raise any error when read
                values = _before_and_now(kept)
                if values and not self._is_of_resting(kept.node):
                    note_before(kept.node.thing, kept.node.object(), values)
        for cached, size in self._snapshot.caches:
            if cached.cache_info().currsize != size:
                note_filled(cached, size)
        note_modules(self.new_modules())
        drop_oldest()

    def earlier(
        self, changes: Iterable[StateChange], renewed: dict[int, Any]
    ) -> Iterator[tuple[KeptPart, Any]]:
        """Yields each part of an object that is to be restored, with the content that it gets back.
        ``changes``: the changes that are undone. ``renewed``: new, empty caches for those that runs have
        filled, by the ``id()`` of the filled cache."""
        for change in changes:
            yield change.kept, self.without_ignored(change.kept, change.kept.earlier(change.names))
        for kept in self._snapshot.kept if renewed else ():
            content = kept.now()
            if isinstance(content, DICT):
                new = {name: with_new_caches(value, renewed) for name, value in content.items()}
                if any(value is not content[name] for name, value in new.items()):
                    yield kept, new
            elif isinstance(content, LISTED) and any(id(value) in renewed for value in content):
                yield kept, type(content)(renewed.get(id(value), value) for value in content)

    def without_ignored(self, kept: KeptPart, content: Any) -> Any:
        """Returns the content to which a part of an object is restored: ``content``, but with the current
        values of the names whose changes the user ignores."""
        if not kept.part.is_named:
            return content
        now = kept.now()
        alone = {name for name in {**now, **content} if self._is_left_alone(kept, str(name))}
        kept_so = {name: now[name] for name in alone & now.keys()}
        return {**{name: each for name, each in content.items() if name not in alone}, **kept_so}

    def grown_caches(self) -> list[Any]:
        """Returns the caches of ``functools`` that runs have filled."""
        return [
            cached
            for cached, size in self._snapshot.caches
            if cached.cache_info().currsize != size and not is_ours(cached.__wrapped__)
        ]

    def new_modules(self) -> list[str]:
        """Returns the names of the modules that runs have added and that may hold state."""
        new = sys.modules.keys() - self._snapshot.modules
        # A module without a spec was created by code, so it may contain state of the application. Cython
        # creates one such module for each of its versions; these modules are left out.
        return [
            name
            for name in new
            if is_users(name)
            or (
                getattr(sys.modules.get(name), "__spec__", None) is None
                and not name.startswith("_cython_")
            )
        ]

    def _is_left_alone(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff the user ignores changes of this name in a part of an object. Its value is
        then neither compared nor restored."""
        path = [*filter(None, (name, *kept.node.names())), _name_of_holder(kept)]
        return self._is_harmless(self._place(kept, name)) or self._is_harmless(".".join(path[::-1]))

    def is_at_rest(self, thing: object) -> bool:
        """Returns True iff an object is reachable only through functions of tools that no replay runs."""
        return id(thing) in self.of_tools_at_rest()

    def _is_of_resting(self, node: Node) -> bool:
        """Returns what ``is_at_rest`` returns for the object of a node. Usually, the path to the node
        shows that no resting tool is needed to reach it, and no search is made."""
        return self._passes_a_resting_tool(node) and self.is_at_rest(node.thing)

    def _passes_a_resting_tool(self, node: Node) -> bool:
        """Returns False only if the node was found from the application on a path without a function of a
        tool that no replay runs."""
        while node.holder is not None:
            if is_resting(node.holder.thing, node.thing, self.tools):
                return True
            node = node.holder
        return node is not self._snapshot.nodes[0]

    def of_tools_at_rest(self) -> frozenset[int]:
        """Returns the ``id()`` of each object that is reachable only through functions of tools that no
        replay runs. These objects are searched at the first call, which takes as long as a snapshot. So
        call it only if something has changed."""
        if self.tools is None:
            return frozenset()
        if self._of_tools is None:
            # The objects are kept alive, so that no other object gets the ``id()`` of one of them.
            self._of_tools = Reachable(self._application, self.tools).beyond_resting()
            self._ids_of_tools = frozenset(map(id, self._of_tools))
        return self._ids_of_tools

    def _place(self, kept: KeptPart, name: str) -> str:
        names, called = list(kept.node.names()), _name_of_holder(kept)
        # A key of a dict may be a long text, such as a whole request. Messages then name only the dict.
        # So a name that is no identifier is replaced by the name of the dict.
        own = name if name.isidentifier() else next(iter(names), "")
        return f"{called}.{own}" if own else called


def _before_and_now(kept: KeptPart) -> dict[str, tuple[Any, Any]]:
    """Returns the earlier and the current value of each name whose value has changed in a part of an
    object. An empty name stands for the whole content."""
    names = kept.changed()
    if "" in names:
        return {"": (kept.content, kept.now())}
    if not names:
        return {}
    was, now = {**kept.part.known, **kept.content}, kept.now()
    values = {name: (was.get(name, MISSING), now.get(name, ABSENT)) for name in names}
    return {name: each for name, each in values.items() if not any(map(is_ours, each))}


def _name_of_holder(kept: KeptPart) -> str:
    holder = kept.node.object()
    owner: Any = holder if isinstance(holder, (type, ModuleType)) else type(holder)
    return str(getattr(holder, "__name__", "") or owner.__name__)
