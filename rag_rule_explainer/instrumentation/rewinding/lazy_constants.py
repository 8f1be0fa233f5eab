"""This module recognises attributes that a class computes only once, without any data of a run. An
example is the name of the platform, which a client computes before its first request."""

import ast
import dis
from collections.abc import Iterator
from functools import cached_property, lru_cache
from inspect import getattr_static
from types import CodeType
from typing import Any, cast

from ..shared_state.code import tree_of
from .companies import is_of_own
from .data import is_data
from .values import ABSENT

_CACHED_PROPERTY: Any = cached_property


def is_made_once(thing: object, name: str, was: object, now: object, *, is_librarys: bool) -> bool:
    """Returns True iff an attribute that was missing is now a client, an index or another object that is
    not data. Such an attribute behaves the same in every run. If ``thing`` is an object of a library
    (``is_librarys``), also returns True for a lazy constant (see ``is_lazy_constant``)."""
    if was is not ABSENT and was is not None:
        return False
    return not is_data(now) or (is_librarys and is_lazy_constant(type(thing), name))


def is_computed_by_framework(thing: object, name: str) -> bool:
    """Returns True iff the attribute is a cached property of a class that is not the user's."""
    found: Any = getattr_static(cast("type[Any]", type(thing)), name, None) if name else None
    return isinstance(found, _CACHED_PROPERTY) and not is_of_own(found.func)


@lru_cache(maxsize=512)
def is_lazy_constant(kind: type[object], name: str) -> bool:
    """Returns True iff the methods of a class set this attribute only if it is missing, and only to the
    result of a function that is called without arguments, as ``if self._os is None: self._os =
    platform()`` does. Methods that make an object, such as ``__init__``, are ignored."""
    setting = [each for each in _methods_of(kind) if _sets(each, name)]
    return bool(setting) and all(_sets_of_nothing(each, name) for each in setting)


def _methods_of(kind: type[object]) -> Iterator[CodeType]:
    for each in kind.__mro__:
        for name, member in vars(each).copy().items():
            function: Any = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
            code = getattr(function, "__code__", None)
            if isinstance(code, CodeType) and name not in {"__init__", "__new__"}:
                yield code


def _sets(code: CodeType, name: str) -> bool:
    return name in code.co_names and any(
        each.opname == "STORE_ATTR" and each.argval == name for each in dis.get_instructions(code)
    )


def _sets_of_nothing(code: CodeType, name: str) -> bool:
    tree, local = tree_of(code), {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
    nodes = [] if tree is None else [*ast.walk(tree)]
    assigned = [each for each in nodes if isinstance(each, ast.Assign) and _is_set_in(each, name)]
    asked = [each for each in nodes if isinstance(each, ast.If) and _is_read_in(each.test, name)]
    missing = {inner for branch in asked for each in branch.body for inner in ast.walk(each)}
    return bool(assigned) and all(
        each in missing and _is_of_nothing(each.value, local) for each in assigned
    )


def _is_set_in(node: ast.Assign, name: str) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == name for each in node.targets)


def _is_read_in(test: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == name for each in ast.walk(test))


def _is_of_nothing(value: ast.expr, local: set[str]) -> bool:
    value = value.value if isinstance(value, ast.Await) else value
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    is_call = isinstance(value, ast.Call) and not value.args and not value.keywords
    return is_call and not names & local
