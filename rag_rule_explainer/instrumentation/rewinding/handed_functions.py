"""This module finds the functions of libraries to which the user's objects refer, such as the bound
method ``path.exists`` that an application keeps, or ``partial(os.path.exists, path)``."""

from collections.abc import Iterable, Iterator
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from .companies import is_of_own
from .owners import Node, Owner

_PASSING: Any = (MethodType, partial, tuple)
_HOLDING: Any = (CellType, FunctionType, ModuleType, dict, list)


def names_of_handed_functions(nodes: Iterable[Node]) -> Iterator[str]:
    """Yields the name of each function of a library to which an object of the user's refers. Code calls
    such a function without its name. ``nodes``: all reachable objects."""
    for node in nodes:
        if isinstance(node.thing, FunctionType) and _is_the_users(node) and not is_of_own(node.thing):
            yield node.thing.__name__


def _is_the_users(node: Node) -> bool:
    """Returns True iff a variable, a collection or an object of the user's refers to the function,
    directly or through a bound method or a ``partial``."""
    holder = node.holder
    while holder is not None and isinstance(holder.thing, _PASSING):
        holder = holder.holder
    return (
        holder is not None
        and holder.owner is Owner.USER
        and (isinstance(holder.thing, _HOLDING) or is_of_own(holder.thing))
    )
