"""This module reads the attributes that user code sets on threads, pools, event loops, processes and
mocks.

The other attributes of such an object belong to its library, change at any time and are never restored.
"""

from collections.abc import Iterator
from types import FunctionType
from typing import Any, cast

from ..copies.guarded_code import own_code
from ..shared_state.per_class import per_class
from .companies import is_of_own, is_own
from .foreign_attributes import names_set_in
from .library_objects import is_a_mock
from .parts import ATTRIBUTES, Part
from .values import ABSENT

_OF_MOCKS = ("_mock_", "_spec_", "method_calls")
"""The beginnings of the names of the attributes in which a mock keeps its own state."""


def _read(thing: Any) -> dict[str, Any]:
    kind = cast("Any", type(thing))
    is_mock, is_users, known = is_a_mock(thing), is_of_own(kind), _set_by_the_library(kind)
    return {
        name: value
        for name, value in ATTRIBUTES.read(thing).items()
        if name not in known
        and not (name.startswith(_OF_MOCKS) if is_mock else name.startswith("_") and not is_users)
    }


def _write(thing: Any, content: dict[str, Any]) -> None:
    held, now = object.__getattribute__(thing, "__dict__"), _read(thing)
    for name in now.keys() - content.keys():
        held.pop(name, None)
    for name, value in content.items():
        if now.get(name, ABSENT) is not value:
            held[name] = value


USERS_ATTRIBUTES = Part(_read, _write, is_named=True)
"""The attributes of an object that no method of a library's class sets. An attribute with a leading
underscore only counts if the user wrote the object's class: libraries also set such attributes from
outside, such as an event loop's."""


@per_class
def _set_by_the_library(kind: type) -> frozenset[str]:
    """Returns the names of the attributes that the methods of a class, or of its base classes, set;
    methods of classes that the user wrote do not count."""
    return frozenset(
        name
        for each in kind.__mro__
        if not is_own(str(each.__module__))
        for function in _functions_of(each)
        for name in names_set_in(own_code(function))
    )


def _functions_of(kind: type) -> Iterator[FunctionType]:
    for member in vars(kind).copy().values():
        function: Any = getattr(member, "__func__", None) or getattr(member, "fset", None) or member
        if isinstance(function, FunctionType):
            yield function
