"""This module replaces caches of ``functools`` by new, empty caches if runs have added entries to
them."""

from functools import lru_cache, update_wrapper
from typing import Any

_METHODS: Any = (staticmethod, classmethod)


def with_new_caches(value: Any, new: dict[int, Any]) -> Any:
    """Returns the new, empty cache that replaces ``value``, if ``value`` is a cache or a static or class
    method with a cache. Returns any other value unchanged. ``new``: the new caches, by the ``id()`` of
    the old ones."""
    if isinstance(value, _METHODS) and id(value.__func__) in new:
        return type(value)(new[id(value.__func__)])
    return new.get(id(value), value)


def renewed(cached: Any) -> Any:
    """Returns a new, empty cache for the same function."""
    return update_wrapper(lru_cache(**cached.cache_parameters())(cached.__wrapped__), cached.__wrapped__)
