"""This module finds library objects to which only isolated objects refer, such as the database of a chat
memory.

An isolated object has its own state in each run, so replays do not see the changes that the baseline made
to this object or to the library objects that it uses. A change of these library objects is therefore no
reason to doubt the replays.
"""

import gc
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, cast

from ..copies.state import Same
from .owners import Node, Owner
from .snapshot import Snapshot
from .values import LISTED, SET


def things_in(keys: Iterable[Hashable]) -> Iterator[int]:
    """Yields the ``id()`` of each object in these keys. The state of an isolated object (which has its
    own state in each run) is stored under a key that contains the object; the key may be a tuple."""
    for key in keys:
        if isinstance(key, Same):
            yield id(key.thing)
        elif isinstance(key, tuple):
            yield from things_in(cast("tuple[Hashable, ...]", key))


def held_apart(snapshot: Snapshot, keys: Iterable[Hashable]) -> frozenset[int]:
    """Returns the ``id()`` of each library object to which only isolated objects of a framework refer.

    An isolated object has its own state in each run. If the user's code or objects also refer to a
    library object, it is left out. ``keys``: the keys under which the states of the isolated objects are
    stored.
    """
    kept_apart = set(things_in(keys))
    own = {
        id(node.thing)
        for node in snapshot.nodes
        if id(node.thing) in kept_apart and node.owner is Owner.FRAMEWORK
    }
    if not own:
        return frozenset()
    # ``held`` starts with all library objects. An object to which something outside of ``held`` refers is
    # removed. Then the objects to which it refers may have to be removed too, so this is repeated until
    # nothing changes.
    held = {
        id(node.thing)
        for node in snapshot.nodes
        if node.holder is not None and (node.owner is Owner.LIBRARY or node.is_passed_by)
    }
    holders = _holders(snapshot)
    while others := {each for each in held if not holders[each] <= own | held}:
        held -= others
    return frozenset(held - own)


def _holders(snapshot: Snapshot) -> dict[int, set[int]]:
    holders: dict[int, set[int]] = defaultdict(set)
    known = {id(node.thing) for node in snapshot.nodes}
    for node in (*snapshot.nodes, *(kept.node for kept in snapshot.kept)):
        for thing in _held_by(node):
            if id(thing) in known and thing is not node.thing:
                holders[id(thing)].add(id(node.thing))
        if node.holder is not None:
            holders[id(node.thing)].add(id(node.holder.thing))
    return holders


def _held_by(node: Node) -> Iterator[Any]:
    yield from gc.get_referents(node.thing)
    for part, content in node.contents:
        if part.is_named:
            yield from content.values()
        elif isinstance(content, (*LISTED, SET)):
            yield from cast("Iterable[Any]", content)
