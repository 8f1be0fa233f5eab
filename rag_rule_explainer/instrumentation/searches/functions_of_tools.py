"""This module finds the Python functions that a call of a tool's function leads to, whatever kind of
object the tool's function is, and tells which calls of such a function are calls of the tool."""

from collections.abc import Iterator
from functools import partial, partialmethod
from types import FunctionType, MethodType
from typing import Any, cast

from ...probing.whose import is_named_as_ours, is_users
from ..run_record import Participation
from ..stray_calls import pending_calls

_GATES = f"{__package__}.gates"
_VALUES = (str, bytes, int, float, bool, type(None), type, FunctionType)
"""The types of values that objects share without belonging together."""


def functions_in(given: Any) -> Iterator[tuple[FunctionType, object]]:
    """Yields the user's functions that a call of a function of a tool leads to, each with the object
    whose method it is; None for a plain function. Functions below a gate are left out, because the gate
    answers their calls.

    Objects with a ``__call__``, also an inherited one, are followed, and whatever refers to a function by
    ``func``, ``__func__`` or ``__wrapped__``, as ``functools.partial`` and ``functools.lru_cache`` do.
    """
    left, seen = [(given, cast("object", None))], set[int]()
    while left:
        each, bound = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, FunctionType):
            module = str(each.__globals__.get("__name__"))
            if module == _GATES:
                continue
            if is_users(module) and not is_named_as_ours(module):
                yield each, bound
        left += _behind(each, bound)


def _behind(given: Any, bound: object) -> Iterator[tuple[Any, object]]:
    """Yields what a call of ``given`` calls, with the object whose method that is."""
    if isinstance(given, (partial, partialmethod)):
        yield cast("Any", given).func, bound
    elif isinstance(given, (staticmethod, classmethod)):
        yield cast("Any", given).__func__, bound
    elif isinstance(given, MethodType):
        yield given.__func__, given.__self__
        yield from _of_classes(given.__self__, given.__func__.__name__)
    elif not isinstance(given, type):
        attributes: Any = getattr(given, "__dict__", {})
        yield attributes.get("__wrapped__"), bound
        if not isinstance(given, FunctionType) and is_users(type(given).__module__):
            yield from _of_classes(given, "__call__")


def _of_classes(owner: Any, name: str) -> Iterator[tuple[Any, object]]:
    """Yields the functions with this name of all classes of an object, as one may call the next."""
    kind = cast("type[Any]", owner if isinstance(owner, type) else type(owner))
    for each in kind.__mro__:
        function = vars(each).get(name)
        if not isinstance(function, staticmethod):
            yield function, owner


def is_call_of(run: Participation, name: str, first: tuple[Any, ...], bound: object) -> bool:
    """Returns True iff a call of a function is a call of the tool whose function is a method of
    ``bound``. ``name``: the name of the tool; ``first``: the first argument of the call.

    It is one if the method is called on this object, on one that was copied from it or, where it is a
    class, on a class below it. On any other object it is the application's own call, unless a model has
    asked the run for a call of the tool that is not answered yet.
    """
    if not first:
        return False
    if isinstance(bound, type) and isinstance(first[0], type):
        return issubclass(first[0], bound)
    if first[0] is bound or _is_copy(first[0], bound):
        return True
    return any(each.call.name == name for each in pending_calls(run))


def _is_copy(one: object, other: object) -> bool:
    """Returns True iff two objects have the same objects as attributes, as ``copy.copy`` leaves them."""
    if type(one) is not type(other) or isinstance(one, type):
        return False
    held: dict[str, Any] = getattr(one, "__dict__", {})
    others: dict[str, Any] = getattr(other, "__dict__", {})
    shared = [held[each] for each in held.keys() & others if held[each] is others[each]]
    return len(shared) == len(held) == len(others) and any(
        not isinstance(each, _VALUES) for each in shared
    )
