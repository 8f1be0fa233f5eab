"""This module reads and writes what describes an object: the documentation of a property, the function
and arguments of a ``partial``, the class of a module."""

from functools import partial
from types import ModuleType
from typing import Any, cast

from .companies import is_own

_DOC = "__doc__"
_KIND = "__class__"


def read_property(thing: property) -> dict[str, Any]:
    """Returns the documentation of a property by its name."""
    return {_DOC: thing.__doc__}


def write_property(thing: property, content: dict[str, Any]) -> None:
    """Restores the documentation of a property."""
    if thing.__doc__ is not content[_DOC]:
        thing.__doc__ = content[_DOC]


def read_partial(thing: "partial[Any]") -> dict[str, Any]:
    """Returns the function and the arguments of a ``partial``. Its attributes are not contained."""
    return {"func": thing.func, "args": thing.args, "keywords": thing.keywords}


def write_partial(thing: "partial[Any]", content: dict[str, Any]) -> None:
    """Restores the function and the arguments of a ``partial``."""
    now = read_partial(thing)
    if any(now[name] is not value for name, value in content.items()):
        state = content["func"], content["args"], content["keywords"], thing.__dict__
        cast("Any", thing).__setstate__(state)


def read_kind_of_module(module: ModuleType) -> dict[str, Any]:
    """Returns the class of a module if the user wrote the class, and ``ModuleType`` otherwise: a module
    that is loaded when it is first used gets another class of Python's then, which is no state."""
    kind = type(module)
    return {_KIND: kind if is_own(kind.__module__) else ModuleType}


def write_kind_of_module(module: Any, content: dict[str, Any]) -> None:
    """Restores the class of a module."""
    if read_kind_of_module(module) != content:
        module.__class__ = content[_KIND]
