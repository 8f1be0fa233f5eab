"""Copies and descriptions of anybody's objects, as good as they can be had."""

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
"""How deep into an object that has no text of its own its attributes are read."""


def copied(given: Any) -> Any:
    """Returns a deep copy; a shallow one where something inside cannot be copied (a lock, a client)."""
    try:
        return deepcopy(given)
    except Exception:  # noqa: S110 -- whatever a __deepcopy__ of the user's raises
        pass
    with suppress(Exception):  # whatever a __copy__ of the user's raises
        return copy(given)
    return given


def described(value: Any, *, deep: bool = True) -> str:
    """Returns the same text for equal values, also where JSON cannot say them, and another for others.

    Functions are equal where their code is, and all that it hangs on: defaults, what it encloses, plain
    values of its module, the object of a method. Objects whose text is an address are told by their
    attributes, unless ``deep`` is False: then by their class alone, whatever they hold by now.
    """
    return _told(value, _DEPTH if deep else 0)


def _told(value: Any, depth: int) -> str:
    def shown(inner: object) -> Any:
        return _shown(inner, depth)

    try:
        return json.dumps(value, sort_keys=True, default=shown)
    except (TypeError, ValueError, RecursionError):  # mixed keys, a circle, or nested too deeply
        with suppress(RecursionError):
            return _ADDRESS.sub("", repr(value))
        return type(value).__qualname__


def _shown(value: object, depth: int) -> Any:
    told = _of_function(value, depth)
    if told is not None:
        return told
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        # Its text leaves out what is in the middle.
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
    """Returns what tells a function from all others; None for anything else."""
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
    # What has no attributes to read, such as a list in a closure, is still told a little deeper.
    return _told(value, depth - 1) if depth > -_DEPTH else ""


def _of_code(code: CodeType) -> str:
    """Returns a digest of what the code does, wherever it stands."""
    constants = [_of_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    said = repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))
    return _digest(said.encode("utf-8", "surrogatepass"))


def _digest(told: bytes) -> str:
    return blake2b(told, digest_size=16).hexdigest()


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 -- raises where there is nothing
    except ValueError:
        return False
    return True


def _attributes(value: object) -> Iterator[tuple[str, Any]]:
    """Yields the attributes that an instance has of its own, in slots as well."""
    own: Mapping[str, Any] = getattr(value, "__dict__", {})
    yield from own.items()
    for owner in type(value).__mro__:
        slots: Any = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            with suppress(AttributeError):
                yield name, getattr(value, name)
