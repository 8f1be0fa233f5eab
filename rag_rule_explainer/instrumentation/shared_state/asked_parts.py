"""This module recognises code that uses only a part of a value, such as its last entry or single keys."""

import ast
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CodeType

from ..copies.guarded_code import own_code
from .code import tree_of, users_functions
from .evicting import evicting_nodes
from .holdings import Holdings
from .writing import label_of, locals_of

KEYED = frozenset({"setdefault", "__setitem__", "add", "discard"})
"""Methods that change one entry of a collection, which they find by its key. In a set, each entry is its
own key."""
_ASKING = frozenset({"get", "pop", "__getitem__", "__contains__", "move_to_end", *KEYED})


def is_asked_for_its_last(holdings: Holdings, name: str) -> bool:
    """Returns True iff the application's code only appends to the value of this name and reads its last
    entry. If every run appends an entry, no run reads an entry of an earlier run."""
    return _all_reads(holdings, name, _for_the_last)


def _for_the_last(tree: ast.AST) -> Iterable[int]:
    for node in ast.walk(tree):
        if (isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "-1") or (
            isinstance(node, ast.Attribute) and node.attr == "append"
        ):
            yield id(node.value)


def is_asked_by_key(holdings: Holdings, name: str) -> bool:
    """Returns True iff the application's code uses only single entries of the value of this name, by
    their keys."""
    return _all_reads(holdings, name, _by_key)


def _all_reads(holdings: Holdings, name: str, allowed: Callable[[ast.AST], Iterable[int]]) -> bool:
    """Returns True iff the user's code uses ``name`` only in allowed expressions.

    ``allowed``: takes the syntax tree of a function, and returns the ``id()`` of each node in which
    ``name`` may occur. Local variables, and assignments to attributes in ``__init__``, are ignored.
    """
    return not any(
        name in _read_elsewhere(own_code(function), function.__name__ == "__init__", allowed)
        for _, function in users_functions(holdings)
    )


@lru_cache(maxsize=1024)
def _read_elsewhere(
    code: CodeType, is_making: bool, allowed: Callable[[ast.AST], Iterable[int]]
) -> frozenset[str]:
    """Returns the names that a function uses in expressions that are not ``allowed``. ``is_making``: True
    for an ``__init__``, whose assignments to attributes are ignored."""
    tree = tree_of(code)
    if tree is None:
        return frozenset()
    known, local = set(allowed(tree)), set(locals_of(code)) - set(code.co_cellvars)
    return frozenset(
        label_of(node)
        for node in ast.walk(tree)
        if id(node) not in known
        and (
            (isinstance(node, ast.Attribute) and not (is_making and isinstance(node.ctx, ast.Store)))
            or (isinstance(node, ast.Name) and node.id not in local)
        )
    )


def _by_key(tree: ast.AST) -> Iterable[int]:
    """Yields the ``id()`` of each syntax node for a collection from which the code reads an entry by a
    key, or in which the code sets an entry by a key."""
    for node in ast.walk(tree):
        yield from evicting_nodes(node)
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _ASKING):
            yield id(node.value)
        elif isinstance(node, ast.Compare):
            yield from (
                id(each)
                for how, each in zip(node.ops, node.comparators, strict=True)
                if isinstance(how, (ast.In, ast.NotIn))
            )
