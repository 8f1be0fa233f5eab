"""This module compares values: texts and numbers by equality, all other objects by identity."""

from collections import deque
from operator import is_
from typing import Any, cast

_PLAIN = (str, int, float, bool, bytes, complex, type(None))

# Typed as Any, because pyright would report unknown types of their contents.
DICT: Any = dict
LIST: Any = list
SET: Any = set
DEQUE: Any = deque
TUPLES: Any = (tuple, frozenset)
LISTED: Any = (list, tuple)

ABSENT = object()
"""This object stands for the value of an entry that does not exist."""


def is_plain(value: object) -> bool:
    """Returns True iff the value is a text, a number, bytes, None, or a tuple of these."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:  # most values are one of these
        return True
    if isinstance(value, tuple):
        return all(map(is_plain, cast("tuple[Any, ...]", value)))
    return isinstance(value, _PLAIN)


def is_same(first: object, second: object) -> bool:
    """Returns True iff both values are the same object, or are texts, numbers or tuples of these that
    have the same type and are equal."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        mine, others = cast("tuple[Any, ...]", first), cast("tuple[Any, ...]", second)
        return len(mine) == len(others) and all(map(is_same, mine, others))
    return isinstance(first, _PLAIN) and first == second


def is_equal(first: Any, second: Any, depth: int = 1) -> bool:
    """Returns True iff the values are the same (see ``is_same``), or have the same type and equal
    content.

    ``depth``: the number of levels of nested content that are compared.
    """
    if is_same(first, second):
        return True
    if type(first) is not type(second) or is_plain(first) or depth < 1:
        return False
    if isinstance(first, DICT):
        return first.keys() == second.keys() and all(
            is_equal(value, second[key], depth - 1) for key, value in first.items()
        )
    if isinstance(first, LISTED):
        # Most entries are the same objects.
        return len(first) == len(second) and (
            all(map(is_, first, second))
            or all(is_equal(each, others, depth - 1) for each, others in zip(first, second, strict=True))
        )
    if isinstance(first, (SET, frozenset)):
        return {id(each) for each in first} == {id(each) for each in second} or bool(first == second)
    held, others = getattr(first, "__dict__", None), getattr(second, "__dict__", None)
    return isinstance(held, DICT) and bool(held) and is_equal(held, others, depth)
