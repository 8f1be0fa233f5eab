"""This module reads and writes the state of random generators. It also finds the hidden generators from
which functions such as ``random.random`` draw numbers."""

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
    """Yields each function that the user's code may call and that is a method of a hidden random
    generator, such as ``random.seed``: its name, and the generator.

    Functions that draw numbers are yielded only if one of the user's modules seeds a generator. Without a
    seed, the generator's state before a run is arbitrary, so a replay from that state shows nothing.
    ``named``: the objects that the user's code names. ``names``: all names in this code; if the code
    names the module ``numpy.random``, ``names`` shows which functions of the module the code may call.
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
            inner = vars(each).copy()
            yield from (inner[name] for name in names & inner.keys())


def _is_seeded() -> bool:
    """Returns True iff a module of the user's contains a call that seeds a generator. The source files
    are searched, because such calls are often outside of all functions."""
    files = [
        getattr(module, "__file__", None) for name, module in sys.modules.copy().items() if is_own(name)
    ]
    return any(seeds_a_generator(file) for file in files if isinstance(file, str))


_known: dict[str, tuple[list[str], bool]] = {}
"""For each file that was searched: its lines, and whether one of these lines seeds a generator."""


def seeds_a_generator(file: str) -> bool:
    """Returns True iff a file contains a call that seeds a random generator. The result is cached until
    ``linecache`` reads the file anew."""
    lines = linecache.getlines(file)
    known = _known.get(file)
    if known is None or known[0] is not lines:
        text = "".join(lines)
        known = _known[file] = lines, any(seeds in text for seeds in _SEEDS)
    return known[1]
