"""What nothing but things that are kept apart run by run lead to, such as the database behind a memory.

What the baseline writes there is the conversation of the user; replays find it as it was before.
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
    """Yields the ids of the objects that keys of a run's state stand for."""
    for key in keys:
        if isinstance(key, Same):
            yield id(key.thing)
        elif isinstance(key, tuple):
            yield from things_in(cast("tuple[Hashable, ...]", key))


def held_apart(snapshot: Snapshot, keys: Iterable[Hashable]) -> frozenset[int]:
    """Returns the ids of what only objects of a framework's hold that are kept apart, by these keys.

    What code of the user's holds as well, or an object of a class of the user's, is not among it.
    """
    kept_apart = set(things_in(keys))
    own = {
        id(node.thing)
        for node in snapshot.nodes
        if id(node.thing) in kept_apart and node.owner is Owner.FRAMEWORK
    }
    if not own:
        return frozenset()
    # Objects of libraries refer to each other in circles: what is left is held by nothing else.
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
