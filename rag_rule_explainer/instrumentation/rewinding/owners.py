"""This module finds the owner of each object: the user, a framework, a model or a library. It also
records the path of references by which each object was found."""

from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, cast
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, WeakValueDictionary

from ..shared_state.per_class import per_class
from ..shared_state.reaching import FRAMEWORKS, SIMPLE
from .companies import is_of_own, is_own
from .parts import Part

_MODELS = frozenset({"BaseLanguageModel", "BaseLLM"})
"""The names of the base classes from which the language models of frameworks are derived."""
_COLLECTIONS: Any = (
    *(dict, list, tuple, set, frozenset, deque, CellType, WeakKeyDictionary, WeakValueDictionary),
    *(WeakSet, UserDict, UserList, ChainMap),
)
"""Types of collections. A collection belongs to the same owner (the user, a framework, a model or a
library) as the object that refers to it, unless the class of the collection is the user's own."""
# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
_FUNCTION: Any = FunctionType
_WEAK: Any = (WeakKeyDictionary, WeakValueDictionary, WeakSet, ReferenceType)


class Owner(Enum):
    """An ``Owner`` names the owner of an object, judged by its class. A collection belongs to the owner
    of the object that refers to it.

    ``MODEL``: a language model whose class is not the user's, or a library's object inside it.
    ``USERS_MODEL``: a language model whose class the user wrote, or an object of a class that the user
    wrote inside any language model.
    """

    USER = auto()
    FRAMEWORK = auto()
    MODEL = auto()
    USERS_MODEL = auto()
    LIBRARY = auto()


OF_MODELS = frozenset({Owner.MODEL, Owner.USERS_MODEL})


@dataclass(slots=True, eq=False)
class Node:
    """A ``Node`` is an object that was found in a search of the application's objects.

    ``holder``: the node of the object that refers to this one; None for the application. ``name``: the
    holder's attribute or variable that refers to this one. ``steps``: the number of library objects at
    the end of the path to this object, including the object itself. ``contents``: its parts, such as its
    attributes, each with its content. ``others``: the names by which further objects refer to it.
    """

    thing: Any
    name: str = ""
    holder: "Node | None" = None
    owner: Owner = Owner.USER
    steps: int = 0
    contents: tuple[tuple[Part, Any], ...] = ()
    others: frozenset[str] = frozenset()

    @property
    def is_passed_by(self) -> bool:
        """Returns True for a collection, and for a function that the user did not write, such as the
        wrapper of a decorator. Messages do not name such an object, but the object that refers to it."""
        thing = self.thing
        kind = cast("type[object]", type(thing))
        if kind in SIMPLE:  # a fast path for most objects
            return True
        if isinstance(thing, FunctionType):
            return not is_of_own(thing)
        if _is_of_collections(kind):
            return True
        # ``isinstance`` takes several times as long. Only a proxy needs it: an object whose ``__class__``
        # is another class.
        return getattr(thing, "__class__", kind) is not kind and isinstance(thing, _COLLECTIONS)

    def names(self) -> Iterator[str]:
        """Yields the names on the path from this node back to the nearest object that messages can name.
        Messages do not name collections, wrappers and objects of libraries."""
        node: Node | None = self
        while node is not None:
            if node.name:
                yield node.name
            node = node.holder
            if node is not None and node.owner is not Owner.LIBRARY and not node.is_passed_by:
                return

    def is_also_named(self, name: str, holder: "Node | None") -> "Node":
        """Records that ``holder`` refers to this object by this name too. For a nameless reference, as
        from a tuple, records the holder's own name. Returns this node."""
        known = name or (holder.name if holder is not None else "")
        if known and known != self.name and known not in self.others:
            self.others |= {known}
        return self

    def all_names(self) -> Iterator[str]:
        """Yields what ``names`` yields, and the names by which further objects refer to the same
        objects."""
        node: Node | None = self
        while node is not None:
            yield from node.others
            node = node.holder
            if node is not None and node.owner is not Owner.LIBRARY and not node.is_passed_by:
                break
        yield from self.names()

    def of_object(self) -> "Node":
        """Returns this node. For a collection or a wrapper function, returns the nearest node on the path
        to it that is no collection or wrapper."""
        node = self
        while node.is_passed_by and node.holder is not None:
            node = node.holder
        return node

    def object(self) -> Any:
        """Returns the object of this node. For a collection or a wrapper function, returns the object to
        which it belongs: the nearest object on the path that is neither a collection nor a wrapper
        function."""
        return self.of_object().thing


def bound_to(value: Any) -> Any:
    """Returns the object of a method that is implemented in C: the dict of ``{}.setdefault``, for
    example. Returns any other value unchanged."""
    if isinstance(value, BuiltinFunctionType) and value.__self__ is not None:
        return value if isinstance(value.__self__, (ModuleType, type)) else value.__self__
    return value


def is_a_register(node: Node) -> bool:
    """Returns True for a library's collection of weak references, such as a list of active runs. The
    search leaves such a collection out, because it does not belong to the application."""
    if not _is_of_weak_references(type(node.thing)):
        return False
    holder = node.object()
    return not (is_own(holder.__name__) if isinstance(holder, ModuleType) else is_of_own(holder))


def package_of(thing: object) -> str:
    """Returns the name of the top-level package that defines the object's class."""
    return str(type(thing).__module__).split(".")[0]


def is_of_library(thing: Any) -> bool:
    """Returns True iff an object's class belongs neither to the user nor to a framework."""
    return not str(type(thing).__module__).startswith(FRAMEWORKS) and not is_of_own(thing)


@per_class
def is_model(kind: type) -> bool:
    """Returns True iff a class is derived from a framework's base class of models."""
    return any(each.__name__ in _MODELS for each in kind.__mro__)


@per_class
def _is_of_collections(kind: type) -> bool:
    return issubclass(kind, _COLLECTIONS)


@per_class
def _is_of_weak_references(kind: type) -> bool:
    return issubclass(kind, _WEAK)


def owner_of(value: Any, holder: Node) -> tuple[Owner, int]:
    """Returns the owner of ``value``. Also returns how many library objects follow each other at the end
    of the path from the application to ``value``. ``holder``: the node that refers to ``value``."""
    kind = cast("type[object]", type(value))
    if is_model(kind):
        return (Owner.USERS_MODEL if is_of_own(value) else Owner.MODEL), 0
    if kind in SIMPLE or (_is_of_collections(kind) and not is_own(kind.__module__)):
        return holder.owner, holder.steps
    if isinstance(value, _FUNCTION) or is_of_own(value):
        # ``in OF_MODELS`` would call the hash of an enumeration, which is written in Python.
        is_inside = holder.owner is Owner.MODEL or holder.owner is Owner.USERS_MODEL
        return (Owner.USERS_MODEL if is_inside else Owner.USER), 0
    if holder.owner is Owner.MODEL:
        # A client inside a model of a provider belongs to the model, even if its class does not.
        return Owner.MODEL, 0
    if not is_of_library(value):
        return Owner.FRAMEWORK, 0
    return Owner.LIBRARY, holder.steps + 1
