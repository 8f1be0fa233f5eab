"""This module finds the objects inside of a value that may change, so that a change is known whichever of
them the code takes: one tool may fill a list, and another one read the dict that the list is in."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from .changed_in_place import data_held
from .library_data import shared_parts

_MOST = 5_000
"""The largest number of objects that are looked at in one value."""
_PLAIN = (str, bytes, int, float, complex, type(None))


def inner_parts(value: object) -> dict[int, Any]:
    """Returns the objects inside of a value, by their ids, each with what it holds itself. What holds
    nothing that may change is left out."""
    left, found = [value], dict[int, Any]()
    while left and len(found) < _MOST:
        thing = left.pop()
        if id(thing) in found or isinstance(thing, _PLAIN):
            continue
        held = _held(thing)
        if held is None:
            continue
        found[id(thing)] = [each if isinstance(each, _PLAIN) else id(each) for each in held]
        left.extend(held)
    found.pop(id(value), None)
    return found


def part_keys(held: Mapping[int, Any]) -> Iterator[Hashable]:
    """Yields the keys by which changes of these parts are known, whichever way they were reached."""
    for each in held:
        yield from (each, ("part", each), ("of", each))


def changed_parts(before: Mapping[int, Any], after: Mapping[int, Any]) -> Iterator[Hashable]:
    """Yields the keys of the parts that have changed."""
    yield from (("part", each) for each, held in after.items() if before.get(each, held) != held)


def keys_around(holders: tuple[Hashable, ...]) -> Iterator[Hashable]:
    """Yields the keys by which these holders are known if they are parts of another value."""
    for each in holders:
        if isinstance(each, int):
            yield "part", each
        elif isinstance(each, tuple) and isinstance(each[0], int):
            yield "part", each[0]


def keys_of_objects(holders: tuple[Hashable, ...]) -> Iterator[Hashable]:
    """Yields the keys of the objects of which these holders are attributes."""
    yield from (
        ("of", each[0]) for each in holders if isinstance(each, tuple) and isinstance(each[0], int)
    )


def _held(thing: object) -> tuple[Any, ...] | None:
    try:
        held = data_held(thing)
        return shared_parts(thing) if held is None else held
    except Exception:  # the user's own collections and properties may raise any error
        return None
