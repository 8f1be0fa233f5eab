"""This module distinguishes an application's own memory from examples that never change. Both are turns
in the application's prompt that are neither in the input nor in a memory of a framework."""

from collections.abc import Collection
from types import CodeType, FunctionType, ModuleType

from ..shared_state.held import Held
from ..shared_state.holdings import Holdings

_PROMPTS = ("Prompt", "Template")
"""Parts of the names of the frameworks' classes of prompts."""


def is_own_memory(texts: Collection[str], before: Holdings) -> bool:
    """Returns True iff an object of the application, or a variable that a function encloses, contains one
    of these texts. If only code, variables of modules and classes, or the frameworks' prompts contain
    them, they are examples, and the result is False. ``before``: the application's state before its first
    run."""
    for held in before.all:
        said = [value for _, value in held.plain if isinstance(value, str)]
        is_there = any(text and text in value for value in said for text in texts)
        if is_there and not held.is_of_model and _is_memory(held, before):
            return True
    return False


def _is_memory(held: Held, before: Holdings) -> bool:
    inner: object = held.thing
    for each in (held, *before.above(held)):
        thing = each.thing
        if any(part in kind.__name__ for kind in type(thing).__mro__ for part in _PROMPTS):
            return False
        if isinstance(thing, FunctionType):
            return any(_content_of(cell) is inner for cell in thing.__closure__ or ())
        if isinstance(thing, (CodeType, ModuleType, type)):
            return False
        if each.is_users:
            return True
        inner = thing
    return False


def _content_of(cell: object) -> object:
    try:
        return getattr(cell, "cell_contents", None)
    except ValueError:  # nothing was assigned to the variable yet
        return None
