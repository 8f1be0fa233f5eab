"""This module finds collections of libraries' classes that the user's code may fill by calling a class
method, as ``yaml.SafeLoader.add_constructor`` does."""

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.contents import names_in
from ..shared_state.reaching import FRAMEWORKS
from .companies import is_own
from .owners import Node, Owner
from .parts import Part, parts_of
from .values import ABSENT

_COLLECTIONS: Any = (dict, list, set)
_OF_CLASSES: Any = (classmethod, staticmethod)


def registers_of_classes(
    spaces: Iterable[dict[str, Any]], names: frozenset[str], setting: frozenset[str]
) -> Iterator[tuple[Node, Part]]:
    """Yields each class of a library that code names and that has a class method which code names and
    which sets something, with a ``Part`` for the collections that this method uses; also yields each of
    these collections.

    ``spaces``: the globals that the code uses. ``names``: the names in the code. ``setting``: those among
    them by which functions set something.
    """
    for kind in _classes(spaces, names):
        used = frozenset(name for each in _methods(kind, setting) for name in names_in(own_code(each)))
        known = {name: getattr(kind, name, None) for name in used if not name.startswith("__")}
        held = {name: each for name, each in known.items() if isinstance(each, _COLLECTIONS)}
        if held:
            yield Node(kind, kind.__name__, owner=Owner.LIBRARY), _attributes(frozenset(held))
        for name, each in held.items():
            yield from ((Node(each, name, owner=Owner.LIBRARY), part) for part in parts_of(each))


def _classes(spaces: Iterable[dict[str, Any]], names: frozenset[str]) -> Iterator[type]:
    for space in spaces:
        for name in sorted(names & space.keys()):
            kind: Any = space[name]
            if isinstance(kind, type) and not (
                is_own(kind.__module__) or kind.__module__.startswith(FRAMEWORKS)
            ):
                yield kind


def _methods(kind: type, setting: frozenset[str]) -> Iterator[FunctionType]:
    for each in kind.__mro__:
        for name in sorted(setting & vars(each).keys()):
            member = vars(each)[name]
            function = member.__func__ if isinstance(member, _OF_CLASSES) else None
            if isinstance(function, FunctionType):
                yield function


def _attributes(names: frozenset[str]) -> Part:
    def read(kind: type) -> dict[str, Any]:
        return {name: vars(kind).get(name, ABSENT) for name in names}

    def write(kind: type, content: dict[str, Any]) -> None:
        now = read(kind)
        for name, value in content.items():
            if value is ABSENT and now[name] is not ABSENT:
                type.__delattr__(kind, name)
            elif value is not now[name]:
                type.__setattr__(kind, name, value)

    return Part(read, write, is_named=True)
