"""This module finds out whose each object is (the user's, a framework's, a model's or a library's), and
the path on which it was found."""

from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from types import CellType, FunctionType
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, WeakValueDictionary

from ..shared_state.per_class import per_class
from ..shared_state.reaching import FRAMEWORKS
from .companies import is_of_own, is_own
from .parts import Part

_MODELS = frozenset({"BaseLanguageModel", "BaseLLM"})
"""The names of the frameworks' base classes of models."""
_COLLECTIONS: Any = (
    *(dict, list, tuple, set, frozenset, deque, CellType, WeakKeyDictionary, WeakValueDictionary),
    *(WeakSet, UserDict, UserList, ChainMap),
)
"""Types whose instances belong to the owner of the object that holds them."""
# Typed as Any, because pyright would report unknown types of their contents.
_FUNCTION: Any = FunctionType
_WEAK: Any = (WeakKeyDictionary, WeakValueDictionary, WeakSet, ReferenceType)


class Owner(Enum):
    """An ``Owner`` names whose object something is. A collection belongs to the owner of the object that
    holds it."""

    USER = auto()
    FRAMEWORK = auto()
    MODEL = auto()
    LIBRARY = auto()


@dataclass(slots=True, eq=False)
class Node:
    """A ``Node`` is an object that was found while walking through the application's objects.

    ``holder``: the node on which it was found first. ``name``: the attribute or variable of the holder
    that refers to it. ``steps``: the number of library objects in a row that lead to it. ``contents``:
    its parts, such as its attributes, each with its content.
    """

    thing: Any
    name: str = ""
    holder: "Node | None" = None
    owner: Owner = Owner.USER
    steps: int = 0
    contents: list[tuple[Part, Any]] = field(default_factory=list[tuple[Part, Any]])

    @property
    def is_passed_by(self) -> bool:
        """Returns True for a collection or a wrapper. Users know its content by the name of the node that
        holds it."""
        is_wrapper = isinstance(self.thing, FunctionType) and not is_of_own(self.thing)
        return is_wrapper or isinstance(self.thing, _COLLECTIONS)

    def names(self) -> Iterator[str]:
        """Yields the names on the path from this node back to the nearest object that is neither a
        collection nor a library's."""
        node: Node | None = self
        while node is not None:
            if node.name:
                yield node.name
            node = node.holder
            if node is not None and node.owner is not Owner.LIBRARY and not node.is_passed_by:
                return

    def of_object(self) -> "Node":
        """Returns this node if its object is no collection; otherwise the nearest holder on the path that
        is none."""
        node = self
        while node.is_passed_by and node.holder is not None:
            node = node.holder
        return node

    def object(self) -> Any:
        """Returns the object of ``of_object``."""
        return self.of_object().thing


def is_a_register(node: Node) -> bool:
    """Returns True for a library's collection of weak references, such as the list of active runs."""
    return isinstance(node.thing, _WEAK) and not is_of_own(node.object())


def package_of(thing: object) -> str:
    """Returns the package of an object's class."""
    return str(type(thing).__module__).split(".")[0]


def is_of_library(thing: Any) -> bool:
    """Returns True iff an object is neither the user's nor a framework's."""
    return not type(thing).__module__.startswith(FRAMEWORKS) and not is_of_own(thing)


@per_class
def is_model(kind: type) -> bool:
    """Returns True iff a class is derived from a framework's base class of models."""
    return any(each.__name__ in _MODELS for each in kind.__mro__)


def owner_of(value: Any, holder: Node) -> tuple[Owner, int]:
    """Returns the owner of ``value``, which ``holder`` holds, and the number of library objects in a row
    that lead to it."""
    if is_model(type(value)) or holder.owner is Owner.MODEL:
        # An object inside a model belongs to the model, whichever class it has.
        return Owner.MODEL, 0
    if isinstance(value, _COLLECTIONS) and not is_own(type(value).__module__):
        return holder.owner, holder.steps
    if isinstance(value, _FUNCTION) or is_of_own(value):
        return Owner.USER, 0
    if not is_of_library(value):
        return Owner.FRAMEWORK, 0
    return Owner.LIBRARY, holder.steps + 1
