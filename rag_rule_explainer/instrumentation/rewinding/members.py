"""This module finds the members of a class by their names, and the code of a member."""

from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from ..copies.guarded_code import own_code


def members_named(kind: type[object], names: frozenset[str]) -> Iterator[object]:
    """Yields the members of a class (or of its bases or metaclass) that have one of these names. A
    property is yielded itself, as by ``getattr_static``, and not its value."""
    # This runs for each replay. To search each class once for all names is far faster than to search all
    # classes for each name.
    for each in (*kind.__mro__, *type(kind).__mro__):
        members: Mapping[str, object] = vars(each)
        found = names & members.keys()
        yield from (members[name] for name in found)
        names -= found


def code_of_member(member: Any) -> CodeType | None:
    """Returns the code of a method or of a property; None for any other attribute of a class."""
    function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
    return own_code(function) if hasattr(function, "__code__") else None
