"""What a setting or a parameter may be, where its type alone does not say so at run time.

A string such as "no" is true, a string is a sequence of letters, and True is a number: nobody who writes
one of these means what Python would take it for.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from .errors import InvalidInput
from .printable import shortened

_LONGEST = 200


def told(given: object) -> str:
    """Returns a value as errors show it, however long it is."""
    return shortened(repr(given), _LONGEST)


def checked_flag(name: str, given: Any) -> bool:
    """Returns True or False. Raises InvalidInput for anything else, such as "no"."""
    if type(given) is not bool:
        raise InvalidInput(f"{name} is {told(given)}; give True or False")
    return given


def checked_whole(name: str, given: Any, least: int, most: int | None = None) -> int:
    """Returns a whole number. Raises InvalidInput for one below ``least`` or above ``most``, and for
    anything else."""
    if type(given) is not int or given < least or (most is not None and given > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most:,}"
        raise InvalidInput(f"{name} is {told(given)}; give a whole number, {bounds}")
    return given


def checked_function(name: str, given: Any, what: str) -> Any:
    """Returns a function. Raises InvalidInput, with ``what`` to give, for what cannot be called."""
    if not callable(given):
        raise InvalidInput(f"{name} is {told(given)}; give {what}")
    return given


def checked_list(name: str, given: Any, what: str) -> tuple[Any, ...]:
    """Returns the items of a list, a tuple, a set or a generator. Raises InvalidInput, with ``what`` it
    is to be a list of, for one string, a mapping, and what has no items."""
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        raise InvalidInput(f"{name} is {told(cast('object', given))}; give a list of {what}")
    return tuple(cast("Iterable[Any]", given))


def checked_text(name: str, given: Any, what: str = "a str") -> str:
    """Returns a text. Raises InvalidInput, with ``what`` to give, for anything else, or a blank one."""
    if not isinstance(given, str):
        raise InvalidInput(f"{name} is {told(given)}; give {what}")
    if not given.strip():
        raise InvalidInput(f"{name} is empty; give {what}")
    return given


def named(function: object) -> str:
    """Returns what errors call a function."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return "a lambda" if name.endswith("<lambda>") else name


def takes(function: Callable[..., Any], arguments: int) -> bool:
    """Returns False iff it is known that a function cannot be called with so many arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in ones do not say
        return True
    try:
        signature.bind(*range(arguments))
    except TypeError:
        return False
    return True
