"""This module copies objects of any class, and describes them in texts that can be compared."""

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
"""The number of levels to which the attributes of objects without an own text are read."""


def copied(given: Any) -> Any:
    """Returns a deep copy of an object. A part that cannot be copied deeply is copied shallowly, or is
    shared if it cannot be copied at all."""
    try:
        return deepcopy(given)
    except Exception:  # noqa: S110 -- whatever a __deepcopy__ of the user's raises
        pass
    with suppress(Exception):  # A ``__copy__`` of the user's may raise any error.
        return copy(given)
    return given


def described(value: Any, *, deep: bool = True) -> str:
    """Returns a text that is equal for equal values, and different for different ones.

    Functions are equal if their code, defaults, enclosed variables, plain globals and bound objects are.
    Objects whose text is an address are described by their attributes, or by their class alone if
    ``deep`` is False.
    """
    return _description(value, _DEPTH if deep else 0)


def _description(value: Any, depth: int) -> str:
    def shown(inner: object) -> Any:
        return _shown(inner, depth)

    try:
        return json.dumps(value, sort_keys=True, default=shown)
    # Keys of several types, a reference to itself, or too many levels.
    except (TypeError, ValueError, RecursionError):
        with suppress(RecursionError):
            return _ADDRESS.sub("", repr(value))
        return type(value).__qualname__


def _shown(value: object, depth: int) -> Any:
    of_function = _of_function(value, depth)
    if of_function is not None:
        return of_function
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        # The repr of a long array leaves out its middle.
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
    """Returns a description of a function as JSON values; None for anything else."""
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
    # Collections in a closure are described even where the attributes of objects are not.
    return _description(value, depth - 1) if depth > -_DEPTH else ""


def _of_code(code: CodeType) -> str:
    """Returns a digest of the code that does not depend on its file or line."""
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
