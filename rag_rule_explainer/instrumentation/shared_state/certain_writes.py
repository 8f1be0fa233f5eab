"""This module finds out whether a function sets a value in every call, or only under a condition."""

import ast
from collections.abc import Iterator

from .code import tree_of
from .writing import Written, label_of

ChangedPlace = tuple[str, str]
"""A changed value as a pair: its name, and the key of the changed entry in it; the key is empty if the
whole value was changed. The pair for ``modes["a"] = 1`` is ``("modes", "'a'")``."""

ANY_KEY = "…"
"""This text stands for a key that the code computes, as in ``d[x]``."""


def is_certain(written: Written) -> bool:
    """Returns True iff every call of the function that contains this write sets the value, by this write
    or by another one. A call that returns before the write is ignored, unless the call may have read the
    value."""
    tree = tree_of(written.code)
    place = _target_of(written.target)
    body = _body_of(tree)
    line = getattr(written.node, "lineno", 0)
    if any(_uses_it_and_returns(each, written.target) for each in body if each.lineno < line):
        return False
    return any(
        getattr(node, "lineno", -1) == line or place in _set_in(node)
        for statement in body
        for node in _certain_in(statement)
    )


def _uses_it_and_returns(statement: ast.stmt, target: ast.expr) -> bool:
    """Returns True iff this statement, which comes before a write to ``target``, may read the value of
    ``target`` and then return from the function. Calling a method of the object that has the value counts
    as a read."""
    nodes = [*ast.walk(statement)]
    if not any(isinstance(each, ast.Return) for each in nodes):
        return False
    owner = target
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    own = ast.unparse(owner)
    called = (each.func for each in nodes if isinstance(each, ast.Call))
    methods = (each for each in called if isinstance(each, ast.Attribute))
    return any(ast.unparse(each.value) == own for each in methods) or any(
        isinstance(each, (ast.Attribute, ast.Name)) and label_of(each) == label_of(target)
        for each in nodes
    )


def _body_of(tree: ast.AST | None) -> list[ast.stmt]:
    statements = tree.body if isinstance(tree, ast.Module) else []
    first = statements[0] if statements else None
    return first.body if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)) else statements


def _certain_in(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yields the statements that are executed whenever ``statement`` is executed. A simple statement
    yields only itself. A ``with`` or a ``try`` yields the statements of its body. An ``if`` with an
    ``else`` yields the assignments to values that both branches set. A loop yields nothing."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        inner = statement.body
    elif isinstance(statement, ast.Try):
        inner = [*statement.body, *statement.finalbody]
    elif isinstance(statement, (ast.If, ast.For, ast.While, ast.AsyncFor, ast.FunctionDef, ast.ClassDef)):
        inner = []
        if isinstance(statement, ast.If) and statement.orelse:
            yield from _in_both(statement)
    else:
        yield statement
        return
    for each in inner:
        yield from _certain_in(each)


def _in_both(branch: ast.If) -> Iterator[ast.stmt]:
    sides = [
        [each for statement in side for each in _certain_in(statement)]
        for side in (branch.body, branch.orelse)
    ]
    first, second = ({place for each in side for place in _set_in(each)} for side in sides)
    yield from (each for side in sides for each in side if _set_in(each) & first & second)


def _set_in(statement: ast.stmt) -> set[ChangedPlace]:
    return set(map(_target_of, statement.targets)) if isinstance(statement, ast.Assign) else set()


def _target_of(target: ast.expr) -> ChangedPlace:
    """Returns the place that a write changes: the expression as text, and the key. The text is the whole
    expression, because ``mode`` and ``self.mode`` are different values."""
    if isinstance(target, ast.Subscript):
        return ast.unparse(target.value), key_as_written(target.slice)
    return ast.unparse(target), ""


def key_as_written(slice_: ast.expr) -> str:
    """Returns the key of an entry as a text: ``'a'``, with its quotes, for ``d['a']``; ANY_KEY for a key
    that is no constant, as in ``d[x]``; and an empty text for a slice, as in ``d[1:2]``."""
    if isinstance(slice_, ast.Constant):
        return repr(slice_.value)
    return "" if isinstance(slice_, ast.Slice) else ANY_KEY
