"""This module recognises functions that return random values, and says which kind of value each of them
returns."""

import os
import random
import secrets
import sys
import time
import uuid
from datetime import datetime
from enum import Enum
from typing import Any, cast

from ..shared_state.reaching import is_users


class DrawnKind(Enum):
    """A ``DrawnKind`` is a kind of value that comes from chance.

    NUMBER: a number, or the result of a comparison with one. CHOICE: one of several objects. NAME: an id
    or another text that only names something. TIME: a time. GENERATOR: a random generator that the run
    makes without a seed.
    """

    NUMBER = "number"
    CHOICE = "choice"
    NAME = "name"
    TIME = "time"
    GENERATOR = "generator"


_CHOOSING = frozenset({"choice", "choices", "sample", "permutation", "permuted"})
_CHANGING = frozenset({"seed", "setstate", "getstate", "set_state", "get_state", "shuffle", "spawn"})
_NAMING = (
    uuid.uuid1,
    uuid.uuid4,
    os.urandom,
    secrets.token_bytes,
    secrets.token_hex,
    secrets.token_urlsafe,
)
_CLOCKS = (
    time.time,
    time.time_ns,
    time.monotonic,
    time.monotonic_ns,
    time.perf_counter,
    time.perf_counter_ns,
)
_NUMBERS = (secrets.randbelow, os.getloadavg)


def drawn_by(function: Any, *, is_seeded: bool) -> DrawnKind | None:
    """Returns the kind of random values that a function of a library returns; None if it returns none.

    ``is_seeded``: True if every run seeds the generators of ``random`` and ``numpy.random``. Their values
    then do not depend on chance.
    """
    for known, kind in (
        (_NAMING, DrawnKind.NAME),
        (_CLOCKS, DrawnKind.TIME),
        (_NUMBERS, DrawnKind.NUMBER),
    ):
        if any(function is each for each in known):
            return kind
    # For functions of Cython, ``__module__`` may be a descriptor instead of a name. A descriptor does not
    # tell the module.
    module = cast("object", type(function).__module__)
    if isinstance(module, str) and is_users(module):
        return None  # reading the attribute would run the user's code
    owner: Any = getattr(function, "__self__", None)
    name = str(getattr(function, "__name__", ""))
    if name in {"now", "utcnow", "today"} and datetime in getattr(owner, "__mro__", ()):
        return DrawnKind.TIME
    if isinstance(owner, random.SystemRandom) or (_is_hidden(owner) and not is_seeded):
        return drawn_by_method(name)
    return None


def drawn_by_method(name: str) -> DrawnKind | None:
    """Returns the kind of random value that a random generator's method of this name returns; None if the
    method returns no random value."""
    if name in _CHANGING:
        return None
    if name in {"bytes", "randbytes"}:
        return DrawnKind.NAME
    return DrawnKind.CHOICE if name in _CHOOSING else DrawnKind.NUMBER


def makes_a_generator(function: object, *, is_given: bool) -> bool:
    """Returns True iff a call of this function makes a random generator without a seed. ``is_given``:
    True if the call has arguments, such as a seed."""
    if function is random.SystemRandom:
        return True
    numpy: Any = sys.modules.get("numpy.random")
    known = (random.Random, *((numpy.default_rng, numpy.RandomState) if numpy is not None else ()))
    return not is_given and any(function is each for each in known)


def is_seeding(function: Any) -> bool:
    """Returns True iff the function seeds the generator behind ``random`` or ``numpy.random``."""
    return getattr(function, "__name__", "") == "seed" and _is_hidden(getattr(function, "__self__", None))


def _is_hidden(owner: object) -> bool:
    """Returns True iff the object is the generator behind the functions of ``random`` or
    ``numpy.random``."""
    if isinstance(owner, random.Random):
        return owner is getattr(random.random, "__self__", None)
    numpy: Any = sys.modules.get("numpy.random")
    return numpy is not None and owner is not None and owner is numpy.random.__self__
