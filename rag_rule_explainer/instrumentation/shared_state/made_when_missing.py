"""This module recognises values that code creates only if they are missing, and that are the same in
every run. Examples are a chain that is built once, and a cache whose entries depend only on their keys.

It does not matter which run creates such a value.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType

from .code import tree_of
from .writing import label_of, locals_of, written_names

_METHODS = frozenset({*vars(dict), *vars(list), *vars(set), "appendleft", "popleft", "extendleft"})
"""The names of the methods of collections. Code that calls such a method on a cache may read any entry,
and so may notice which entries exist already."""
_SELF = frozenset({"self", "cls"})


def dependent_names(codes: Sequence[CodeType]) -> frozenset[str]:
    """Returns the names of the shared values that these functions change and that may depend on the run.
    Leaves out values that are created only if they are missing and are the same in every run."""
    written = frozenset(name for code in codes for name in written_names(code))
    return frozenset(name for name in written if not _is_made_when_missing(name, codes))


def _is_made_when_missing(name: str, codes: Iterable[CodeType]) -> bool:
    is_made = False
    for code in codes:
        tree = tree_of(code)
        if tree is None:
            continue
        allowed = {id(each) for node in ast.walk(tree) for each in _made_by(node, name, code)}
        is_made = is_made or bool(allowed)
        asked = {id(each) for node in ast.walk(tree) for each in _asked_by(node)}
        for node in ast.walk(tree):
            if not isinstance(node, (ast.Name, ast.Attribute)) or label_of(node) != name:
                continue
            if id(node) not in allowed and (not isinstance(node.ctx, ast.Load) or id(node) in asked):
                return False
    return is_made


def _asked_by(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the expressions whose existence, truth, size or whole content a syntax node uses: ``x`` in
    ``if x``, ``len(x)`` and ``for each in x``. Leaves out reads of one entry, as in ``x[key]``."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, (ast.UnaryOp, ast.Starred)):
        yield node.operand if isinstance(node, ast.UnaryOp) else node.value
    elif isinstance(node, ast.Call):
        yield from node.args
        yield from (each.value for each in node.keywords)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            yield node.func.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield node.iter
    elif isinstance(node, ast.FormattedValue):
        yield node.value


def _made_by(node: ast.AST, name: str, code: CodeType) -> Iterator[ast.AST]:
    """Yields the expressions with this name in code that creates the value, or an entry of it, if it is
    missing: ``if key not in x: x[key] = made(key)``, ``x.setdefault(key, made(key))`` or
    ``if x is None: x = made()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_default = node.func.attr == "setdefault" and len(node.args) == 2
        if is_default and _is_of(node.args[1], node.args[0], code):
            yield node.func.value
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return
    made, test = node.body[0], node.test
    if not isinstance(made, ast.Assign) or len(made.targets) != 1 or label_of(made.targets[0]) != name:
        return
    target = made.targets[0]
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is):
        is_none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        asked = test.left if is_none and len(test.ops) == 1 else None
    if asked is not None and _is_alike(asked, target) and _is_of(made.value, None, code):
        yield from (asked, target)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) and len(test.ops) == 1:
        held = test.comparators[0]
        if (
            isinstance(target, ast.Subscript)
            and _is_alike(held, target.value)
            and _is_alike(test.left, target.slice)
            and _is_of(made.value, test.left, code)
        ):
            yield from (held, target.value)


def _is_alike(first: ast.AST, second: ast.AST) -> bool:
    return ast.unparse(first) == ast.unparse(second)


def _is_of(value: ast.expr, key: ast.expr | None, code: CodeType) -> bool:
    """Returns True iff the value of an expression depends only on ``key`` and on values that all runs
    share. The expression must contain no local variables except ``self``, ``cls`` and the variables in
    ``key``. ``key``: the key under which the code stores the value; None if there is none."""
    inner = {each.arg for each in ast.walk(value) if isinstance(each, ast.arg)}
    known = set[str]() if key is None else _names_in(key)
    return not (_names_in(value) - inner - known - _SELF) & {*locals_of(code)}


def _names_in(value: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
