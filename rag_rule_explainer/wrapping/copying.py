"""Copies and descriptions of anybody's objects, as good as they can be had."""

import json
import re
from contextlib import suppress
from copy import copy, deepcopy
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def copied(given: Any) -> Any:
    """A deep copy; a shallow one where something inside cannot be copied (a lock, a client)."""
    for copying in (deepcopy, copy):
        with suppress(Exception):  # whatever a __deepcopy__ or __copy__ of the user's raises
            return copying(given)
    return given


def described(value: Any) -> str:
    """The same for equal values, also where JSON cannot say them."""
    try:
        return json.dumps(value, sort_keys=True, default=_shown)
    except (TypeError, ValueError):  # mixed keys, or a circle
        return _shown(value)


def _shown(value: object) -> str:
    return _ADDRESS.sub("", repr(value))
