"""This module copies objects of any class. It also describes them in texts by which they can be
compared."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy, deepcopy
from functools import partial
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_DEPTH = 3
"""For objects whose ``repr`` shows only an address: the number of levels to which attributes are
described."""


def copied(given: Any) -> Any:
    """Returns a deep copy of an object. A part that cannot be copied deeply is copied shallowly, or is
    shared if it cannot be copied at all."""
    try:
        return deepcopy(given)
    except Exception:  # noqa: S110 -- whatever a __deepcopy__ of the user's raises
        pass
    with suppress(Exception):  # A user's ``__copy__`` may raise any error. The object is then shared.
        return copy(given)
    return given


def described(value: Any, *, deep: bool = True) -> str:
    """Returns a text that is equal for equal values, and different for different ones.

    Functions count as equal if these are equal: their code, defaults, enclosed variables, the simple
    globals that they use, and the objects to which they are bound. An object whose ``repr`` is only an
    address is described by its attributes; by its class alone if ``deep`` is False.
    """
    return _description(value, _DEPTH if deep else 0)


def _description(value: Any, depth: int) -> str:
    def shown(inner: object) -> Any:
        return _shown(inner, depth)

    try:
        return json.dumps(value, sort_keys=True, default=shown)
    # JSON cannot hold keys of several types, a value that contains itself, or too many levels. Such a
    # value is described by its ``repr``.
    except (TypeError, ValueError, RecursionError):
        with suppress(RecursionError):
            return _ADDRESS.sub("", repr(value))
        return type(value).__qualname__


def _shown(value: object, depth: int) -> Any:
    of_function = _of_function(value, depth)
    if of_function is not None:
        return of_function
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        # The ``repr`` of a long array omits its middle, so a digest of all values is used.
        array = cast("Any", value)
        return ["array", str(array.dtype), repr(array.shape), _digest(array.tobytes())]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted(_inside(each, depth) for each in cast("set[object]", value))]
    said = repr(value)
    if not _ADDRESS.search(said) or isinstance(value, (type, ModuleType)):
        return said
    attributes = {} if depth <= 0 else dict(_attributes(value))
    return [type(value).__module__, type(value).__qualname__, _inside(attributes, depth)]


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
    enclosed = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
    known = {
        name: value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__
    }
    plain = {name: each for name, each in known.items() if isinstance(each, (str, int, float, bytes))}
    hangs_on = [enclosed, value.__defaults__, value.__kwdefaults__, plain]
    return ["function", value.__module__, _of_code(value.__code__), _inside(hangs_on, depth)]


def _inside(value: Any, depth: int) -> str:
    # A function's enclosed variables are described at depth 0 too, where attributes of objects are not.
    return _description(value, depth - 1) if depth > -_DEPTH else ""


def _of_code(code: CodeType) -> str:
    """Returns a digest of the code. It does not depend on the file or the lines in which the code is
    written."""
    constants = [_of_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    said = repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))
    return _digest(said.encode("utf-8", "surrogatepass"))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 -- raises if the cell is empty
    except ValueError:
        return False
    return True


def _attributes(value: object) -> Iterator[tuple[str, Any]]:
    """Yields the attributes in an instance's dict and slots."""
    own: Mapping[str, Any] = getattr(value, "__dict__", {})
    yield from own.items()
    for owner in type(value).__mro__:
        slots: Any = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            with suppress(AttributeError):
                yield name, getattr(value, name)
