"""This module converts arbitrary values to values that JSON can represent."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # pydantic is slow to import, and every source needs this module
    from pydantic import JsonValue

_DEEPEST, _MOST_ITEMS, _LARGEST = 32, 10_000, 2**63


def as_json(value: Any) -> "JsonValue":
    """Returns the value in the types of JSON. An object of another type becomes the name of its type;
    none of its code is run.

    Containers nested deeper than 32 levels, and all containers after the first 10,000, also become the
    names of their types. Only the first 10,000 items of each container are kept.
    """
    return _said(value, _DEEPEST, iter(range(_MOST_ITEMS)))


def json_object(mapping: Mapping[Any, Any]) -> "dict[str, JsonValue]":
    """Returns the mapping in the types of JSON, converted as by ``as_json``."""
    return cast("dict[str, JsonValue]", as_json(mapping))


def _said(value: Any, depth: int, budget: Iterator[int]) -> "JsonValue":
    name = f"<{type(value).__name__}>"
    if isinstance(value, (Mapping, list, tuple, set, frozenset)) and depth:
        if next(budget, None) is not None:
            return _all_said(cast("Any", value), depth - 1, budget)
    elif value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < _LARGEST):
        return value
    elif isinstance(value, float):
        return value if isfinite(value) else str(value)
    elif isinstance(value, str):
        return encodable(value)
    return name


def _all_said(value: Any, depth: int, budget: Iterator[int]) -> "JsonValue":
    if isinstance(value, Mapping):
        items = islice(cast("Mapping[Any, Any]", value).items(), _MOST_ITEMS)
        return {_key(key): _said(item, depth, budget) for key, item in items}
    return [_said(item, depth, budget) for item in islice(cast("Iterable[Any]", value), _MOST_ITEMS)]


def _key(key: object) -> str:
    if isinstance(key, str):
        return encodable(key)
    plain = isinstance(key, (bool, float)) or (isinstance(key, int) and abs(key) < _LARGEST)
    return str(key) if plain else f"<{type(key).__name__}>"


def encodable(text: str) -> str:
    """Returns the text with "?" in place of each lone surrogate (half of a UTF-16 pair), because no
    encoding can write it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
