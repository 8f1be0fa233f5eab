"""What values are compared as: texts and numbers by what they are, all else by which object it is."""

from collections import deque
from typing import Any, cast

_PLAIN = (str, int, float, bool, bytes, complex, type(None))

# What holds anything: as Any, the checker does not ask what is in it.
DICT: Any = dict
LIST: Any = list
SET: Any = set
DEQUE: Any = deque
TUPLES: Any = (tuple, frozenset)
LISTED: Any = (list, tuple)

ABSENT = object()
"""Stands for what is not there."""


def is_plain(value: object) -> bool:
    """Returns True iff it is a text, a number or the like, or a tuple of these."""
    if isinstance(value, tuple):
        return all(map(is_plain, cast("tuple[Any, ...]", value)))
    return isinstance(value, _PLAIN)


def is_same(one: object, other: object) -> bool:
    """Returns True iff these are one object, or equal texts, numbers or tuples of these."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        mine, others = cast("tuple[Any, ...]", one), cast("tuple[Any, ...]", other)
        return len(mine) == len(others) and all(map(is_same, mine, others))
    return isinstance(one, _PLAIN) and one == other


def is_equal(one: Any, other: Any, depth: int = 1) -> bool:
    """Returns True iff these are the same, or of one kind and hold the same, so many levels down."""
    if is_same(one, other):
        return True
    if type(one) is not type(other) or is_plain(one) or depth < 1:
        return False
    if isinstance(one, DICT):
        return one.keys() == other.keys() and all(
            is_equal(value, other[key], depth - 1) for key, value in one.items()
        )
    if isinstance(one, LISTED):
        return len(one) == len(other) and all(
            is_equal(each, others, depth - 1) for each, others in zip(one, other, strict=True)
        )
    if isinstance(one, (SET, frozenset)):
        return {id(each) for each in one} == {id(each) for each in other} or bool(one == other)
    held, others = getattr(one, "__dict__", None), getattr(other, "__dict__", None)
    return isinstance(held, DICT) and bool(held) and is_equal(held, others, depth)
