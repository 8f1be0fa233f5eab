"""Whose an object is, and how one comes to it."""

from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from types import CellType, FunctionType
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, WeakValueDictionary

from ..shared_state.reaching import FRAMEWORKS
from .companies import is_of_own, is_own
from .parts import Part

_MODELS = frozenset({"BaseLanguageModel", "BaseLLM"})
"""How the base classes of models are called in the frameworks."""
_COLLECTIONS: Any = (
    *(dict, list, tuple, set, frozenset, deque, CellType, WeakKeyDictionary, WeakValueDictionary),
    *(WeakSet, UserDict, UserList, ChainMap),
)
"""Whose they are is told by what holds them."""
# What holds anything: as Any, the checker does not ask what is in it.
_FUNCTION: Any = FunctionType
_WEAK: Any = (WeakKeyDictionary, WeakValueDictionary, WeakSet, ReferenceType)


class Owner(Enum):
    """Whose an object is: a collection is of what holds it."""

    USER = auto()
    FRAMEWORK = auto()
    MODEL = auto()
    LIBRARY = auto()


@dataclass(slots=True, eq=False)
class Node:
    """This class represents an object found while walking through the application's objects. ``name``:
    the attribute or variable under which ``holder`` keeps it; ``holder``: the node it was first found
    in; ``steps``: how many library objects in a row lead to it, counted from the last object that is
    not a library's; ``contents``: its parts, each with the object it holds."""

    thing: Any
    name: str = ""
    holder: "Node | None" = None
    owner: Owner = Owner.USER
    steps: int = 0
    contents: list[tuple[Part, Any]] = field(default_factory=list[tuple[Part, Any]])

    @property
    def is_passed_by(self) -> bool:
        """Returns True iff what it holds is called as it is called itself."""
        is_wrapper = isinstance(self.thing, FunctionType) and not is_of_own(self.thing)
        return is_wrapper or isinstance(self.thing, _COLLECTIONS)

    def names(self) -> Iterator[str]:
        """Yields the names by which one comes to it from an object that is no collection, and no
        library's."""
        node: Node | None = self
        while node is not None:
            if node.name:
                yield node.name
            node = node.holder
            if node is not None and node.owner is not Owner.LIBRARY and not node.is_passed_by:
                return

    def object(self) -> Any:
        """Returns the object that holds it and is no collection; its own where it is none."""
        node = self
        while node.is_passed_by and node.holder is not None:
            node = node.holder
        return node.thing


def is_a_register(node: Node) -> bool:
    """Returns True iff a library lists there, by weak references, what others have made, such as the runs
    of all workflows that go on in the process."""
    return isinstance(node.thing, _WEAK) and not is_of_own(node.object())


def package_of(thing: object) -> str:
    """Returns the package of an object's class."""
    return str(type(thing).__module__).split(".")[0]


def is_of_library(thing: Any) -> bool:
    """Returns True iff an object is neither the user's nor a framework's."""
    return not type(thing).__module__.startswith(FRAMEWORKS) and not is_of_own(thing)


def is_model(kind: Any) -> bool:
    """Returns True iff a class is one of a framework's models."""
    return any(each.__name__ in _MODELS for each in kind.__mro__)


def owner_of(value: Any, holder: Node) -> tuple[Owner, int]:
    """Returns who owns ``value``, an object that ``holder`` holds (user, framework, model or library),
    and how many library objects in a row lead to it."""
    if is_model(type(value)) or holder.owner is Owner.MODEL:
        # What a model holds is its own, whoever wrote it.
        return Owner.MODEL, 0
    if isinstance(value, _COLLECTIONS) and not is_own(type(value).__module__):
        return holder.owner, holder.steps
    if isinstance(value, _FUNCTION) or is_of_own(value):
        return Owner.USER, 0
    if not is_of_library(value):
        return Owner.FRAMEWORK, 0
    return Owner.LIBRARY, holder.steps + 1
