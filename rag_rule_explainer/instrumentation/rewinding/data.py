"""Whether a value is data, as opposed to a client, a lock or an index that is made once."""

import asyncio
import concurrent.futures
import pickle
from types import MethodType
from typing import Any

from .companies import is_of_own
from .values import DICT, LISTED, SET, is_plain

_MOST = 200
"""Objects that are looked at."""
# What holds anything: as Any, the checker does not ask what is in it.
_METHOD: Any = MethodType


def is_data(value: Any) -> bool:
    """Returns True iff there is nothing in it but texts and numbers, or there is an object of the
    user's."""
    seen = set[int]()
    waiting: list[Any] = [value]
    while waiting and len(seen) < _MOST:
        each = waiting.pop()
        if is_plain(each) or id(each) in seen or isinstance(each, type):
            continue
        seen.add(id(each))
        if is_of_own(each):
            return True
        if isinstance(each, _METHOD):
            waiting.append(each.__self__)
        if isinstance(each, (asyncio.Future, concurrent.futures.Future)):
            return True
        if isinstance(each, DICT):
            waiting += [*DICT.keys(each), *DICT.values(each)]
        elif isinstance(each, (*LISTED, SET, frozenset)):
            waiting += list(each)
        elif isinstance(getattr(each, "__dict__", None), DICT):
            waiting += [*DICT.values(vars(each))]
        elif not callable(each) and not _can_be_written_down(each):
            return False
    return True


def _can_be_written_down(thing: object) -> bool:
    """Whether it is no lock, no socket, and nothing else that is of this process alone."""
    try:
        pickle.dumps(thing)
    except Exception:  # whatever its class raises
        return False
    return True
