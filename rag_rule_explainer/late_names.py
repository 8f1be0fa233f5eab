"""This module imports names when they are first used, so that the package itself is imported fast.

It also has a table of functions by name. Methods of results call the functions in this table. So an
explanation can have a method that writes a report, although the module of explanations does not import
the module of reports.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def importing_late(package: str, rooms: Mapping[str, str]) -> Callable[[str], object]:
    """Returns a function that a package uses as its ``__getattr__``. The function imports each name when
    the name is first used, and raises AttributeError for a name that is not in ``rooms``. ``rooms``: for
    each name, the module of the package that defines it."""

    def imported(name: str) -> object:
        if name not in rooms:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{rooms[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return imported


_PLACES: dict[str, tuple[str, str]] = {}
"""For each registered function, the package that has it and the module of this package that defines it.
"""


def register_functions(package: str, rooms: Mapping[str, str]) -> None:
    """Adds functions to the table from which ``registered_function`` gets a function by its name.
    ``package``: the package that has the functions. ``rooms``: for the name of each function, the module
    of the package that defines it. Nothing is imported."""
    _PLACES.update({name: (package, room) for name, room in rooms.items()})


def registered_function(name: str) -> Callable[..., Any]:
    """Returns the function that is registered under this name, and imports its module if needed. Raises
    KeyError if no function has this name."""
    package, room = _PLACES[name]
    function: Callable[..., Any] = getattr(import_module(f".{room}", package), name)
    return function
