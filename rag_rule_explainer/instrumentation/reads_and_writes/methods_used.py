"""This module finds out which attributes of its object a method uses."""

import dis
import inspect
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any, cast

from ..copies.guarded_code import own_code

_LOADS = ("LOAD_FAST", "LOAD_DEREF")
_OF_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")


def uses_any(kind: type, method: str, names: frozenset[str]) -> bool:
    """Returns True iff a method of a class, or another one that it names, may use one of these
    attributes. Code that cannot be read, or that hands its object on as a whole, may use all."""
    left, seen = [method], set[str]()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        held: Any = inspect.getattr_static(kind, name, None)
        function = getattr(held, "fget", None) or getattr(held, "__func__", None) or held
        if not isinstance(function, FunctionType):
            return True
        code = own_code(function)
        named = _names_in(code)
        if not names.isdisjoint(named) or _hands_on(code):
            return True
        left.extend(each for each in named if inspect.getattr_static(kind, each, None) is not None)
    return False


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names, *(name for each in inner for name in _names_in(each))}


def _hands_on(code: CodeType) -> bool:
    """Returns True iff code uses its first argument otherwise than for an attribute."""
    if not code.co_varnames or not code.co_argcount:
        return False
    own = code.co_varnames[0]
    steps = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    for one, after in pairwise(steps):
        loaded = _loaded_by(one.argval)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- it has no type
        is_own = one.opname.startswith(_LOADS) and own in loaded
        if is_own and (loaded[-1] != own or after.opname not in _OF_ATTRIBUTES):
            return True
    return any(own in each.co_freevars for each in code.co_consts if isinstance(each, CodeType))


def _loaded_by(argval: Any) -> tuple[Any, ...]:
    """Returns the names of the variables that an instruction loads; Python 3.13 has some for two."""
    return cast("tuple[Any, ...]", argval) if isinstance(argval, tuple) else (argval,)
