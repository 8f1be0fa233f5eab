"""This module replaces caches of ``functools`` that were filled during runs by new, empty ones."""

from functools import lru_cache, update_wrapper
from typing import Any

_METHODS: Any = (staticmethod, classmethod)


def with_new_caches(value: Any, new: dict[int, Any]) -> Any:
    """Returns the new, empty cache that replaces this cache. A cache inside a static or class method is
    replaced too. Any other value is returned unchanged. ``new``: the new caches, by the ``id()`` of the
    old ones."""
    if isinstance(value, _METHODS) and id(value.__func__) in new:
        return type(value)(new[id(value.__func__)])
    return new.get(id(value), value)


def renewed(cached: Any) -> Any:
    """Returns a new, empty cache of the function that this cache wraps."""
    return update_wrapper(lru_cache(**cached.cache_parameters())(cached.__wrapped__), cached.__wrapped__)
