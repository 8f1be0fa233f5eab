"""This module recognises statements that only change a value, and whose right side does not read the
application's state.

In ``usage.tokens += reply.usage.tokens``, both sides contain the attribute name ``tokens``. But the right
side reads the tokens of the reply, not those of the application.
"""

import ast
from collections.abc import Iterator

from .logging_calls import called_name, logs

_COMPUTING = frozenset(["len", "int", "float", "max", "min", "sum", "round", "abs", "getattr", "get"])
"""Functions that return a value of their arguments, and change nothing."""


def names_added_to(node: ast.AugAssign | ast.Assign) -> frozenset[str]:
    """Returns the names in the target of a statement that only adds to the target, as ``self.total += x``
    does: the names of the object, its attributes and its keys. If the right side reads one of these
    names, the value is only added to the target and influences nothing else. Returns an empty set for
    other statements."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    adds = isinstance(node, ast.AugAssign) or isinstance(node.value, ast.BinOp)
    is_lasting = len(targets) == 1 and not isinstance(targets[0], ast.Name)
    inside = [each for each in ast.walk(node.value) if isinstance(each, (ast.Call, ast.NamedExpr))]
    only_computes = all(isinstance(each, ast.Call) and called_name(each) in _COMPUTING for each in inside)
    if not (adds and is_lasting and only_computes):
        return frozenset()
    return frozenset(_names_in(targets[0]))


def _names_in(target: ast.expr) -> Iterator[str]:
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        if isinstance(target, ast.Attribute):
            yield target.attr
        elif isinstance(target.slice, ast.Constant):
            yield str(target.slice.value)
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


def set_alone(branch: ast.If) -> list[str]:
    """Returns a list with the variable or attribute that the branch sets. Returns an empty list if the
    branch sets several, or does anything else except logging."""
    targets = {
        ast.dump(each).replace("Store()", "Load()")
        for statement in branch.body
        if not logs(statement)
        for each in (statement.targets if isinstance(statement, ast.Assign) else [statement])
    }
    return list(targets) if len(targets) == 1 and not branch.orelse else []


def takes_next(value: ast.expr) -> bool:
    """Returns True iff the expression takes the next value of an iterator, as ``next(counter)`` does."""
    return isinstance(value, ast.Call) and called_name(value) == "next" and len(value.args) == 1
