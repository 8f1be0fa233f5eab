"""This module takes snapshots of an application's state: the content of each reachable object."""

import asyncio
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from logging import Logger
from operator import is_
from types import MappingProxyType, ModuleType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.contents import names_in
from .additions import added_to, watched_for_additions
from .before_earlier import (
    MISSING,
    before_earlier,
    has_earlier,
    modules_before_earlier,
    size_before_earlier,
)
from .companies import is_own
from .foreign_attributes import with_foreign_attributes
from .hearing import threads_that_may_hear
from .left_alone import OF_THREADS
from .library_objects import is_of_a_librarys_own
from .locks import is_of_a_lock
from .owners import Node, Owner
from .parts import ATTRIBUTES, KIND_OF_MODULE, Part, of_names, parts_of
from .reachable import Reachable
from .registers import collections_filled, registers_of
from .values import ABSENT, DICT, LISTED, SET, is_equal, is_plain, is_same

_MOST_IN_A_LIBRARY = 100
_MOST_WHERE_NAMED = 5000
"""The largest number of entries of a library's collection that are compared, if the user's code names the
collection. For other collections, ``_MOST_IN_A_LIBRARY`` is the limit."""


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    return _NOTHING  # all parts share it, as most have inherited nothing


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A ``KeptPart`` is one part of an object, such as its attributes, with its earlier content: the
    ``content`` when the snapshot was taken, but without the changes by runs of earlier explanations.

    ``is_all``: False if ``content`` is only a selection. Of a library's object, only texts, numbers and
    the like are selected. ``is_register``: True if the user's code calls a function of a library that
    changes the part. ``of_plain``: True if only texts, numbers and the like are compared and restored,
    because the part belongs to a library's module, which also keeps its own objects in it. ``inherited``:
    the values, by name, that runs of earlier explanations had left in the part when the snapshot was
    taken; ``content`` has the values from before these runs.
    """

    node: Node
    part: Part
    content: Any
    is_all: bool = True
    is_register: bool = False
    of_plain: bool = False
    inherited: Mapping[str, Any] = field(default_factory=_nothing)

    @property
    def as_found(self) -> Any:
        """Returns the content that the part really had when the snapshot was taken, with the changes by
        runs of earlier explanations (``inherited``)."""
        if "" in self.inherited:
            return self.inherited[""]
        return {**self.content, **self.inherited} if self.inherited else self.content

    @property
    def is_of_additions(self) -> bool:
        """Returns True iff the part contains only attributes and items that were added to an object, such
        as a module, after the snapshot."""
        return self.part.is_named and not self.content

    def now(self) -> Any:
        """Returns the current content of the part."""
        return self.part.read(self.node.thing)

    def changed(self) -> list[str]:
        """Returns the names whose values have changed since the snapshot. An empty name stands
        for content that has no names, such as the items of a set."""
        is_unchanged = self.part.is_unchanged
        if is_unchanged is not None and is_unchanged(self.node.thing, self.content):
            return []  # a fast path: most parts have not changed
        now = _plain_of(self.now(), self.part) if self.of_plain else self.now()
        if now is None:
            return []
        if not self.part.is_named:
            return [] if is_equal(self.content, now) else [""]
        was = self.content
        if len(was) == len(now) and all(map(is_, was.values(), now.values())) and list(was) == list(now):
            return []
        names = [name for name, value in was.items() if _is_other(value, now.get(name, ABSENT))]
        if self.is_all:
            names += [name for name, value in now.items() if name not in was and value is not ABSENT]
        if not names and self.is_all and isinstance(self.node.thing, DICT) and list(was) != list(now):
            return [""]
        return [name if isinstance(name, str) else "" for name in names]

    def values(self, name: str) -> tuple[object, object]:
        """Returns the value of a name in the snapshot, and its current value. For content without names,
        such as the items of a set, returns ``ABSENT`` and an empty text."""
        if not self.part.is_named or not name:
            return ABSENT, ""
        return self.content.get(name, ABSENT), self.now().get(name, ABSENT)

    def earlier(self, names: tuple[str, ...]) -> Any:
        """Returns the current content, but with the snapshot's values of these names. If ``names`` is
        empty, returns the whole content of the snapshot."""
        if not names:
            return self.content
        content = dict(self.now())
        for name in names:
            if name in self.content:
                content[name] = self.content[name]
            else:
                content.pop(name, None)
        return content


def _is_other(value: object, now: object) -> bool:
    # Most values are still the same object, so their identity is checked first.
    return now is not value and not is_same(value, now)


class Snapshot:
    """A ``Snapshot`` keeps the content of everything that is reachable from an application.

    - ``things``: all reachable objects.
    - ``nodes``: the same objects, each with its owner (the user, a framework, a model or a library) and
      the path on which it was found.
    - ``kept``: the content of each of their parts; a part is one kind of an object's content, such as its
      attributes.
    - ``functions``: the user's functions.
    - ``modules``: the names of the loaded modules.
    - ``caches``: the caches of ``functools``, each with the number of its entries.
    - ``others``: threads and other objects that are not searched.
    - ``asked``: the objects that may have state which can be read but not restored.
    """

    def __init__(self, application: object) -> None:
        reachable = Reachable(application)
        self.functions = reachable.functions
        self.caches = [(each, size_before_earlier(each)) for each in reachable.caches]
        self.modules = modules_before_earlier()
        self.nodes = reachable.nodes
        known = set(map(id, reachable.others))
        running: list[Any] = [*threads_that_may_hear(reachable), *_running_loop()]
        self.others = [*reachable.others, *(each for each in running if id(each) not in known)]
        self.things = [node.thing for node in reachable.nodes]
        beside = set(map(id, self.others))
        own = (node.thing for node in reachable.nodes if not is_of_a_librarys_own(node))
        self.asked = [*(each for each in own if id(each) not in beside), *self.others]
        self.kept = [*map(_before_earlier, _kept(reachable))]


def _before_earlier(kept: KeptPart) -> KeptPart:
    """Returns the part with the content that it had before the runs of earlier explanations."""
    if not has_earlier(kept.node.thing):  # a fast path: runs have changed few objects, or none
        return kept
    is_named = kept.part.is_named
    held: dict[str, Any] = {**kept.content, "": kept.content} if is_named else {"": kept.content}
    earlier = before_earlier(kept.node.thing, kept.node.object(), held)
    if not earlier:
        return kept
    if "" in earlier:
        return replace(kept, content=earlier[""], inherited={"": kept.content})
    if not is_named:
        return kept
    known = {name: was for name, was in earlier.items() if kept.is_all or name in kept.content}
    content = {**kept.content, **known}
    # If a name did not exist before the runs of earlier explanations, the name is removed from the
    # content.
    gone = [name for name, was in known.items() if was is MISSING]
    for name in gone:
        del content[name]
    found = {name: kept.content.get(name, ABSENT) for name in known}
    return replace(kept, content=content, inherited=found)


def _running_loop() -> list[asyncio.AbstractEventLoop]:
    try:
        return [asyncio.get_running_loop()]
    except RuntimeError:
        return []


def _kept(reachable: Reachable) -> Iterator[KeptPart]:
    for node in reachable.nodes:
        yield from _kept_of(node)
    for module, names in reachable.modules.values():
        for part in (of_names(frozenset(names)), KIND_OF_MODULE):
            yield KeptPart(Node(module), part, part.read(module))
    for name, names in reachable.settings.items():
        module, part = sys.modules[name], of_names(names)
        yield KeptPart(Node(module, name, owner=Owner.LIBRARY), part, part.read(module))
    yield from _of_libraries(reachable)
    for node in watched_for_additions(reachable.functions, reachable.others):
        yield KeptPart(node, added_to(node.thing), {})
        if isinstance(node.thing, ModuleType):
            yield KeptPart(node, KIND_OF_MODULE, KIND_OF_MODULE.read(node.thing))
    for node, part in (*registers_of(reachable.functions), *collections_filled(reachable.functions)):
        yield KeptPart(node, part, part.read(node.thing), is_register=True)
    held = (each for each in reachable.others if isinstance(each, ModuleType))
    modules = (
        Node(each, each.__name__, owner=Owner.LIBRARY) for each in held if not is_own(each.__name__)
    )
    nodes = (*reachable.nodes, *reachable.classes, *modules)
    for node, part in with_foreign_attributes(reachable.functions, nodes):
        yield KeptPart(node, part, {})


def _of_libraries(reachable: Reachable) -> Iterator[KeptPart]:
    """Yields the data in the modules of libraries that code uses."""
    users = {id(node.thing) for node in reachable.nodes if node.owner is Owner.USER}
    read = frozenset(name for node in reachable.functions for name in names_in(own_code(node.thing)))
    for module in reachable.libraries.values():
        plain = {name: value for name, value in vars(module).copy().items() if is_plain(value)}
        part, node = of_names(frozenset(plain)), Node(module, module.__name__, owner=Owner.LIBRARY)
        yield KeptPart(node, part, plain, is_all=False)
        # Collections in a module such as ``threading`` list the threads and tasks that exist now.
        # They are no state of the application, so they are left out.
        is_of_threads = module.__name__.partition(".")[0] in OF_THREADS
        for name, value in () if is_of_threads else vars(module).copy().items():
            is_users = id(value) in users
            most = _MOST_WHERE_NAMED if is_users or name in read else _MOST_IN_A_LIBRARY
            if type(value) in {dict, list, set} and len(value) < most:
                yield from _of_collection(value, name, node, is_users=is_users)


def _of_collection(value: Any, name: str, module: Node, *, is_users: bool) -> Iterator[KeptPart]:
    """Yields the content of a collection in a library's module. ``is_users``: True if the user's code has
    the collection under a name of its own, and may fill it. The library reads it, so each entry counts
    then."""
    contents = tuple((part, part.read(value)) for part in parts_of(value))
    held = Node(value, name, module, Owner.LIBRARY, contents=contents)
    if is_users:
        yield from (KeptPart(held, part, was, is_register=True) for part, was in contents)
    else:
        yield from (replace(each, of_plain=True) for each in _kept_of(held))


def _kept_of(node: Node) -> Iterator[KeptPart]:
    if node.name == "_cache" and node.holder is not None and isinstance(node.holder.thing, Logger):
        # This cache of a logger only says, for each level, whether the logger is enabled. Python fills
        # the cache itself, so it is not compared.
        return
    if is_of_a_lock(node):
        return
    for part, content in node.contents:
        own = _plain_of(content, part) if node.owner is Owner.LIBRARY else content
        if own is not None:
            is_all = own is content or (isinstance(node.thing, DICT) and len(own) == len(content))
            yield KeptPart(node, part, own, is_all)


def _plain_of(content: Any, part: Part) -> Any:
    """Returns the plain values in the content of a library's object: texts, numbers, bytes, None, and
    tuples of these. Returns None for a list, tuple or set that contains any other value, because such a
    collection cannot be compared entry by entry."""
    if part.is_named:
        return {name: value for name, value in content.items() if is_plain(value)}
    if isinstance(content, (*LISTED, SET)):
        return content if all(map(is_plain, content)) else None
    return content


def with_what_others_set(kept: KeptPart, put: Any, now: Any) -> Any:
    """Returns the content that an object gets after a replay that started with earlier state. This is the
    content from before the replay (``now``), with values that another thread set or added during the
    replay.

    ``kept``: the part of the object. ``put``: the earlier content, which was restored for the replay.
    ``now``: the content just before it was restored. If a value is the same in ``put`` and ``now``, the
    replay did not need another value, so the object keeps its present value.
    """
    thing, after = kept.node.thing, kept.now()
    if kept.part.is_named and isinstance(now, DICT):
        held: dict[Any, Any] = now
        same = {key: after.get(key, each) for key, each in held.items() if put.get(key, ABSENT) is each}
        is_open = isinstance(thing, DICT) or kept.part is ATTRIBUTES
        added = {key: value for key, value in after.items() if is_open and key not in put}
        return {**added, **held, **same}
    if isinstance(thing, SET):
        return now | (after - put)
    if isinstance(thing, (list, deque)) and after[: len(put)] == put:
        return [*now, *after[len(put) :]]
    return now
