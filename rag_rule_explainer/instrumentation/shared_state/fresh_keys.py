"""This module recognises entries of a collection whose key is a random id that the run has just
generated, such as a UUID. No other run knows the key, so the entry belongs to this run alone."""

import ast
from collections.abc import Iterator

from .code import tree_of
from .writing import Written

_MAKING_UP = frozenset({"uuid1", "uuid4", "uuid6", "uuid7", "token_hex", "token_urlsafe"})
"""Functions that generate a random id, and so never return the same value twice."""


def has_fresh_key(written: Written, changed: ast.expr) -> bool:
    """Returns True iff ``changed`` is an entry whose key is a random id that the same function generated:
    ``chats[session]`` after ``session = uuid4().hex``, for example."""
    if not (isinstance(changed, ast.Subscript) and isinstance(changed.slice, ast.Name)):
        return False
    tree, key = tree_of(written.code), changed.slice.id
    if tree is None:
        return False
    stored = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == key and not isinstance(node.ctx, ast.Load)
    ]
    # A variable is a fresh key only if each of its assignments gives it a random id. A parameter or a
    # loop variable of the same name may have another value.
    made_up = [each for each in _targets_made_up(tree) if each.id == key]
    return bool(made_up) and len(stored) == len(made_up) and not _is_parameter(tree, key)


def _targets_made_up(tree: ast.AST) -> Iterator[ast.Name]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _makes_up(node.value):
            yield from (target for target in node.targets if isinstance(target, ast.Name))


def _makes_up(value: ast.expr) -> bool:
    """Returns True iff the expression generates a random id, perhaps as a text: ``uuid4()``,
    ``uuid4().hex`` or ``str(uuid4())``. Returns False for values that are computed from an id, because
    they may be equal in two runs: ``uuid4().int % 2``."""
    if isinstance(value, ast.Attribute) and value.attr == "hex":
        return _makes_up(value.value)
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    if name == "str" and len(value.args) == 1:
        return _makes_up(value.args[0])
    return name in _MAKING_UP


def _is_parameter(tree: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.arg) and node.arg == name for node in ast.walk(tree))
