"""This module copies objects of any class. It also describes an object by a text, so that objects can be
compared by their texts."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from functools import partial
from hashlib import blake2b
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from .guarded_code import own_code
from .live import entries_now, members_now, unchanged

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_OF_TABLES = ("pandas", "polars")
_DEPTH = 3
"""The number of levels of attributes by which an object is described if its ``repr`` shows only an
address."""


def copied(given: Any) -> Any:
    """Returns a deep copy of an object. If that fails, returns a shallow copy; if this fails too, returns
    the object itself."""
    try:
        return unchanged(lambda: deepcopy(given))
    except Exception:  # noqa: S110 -- A user's ``__deepcopy__`` may raise any error.
        pass
    with suppress(Exception):  # A user's ``__copy__`` may raise any error.
        return unchanged(lambda: copy(given))
    return given


def described(value: Any, *, deep: bool = True) -> str:
    """Returns a text that is equal for equal values, and different for different ones.

    Functions are equal if these are equal: their code, defaults, enclosed variables, the objects to
    which they are bound, and the globals that they use, as far as these are texts, bytes or numbers. An
    object whose ``repr`` is only an address is described by its attributes; by its class alone if
    ``deep`` is False.
    """
    return _description(value, _DEPTH if deep else 0)


def _description(value: Any, depth: int) -> str:
    def shown(inner: object) -> Any:
        return _shown(inner, depth)

    try:
        return json.dumps(_with_keys_as_they_are(value, depth), sort_keys=True, default=shown)
    # JSON does not allow keys of several types, a value that contains itself, or too many levels. Such a
    # value is described by its ``repr``.
    except (TypeError, ValueError, RecursionError):
        with suppress(RecursionError):
            return _ADDRESS.sub("", repr(value))
        return type(value).__qualname__


def _with_keys_as_they_are(value: Any, depth: int) -> Any:
    """Returns the value in a form that JSON does not change: a dict with keys other than texts becomes a
    list, because JSON would turn a key 1 into "1"."""
    if isinstance(value, (list, tuple)):
        return [_with_keys_as_they_are(each, depth) for each in members_now(cast("Sequence[Any]", value))]
    if not isinstance(value, dict):
        return value
    entries = entries_now(cast("dict[Any, Any]", value))
    if all(isinstance(key, str) for key in entries):
        return {key: _with_keys_as_they_are(each, depth) for key, each in entries.items()}
    told = [
        [type(key).__qualname__, _inside(key, depth), _with_keys_as_they_are(each, depth)]
        for key, each in entries.items()
    ]
    return ["dict", sorted(told, key=lambda each: each[:2])]


def _shown(value: object, depth: int) -> Any:
    of_function = _of_function(value, depth)
    if of_function is not None:
        return of_function
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        # The ``repr`` of a long array omits its middle, so a digest of all its values is added.
        array = cast("Any", value)
        return ["array", str(array.dtype), repr(array.shape), _digest(array.tobytes())]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted(_inside(each, depth) for each in members_now(cast("set[object]", value)))]
    table = getattr(value, "to_csv", None) or getattr(value, "write_csv", None)
    if str(type(value).__module__).startswith(_OF_TABLES) and callable(table):
        return ["table", _digest(str(table()).encode("utf-8", "surrogatepass"))]
    return _of_statement(value) or _of_object(value, depth)


def _of_object(value: object, depth: int) -> Any:
    said = repr(value)
    if isinstance(value, (type, ModuleType, PurePath)):
        return said
    # A ``repr`` may omit an attribute, such as a secret, or show only the beginning of its value. So the
    # attributes are added.
    attributes = {} if depth <= 0 else dict(own_attributes(value))
    if not attributes and not _ADDRESS.search(said):
        return said
    shown = "" if _ADDRESS.search(said) else said
    return [type(value).__module__, type(value).__qualname__, shown, _inside(attributes, depth)]


def _of_statement(value: object) -> Any:
    """Returns the SQL of a statement of SQLAlchemy, and its parameters; None for anything else. The
    attributes of a statement are not used, because they differ even between equal statements."""
    sqlalchemy: Any = sys.modules.get("sqlalchemy")
    if sqlalchemy is None or not isinstance(value, sqlalchemy.ClauseElement):
        return None
    try:
        compiled = cast("Any", value).compile()
        return ["statement", str(compiled), repr(compiled.params)]
    except sqlalchemy.exc.SQLAlchemyError:
        return None


def _of_function(value: object, depth: int) -> Any:
    """Returns a description of a function in JSON values; None if the value is no function."""
    if isinstance(value, partial):
        whole = cast("partial[Any]", value)
        return ["partial", _inside([whole.func, whole.args, whole.keywords], depth)]
    if isinstance(value, MethodType):
        return ["method", _inside([value.__func__, value.__self__], depth)]
    if isinstance(value, BuiltinFunctionType):
        return ["builtin", value.__module__, value.__qualname__]
    if not isinstance(value, FunctionType):
        return None
    enclosed = [cell.cell_contents for cell in value.__closure__ or () if is_filled(cell)]
    known = {
        name: value.__globals__[name] for name in own_code(value).co_names if name in value.__globals__
    }
    plain = {name: each for name, each in known.items() if isinstance(each, (str, int, float, bytes))}
    hangs_on = [enclosed, value.__defaults__, value.__kwdefaults__, plain]
    return ["function", value.__module__, _of_code(own_code(value)), _inside(hangs_on, depth)]


def _inside(value: Any, depth: int) -> str:
    # At depth 0, attributes of objects are no longer described. The description of functions continues
    # down to ``-_DEPTH``, because functions often enclose other functions.
    return _description(value, depth - 1) if depth > -_DEPTH else ""


def _of_code(code: CodeType) -> str:
    """Returns a digest of the code. The digest does not depend on the file and the lines in which the
    code is written."""
    constants = [_of_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    said = repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))
    return _digest(said.encode("utf-8", "surrogatepass"))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def is_filled(cell: Any) -> bool:
    """Returns True iff the enclosed variable of a function has a value."""
    try:
        cell.cell_contents  # noqa: B018 -- raises if the cell is empty
    except ValueError:
        return False
    return True


def own_attributes(value: object) -> Iterator[tuple[str, Any]]:
    """Yields the attributes in an instance's dict and slots."""
    own: Mapping[str, Any] = getattr(value, "__dict__", {})
    yield from entries_now(own).items()
    for owner in type(value).__mro__:
        slots: Any = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            with suppress(AttributeError):
                yield name, getattr(value, name)
