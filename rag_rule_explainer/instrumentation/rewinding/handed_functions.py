"""This module finds the functions of libraries to which the user's objects refer, such as the bound method
``path.exists`` that an application keeps, or ``partial(os.path.exists, path)``."""

from collections.abc import Iterable, Iterator
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

from .companies import is_of_own
from .owners import Node, Owner

_PASSING: Any = (CellType, MethodType, partial, FunctionType, dict, list, tuple)


def names_of_handed_functions(nodes: Iterable[Node]) -> Iterator[str]:
    """Yields the name of each function of a library to which an object of the user's refers. Code calls
    such a function without its name. ``nodes``: all reachable objects."""
    for node in nodes:
        thing, holder = node.thing, node.holder
        if (
            isinstance(thing, FunctionType)
            and holder is not None
            and holder.owner is Owner.USER
            and isinstance(holder.thing, _PASSING)
            and not is_of_own(thing)
        ):
            yield thing.__name__
