"""This module lets a package import a name when it is first used, so that the package itself is imported
fast."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def importing_late(package: str, rooms: Mapping[str, str]) -> Callable[[str], object]:
    """Returns the ``__getattr__`` of a package. It imports each name when it is first used. ``rooms``:
    for each name, the module of the package that defines it. Raises AttributeError for another name."""

    def imported(name: str) -> object:
        if name not in rooms:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{rooms[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return imported
