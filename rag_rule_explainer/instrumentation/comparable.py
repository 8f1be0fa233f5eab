"""This module makes values of two runs comparable."""

from collections import deque
from collections.abc import Callable, Mapping, Set
from io import BytesIO, StringIO
from pathlib import PurePath
from sqlite3 import Connection
from types import CodeType
from typing import Any, NamedTuple, TypeAlias, cast

from .call_keys import SAID
from .reads_and_writes.changed_in_place import data_held
from .reads_and_writes.library_data import has_work, library_parts
from .requests.volatile import Steady
from .rewinding.of_sqlite import state_of_rows

_PLAIN: tuple[type, ...] = (str, bytes, int, float, bool, type(None), CodeType)
_OF_A_REPLY = frozenset({"id", "response_metadata", "usage_metadata"})
"""The fields of a message that differ although a model has replied the same."""
_MOST = 50_000
"""The largest number of values that are compared in one object."""
_MOST_PAGES = 1_000
"""The largest number of pages of a SQLite database whose rows are compared."""
_STEADY = Steady()
_Held: TypeAlias = Callable[[Any], "tuple[Any, ...] | None"]
"""Returns the parts of an object; None if it is no data."""


class Opaque(NamedTuple):
    """An ``Opaque`` is in place of a value whose content is not known, such as a client."""

    kind: str


class Large(NamedTuple):
    """A ``Large`` is in place of a value that is too large to be compared. The same object with as many
    parts is equal. ``identity``: the id of the object; ``size``: the number of its parts."""

    identity: int
    size: int


class _TooLarge(Exception):
    pass


class _Unknown(Exception):
    """This is raised where an object of a library may hold what is no data."""


class Unreadable:
    """An ``Unreadable`` is in place of a value that cannot be compared. It equals no other."""


def comparable_value(value: object) -> Any:
    """Returns the content of a value, which is equal for values that code cannot tell apart, whichever
    run has made them. The content of an object that is no data is unknown, so only its class counts."""
    try:
        return _comparable(value, [], [_MOST], data_held)
    except _TooLarge:
        return Large(id(value), len(data_held(value) or ()))
    except Exception:  # the user's own collections and properties may raise any error
        return Unreadable()


def comparable_library_value(value: object) -> Any:
    """Returns the content of an object of a library, as ``comparable_value`` does; None if it is no data,
    or may hold what is none, such as a client or a file."""
    try:
        if library_parts(value) == ():
            return None
        return _comparable(value, [], [_MOST], _parts_of_library)
    except _TooLarge:
        return Large(id(value), len(library_parts(value) or ()))
    except Exception:  # so does any property
        return None


def _parts_of_library(value: object) -> tuple[Any, ...]:
    found = library_parts(value) if data_held(value) is None or has_work(value) else data_held(value)
    if found is None:
        raise _Unknown
    return found


def are_same(one: Any, other: Any) -> bool:
    """Returns True iff what ``comparable_value`` returned for two values is equal, but for ids and times,
    which differ in each run."""
    return bool(one == other) or bool(_steady(one) == _steady(other))


def _comparable(value: Any, above: list[int], left: list[int], held: _Held) -> Any:
    kind = cast("type[Any]", type(value))
    if isinstance(value, _PLAIN):
        return kind, value
    if kind in SAID or isinstance(value, (PurePath, Connection)):
        return kind, _rows(value) if isinstance(value, Connection) else repr(value)
    if isinstance(value, (StringIO, BytesIO)):
        return kind, value.getvalue(), value.tell()
    if id(value) in above:
        return "again", len(above) - above.index(id(value))
    content = held(value)
    named = f"{kind.__module__}.{kind.__qualname__}"
    if content is None:
        return Opaque(named)
    left[0] -= len(content) + 1
    if left[0] < 0:
        raise _TooLarge
    return named, _inside(value, [_comparable(each, [*above, id(value)], left, held) for each in content])


def _inside(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, Set):
        return frozenset(parts)
    if isinstance(value, (list, tuple, deque, bytearray)) or data_held(value) is None:
        return tuple(parts)
    return _entries(parts, is_message=not isinstance(value, Mapping) and hasattr(value, "content"))


def _entries(flat: list[Any], *, is_message: bool) -> tuple[Any, ...]:
    pairs = zip(flat[::2], flat[1::2], strict=True)
    left = (each for each in pairs if not (is_message and each[0][1] in _OF_A_REPLY))
    return tuple(sorted(left, key=lambda each: repr(each[0])))


def _rows(connection: Connection) -> Any:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return tuple(connection.iterdump()) if pages <= _MOST_PAGES else state_of_rows(connection)


def _steady(content: Any) -> Any:
    if isinstance(content, tuple):
        return tuple(map(_steady, cast("tuple[Any, ...]", content)))
    if isinstance(content, frozenset):
        return frozenset(map(_steady, cast("frozenset[Any]", content)))
    return _STEADY(content) if isinstance(content, str) else content
