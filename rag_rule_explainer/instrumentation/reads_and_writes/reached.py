"""This module defines the values that the code of a tool reaches."""

from collections import deque
from collections.abc import Hashable, Mapping
from contextvars import ContextVar
from functools import partial
from io import BytesIO, StringIO
from operator import attrgetter, methodcaller
from sqlite3 import Connection
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from ..comparable import Opaque

Holder: TypeAlias = Hashable
DATA = (dict, list, set, frozenset, tuple, deque, bytearray, str, bytes, int, float, bool, type(None))
"""The types of data."""
FOLLOWED: tuple[type, ...] = (
    *(FunctionType, MethodType, BuiltinFunctionType, ModuleType, ContextVar, partial),
    *(staticmethod, classmethod, property, attrgetter, methodcaller),
)
"""The types of what is no value of its own, and leads to code or to a value."""
_MUTABLE = (dict, list, set, deque, bytearray, Connection, StringIO, BytesIO)
_OF_FILES = ("the file",)
_OF_MEMORY = ("the memory",)


class Reached(NamedTuple):
    """A ``Reached`` is one value that code reaches. ``content``: what ``comparable_value`` returns for
    it; ``holders``: identify the variable, and the object itself if it may change; ``is_read``: True if
    the code may read it; ``is_coarse``: True for a file, and for an object of a library, of which it may
    read any part, and for an attribute that no code names, of an object that it hands on. ``parts``: what
    ``inner_parts`` returns for it; ``identity``: the id of an object of the user's, or of a class, whose
    content is looked at apart; 0 for any other value. ``has_memory``: True for an object that each use
    may change, in a way that is not known."""

    content: Any
    holders: tuple[Holder, ...]
    is_read: bool
    is_coarse: bool = False
    parts: Mapping[int, Any] = {}
    identity: int = 0
    has_memory: bool = False

    @property
    def is_unknown(self) -> bool:
        """Returns True iff this is an object of a library whose content is not known."""
        return any(isinstance(each, tuple) and each[:1] == _OF_MEMORY for each in self.holders)

    @property
    def files(self) -> set[tuple[str, str]]:
        """Returns those of the holders that are files."""
        return {each for each in self.holders if isinstance(each, tuple) and each[:1] == _OF_FILES}


def reached_memory(thing: object, *, is_changed: bool) -> Reached:
    """Returns what stands for an object that may keep what it is given, and whose content is not known.
    ``is_changed``: True if the code seems to change it."""
    content = Opaque(type(thing).__qualname__)
    return Reached(content, ((*_OF_MEMORY, id(thing)),), is_read=True, has_memory=is_changed)


def file_holder(path: str) -> tuple[str, str]:
    """Returns the holder of a file."""
    return *_OF_FILES, path


def paths_in(holder: Holder) -> list[str]:
    """Returns the path of the file that a holder stands for; none for any other holder."""
    return [holder[1]] if isinstance(holder, tuple) and holder[:1] == _OF_FILES else []


def is_plain_data(value: object) -> bool:
    """Returns True iff a value is of a type of data."""
    return isinstance(value, DATA)


def is_mutable(value: object) -> bool:
    """Returns True iff a value is of a type of Python's whose content code may change."""
    return isinstance(value, _MUTABLE)
