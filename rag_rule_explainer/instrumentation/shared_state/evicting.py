"""This module recognises code that drops the oldest entries of a cache once the cache is too large.

Such a cache returns the same value for a key whether or not the entry was dropped before.
"""

import ast
from collections.abc import Iterator

from .code import tree_of
from .writing import Written, label_of


def is_evicting(written: Written) -> bool:
    """Returns True iff a write only drops an entry of a cache because the cache is too large."""
    tree = tree_of(written.code)
    owner = getattr(written.node, "value", None)
    return tree is not None and any(
        id(owner) in set(evicting_nodes(node)) for node in ast.walk(tree) if owner is not None
    )


def evicting_nodes(node: ast.AST) -> Iterator[int]:
    """Yields the ``id()`` of each syntax node for the name ``cache`` in an ``if`` such as ``if len(cache)
    > 100: cache.popitem()``; nothing for other code."""
    if not isinstance(node, (ast.If, ast.While)) or node.orelse:
        return
    size = node.test.left if isinstance(node.test, ast.Compare) else None
    if not isinstance(size, ast.Call) or label_of(size.func) != "len" or len(size.args) != 1:
        return
    cache = size.args[0]
    name, dropped = ast.unparse(cache), [_dropped_by(each) for each in node.body]
    if all(each is not None and ast.unparse(each) == name for each in dropped):
        yield id(cache)
        yield from (id(each) for each in dropped)


def _dropped_by(statement: ast.stmt) -> ast.expr | None:
    """Returns the expression for the cache from which a statement drops an entry: ``cache`` for
    ``cache.popitem()``. Returns None for any other statement."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "popitem"
    ):
        return call.func.value
    return None
