"""This module reads and writes the state of random generators, and finds the hidden ones that code draws
from."""

import linecache
import pickle
import random
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from .companies import is_own

_SEEDING = frozenset({"seed", "setstate", "set_state"})
_SEEDS = tuple(f"{name}(" for name in _SEEDING)


def is_a_generator_of_numpy(thing: object) -> bool:
    """Returns True iff the object is a random generator of NumPy."""
    numpy: Any = sys.modules.get("numpy.random")
    return numpy is not None and isinstance(thing, (numpy.Generator, numpy.RandomState))


def read_generator(thing: Any) -> bytes:
    """Returns the state of a random generator of NumPy."""
    return pickle.dumps(_bits_of(thing).state)


def write_generator(thing: Any, content: bytes) -> None:
    """Restores the state of a random generator of NumPy."""
    _bits_of(thing).state = pickle.loads(content)  # noqa: S301 -- made by ``read_generator``


def _bits_of(thing: Any) -> Any:
    return getattr(thing, "bit_generator", None) or thing._bit_generator


def hidden_generators(named: Iterable[object], names: frozenset[str]) -> Iterator[tuple[str, object]]:
    """Yields the name of each function in ``named`` that is a method of a hidden random generator, such
    as ``random.seed``, and the generator.

    A generator that nobody seeds is in no known state before a run, so draws alone do not count then.
    ``names``: the names in the code.
    """
    is_seeded: bool | None = None
    for each in (*named, *_of_numpy(named, names)):
        generator: object = getattr(each, "__self__", None)
        if not (isinstance(generator, random.Random) or is_a_generator_of_numpy(generator)):
            continue
        if isinstance(generator, random.SystemRandom):
            continue
        name = str(getattr(each, "__name__", ""))
        if name not in _SEEDING and is_seeded is None:
            is_seeded = _is_seeded()
        if name in _SEEDING or is_seeded:
            yield name, generator


def _of_numpy(named: Iterable[object], names: frozenset[str]) -> Iterator[object]:
    for each in named:
        if isinstance(each, ModuleType) and each.__name__ == "numpy.random":
            yield from (vars(each)[name] for name in names & vars(each).keys())


def _is_seeded() -> bool:
    """Returns True iff some module of the user's calls a function that seeds. Modules do so while they
    are imported, so only their source shows it."""
    files = [
        getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if is_own(name)
    ]
    lines = (line for file in files if isinstance(file, str) for line in linecache.getlines(file))
    return any(seeds in line for line in lines for seeds in _SEEDS)
