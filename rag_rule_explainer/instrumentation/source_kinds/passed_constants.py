"""This module tells which values that a function encloses are constants of the code that made it."""

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..copies.guarded_code import own_code
from ..shared_state.parsing import syntax_tree

_INNER = ".<locals>."


def is_passed_constant(function: FunctionType, value: Any) -> bool:
    """Returns True iff the code of the file in which a function stands has a value as a constant, where
    the function was made: as an argument of a call of the function around it, such as "4711" of
    ``made("4711")``, or in this function itself. So the value was there before any conversation."""
    around = function.__qualname__.rpartition(_INNER)[0].rpartition(".")[2]
    source = "".join(linecache.getlines(own_code(function).co_filename))
    constants = _constants_of(source, around)
    return any(type(each) is type(value) and each == value for each in constants)


# Cached by the source and not by the file's name, because a file may change.
@lru_cache(maxsize=64)
def _constants_of(source: str, maker: str) -> tuple[Any, ...]:
    try:
        module = syntax_tree(source)
    except (SyntaxError, ValueError):
        return ()
    return tuple(value for each in ast.walk(module) for value in _constants_at(each, maker))


def _constants_at(node: ast.AST, maker: str) -> Iterator[Any]:
    """Yields the constants that a call of ``maker`` passes, or that its definition has."""
    parts: list[ast.AST] = []
    if isinstance(node, ast.Call) and _name_of(node.func) == maker:
        parts = [*node.args, *(each.value for each in node.keywords)]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == maker:
        # Constants in the body are only the values of variables, so a text inside a call says nothing.
        assigned = (each for each in ast.walk(node) if isinstance(each, (ast.Assign, ast.AnnAssign)))
        defaults = (each for each in node.args.kw_defaults if each is not None)
        values = (each.value for each in assigned if each.value is not None)
        parts = [*node.args.defaults, *defaults, *values]
    for each in parts:
        try:
            yield ast.literal_eval(each)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue


def _name_of(called: ast.expr) -> str:
    if isinstance(called, ast.Name):
        return called.id
    return called.attr if isinstance(called, ast.Attribute) else ""
