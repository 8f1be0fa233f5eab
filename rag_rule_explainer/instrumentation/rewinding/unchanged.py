"""This module recognises at once that the content of an object is still what a snapshot has stored. Most
objects do not change, and to read all of them again would take several times as long.

Each function returns True only if certainly nothing has changed, and calls no code of the user's.
"""

from operator import is_
from typing import Any

from .values import DICT, LIST


def is_same_dict(thing: Any, content: Any) -> bool:
    """Returns True only if a dict has the entries in ``content``, in the same order."""
    if type(thing) is not DICT or type(content) is not DICT or len(thing) != len(content):
        return False
    try:
        return all(map(is_, thing.values(), content.values())) and all(map(is_, thing, content))
    except RuntimeError:  # another thread, or the garbage collector, changes the dict meanwhile
        return False


def is_same_list(thing: Any, content: Any) -> bool:
    """Returns True only if a list has the members of ``content``, in the same order."""
    return type(thing) is LIST and len(thing) == len(content) and all(map(is_, thing, content))


def has_same_attributes(thing: Any, content: Any) -> bool:
    """Returns True only if the attributes in an object's dict are those in ``content``, in the same
    order."""
    return is_same_dict(object.__getattribute__(thing, "__dict__"), content)


def is_of_same_class(thing: Any, content: Any) -> bool:
    """Returns True only if the object's class is the one in ``content``."""
    return len(content) == 1 and content.get("__class__") is type(thing)
