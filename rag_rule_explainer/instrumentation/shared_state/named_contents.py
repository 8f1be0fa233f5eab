"""This module reads the values of all attributes and variables of an application that have one name."""

from typing import NamedTuple

from .contents import is_collection
from .held import Plain
from .holdings import Holdings


class Contents(NamedTuple):
    """A ``Contents`` holds the values of all attributes and variables that have one name, such as
    ``turn``, at one moment.

    ``plain``: the values that are texts or numbers; each key is a pair: the ``id()`` of the object that
    has the value, and the value's name in this object. ``size``: the number of entries of all values that
    are collections, added up.
    """

    plain: dict[tuple[int, str], tuple[type, Plain]]
    size: int


def contents_of(holdings: Holdings, name: str) -> Contents:
    """Returns the texts, numbers and sizes of all values that have this name."""
    plain, size = dict[tuple[int, str], tuple[type, Plain]](), 0
    for held in holdings.all:
        # Attributes of a framework's objects are left out: either each run has its own copy of them, or
        # another check raises an error for the application.
        is_inside = is_collection(held.thing) and name in holdings.names(held)
        size += held.size if is_inside else 0
        for inner, value in held.plain:
            if is_inside or (inner == name and held.is_users and not held.is_code):
                # An entry of a set is identified by its text, because a set has no order. If an object
                # and its class have an attribute of the same name, the object's own value is used, as
                # Python does.
                plain.setdefault((id(held.thing), inner or repr(value)), (type(value), value))
    return Contents(plain, size)
