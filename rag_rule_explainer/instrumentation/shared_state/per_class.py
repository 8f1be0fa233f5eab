"""This module caches results that are computed from a class. A search of an application's objects meets
the same few classes thousands of times, so the cache saves time."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

Result = TypeVar("Result")


def per_class(function: Callable[[type], Result]) -> Callable[[Any], Result]:
    """Returns a function with the same results as ``function``, which calls ``function`` only once for
    each class.

    Use ``per_class`` only if the result for a class never changes. The cache keeps no class alive.
    """
    known: WeakKeyDictionary[type, Result] = WeakKeyDictionary()
    # This is the dict inside ``known``. Reading it directly is faster than ``known[kind]``, which calls
    # a method that is written in Python.
    found: dict[ref[type], Result] = vars(known)["data"]

    @wraps(function)
    def recalled(kind: type) -> Result:
        try:
            return found[ref(kind)]
        except KeyError:
            return known.setdefault(kind, function(kind))
        except Exception:  # the user's metaclass may define no hash, or an ``==`` that raises
            return function(kind)

    return recalled
