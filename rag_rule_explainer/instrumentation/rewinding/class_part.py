"""This module reads and writes the content of a class that the user wrote: its attributes, methods, names
and base classes."""

from types import FunctionType, MemberDescriptorType
from typing import Any

from .parts import NAMES_OF_A_CLASS, Part
from .values import ABSENT, is_plain

_FUNCTIONS = (FunctionType, staticmethod, classmethod, property)
_BASES = "__bases__"
_DESCRIBING = frozenset(
    {
        *("__doc__", "__annotations__", "__pydantic_fields__", "__dataclass_fields__"),
        *("__abstractmethods__", "__signature__", "__match_args__"),
    }
)
"""Special names of a class whose values describe the class. Code may change and read these values."""


def _is_users(name: str, value: object) -> bool:
    """Returns False for the special names of a class, such as ``__weakref__``, except for texts and
    numbers, which may be the user's."""
    return not (name.startswith("__") and name.endswith("__")) or is_plain(value)


def _read_class(kind: type) -> dict[str, Any]:
    own: dict[str, Any] = {
        name: value
        for name, value in vars(kind).copy().items()
        if not name.startswith("_abc_")
        and (isinstance(value, _FUNCTIONS) or name in _DESCRIBING or _is_users(name, value))
        and not isinstance(value, MemberDescriptorType)
    }
    names = {name: type.__getattribute__(kind, name) for name in NAMES_OF_A_CLASS}
    return {**own, **names, _BASES: kind.__bases__}


def _write_class(kind: type, content: dict[str, Any]) -> None:
    for name in _read_class(kind).keys() - content.keys():
        type.__delattr__(kind, name)
    for name, value in content.items():
        now: Any = vars(kind).get(name, ABSENT)
        if name == _BASES or name in NAMES_OF_A_CLASS:
            now = type.__getattribute__(kind, name)
        if now is not value and not (name == _BASES and now == value):
            type.__setattr__(kind, name, value)


CLASS = Part(_read_class, _write_class, is_named=True)
