"""This module finds names of attributes and methods that code computes, as in ``getattr(self, "_" + x)``.

The constant parts of such a name tell which attributes the code may use: in the example, those whose
names begin with "_".
"""

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from types import CodeType

from .code import tree_of
from .contents import names_in
from .writing import label_of

_TAKING = {
    "getattr": 1,
    "hasattr": 1,
    "getattr_static": 1,
    "delattr": 1,
    "methodcaller": 0,
    "attrgetter": 0,
}
"""Functions that take the name of an attribute, each with the index of the argument that is the name."""
_OF_OBJECTS = frozenset({"__getattribute__", "__getattr__"})
_SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_FILLING = frozenset({"update", "setdefault", "pop"})
_NAMESPACES = frozenset({"vars", "globals", "__dict__"})
_ANYTHING = ".*"


def is_computed(codes: Iterable[CodeType], name: str, *, of_a_method: bool = False) -> bool:
    """Returns True iff the code of one of these functions computes names of attributes, and ``name`` may
    be one of them. For example, ``getattr(self, "_" + x)`` may read ``_mode``.

    ``of_a_method``: True if ``name`` is the name of a method. A computed name without any constant part,
    as in ``getattr(self, x)``, counts only for methods.
    """
    return any(
        re.fullmatch(pattern, name)
        for code in codes
        for pattern in _patterns_in(code)
        if of_a_method or pattern != _ANYTHING
    )


@lru_cache(maxsize=2048)
def sets_computed_names(code: CodeType) -> bool:
    """Returns True iff the code sets or deletes attributes whose names it computes."""
    if (_SETTERS | _NAMESPACES).isdisjoint(names_in(code)):
        return False
    tree = tree_of(code)
    return tree is None or any(map(_sets_any, ast.walk(tree)))


def _sets_any(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        is_read = isinstance(node.ctx, ast.Load) or isinstance(node.slice, ast.Constant)
        return not is_read and _is_namespace(node.value)
    if not isinstance(node, ast.Call):
        return False
    if label_of(node.func) in _SETTERS:
        return not any(isinstance(each, ast.Constant) for each in node.args[:2])
    if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
        return _is_namespace(node.func.value)
    # A setter, such as ``setattr``, may be passed to another function, such as ``map`` or ``partial``,
    # which calls it. The names that it sets are then unknown.
    return any(isinstance(each, ast.Name) and each.id in _SETTERS for each in node.args)


def _is_namespace(node: ast.expr) -> bool:
    return label_of(node.func if isinstance(node, ast.Call) else node) in _NAMESPACES


@lru_cache(maxsize=2048)
def _patterns_in(code: CodeType) -> frozenset[str]:
    """Returns a regular expression for each name that the code computes: ``_.*`` for ``"_" + x``, for
    example."""
    tree = tree_of(code)
    found = (_taken_by(node) for node in ast.walk(tree)) if tree is not None else ()
    return frozenset(
        _pattern_of(name) for name in found if name is not None and not isinstance(name, ast.Constant)
    )


def _taken_by(node: ast.AST) -> ast.expr | None:
    """Returns the expression for the name of an attribute in a call or a subscript: ``x`` in
    ``getattr(app, x)`` and ``vars(app)[x]``. Returns None for any other node."""
    if isinstance(node, ast.Subscript):
        return node.slice if _is_namespace(node.value) else None
    if not isinstance(node, ast.Call):
        return None
    name = label_of(node.func)
    place = 0 if name in _OF_OBJECTS else _TAKING.get(name, len(node.args))
    return node.args[place] if place < len(node.args) else None


def _pattern_of(name: ast.expr) -> str:
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    if isinstance(name, ast.JoinedStr):
        return "".join(map(_pattern_of, name.values))
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _pattern_of(name.left) + _pattern_of(name.right)
    return _ANYTHING
