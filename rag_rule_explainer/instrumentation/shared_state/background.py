"""This module finds code that writes shared state in a thread or task for which the application does not
wait.

Such code may still write while a later run is active, even if only one run is made at a time.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

from ..copies.guarded_code import own_code
from .code import tree_of, users_functions
from .contents import names_in
from .counting import is_read
from .holdings import Holdings
from .sticking import place_of
from .writing import label_of, writes_in

_BEGINNING = frozenset(
    {
        *("submit", "create_task", "ensure_future", "run_in_executor", "call_later", "call_soon"),
        *("call_soon_threadsafe", "run_coroutine_threadsafe", "add_task", "apply_async", "map_async"),
        *("start_new_thread", "add_done_callback", "start_soon"),
    }
)
_MADE = frozenset({"Thread", "Timer"})


def written_in_background(holdings: Holdings) -> Iterator[tuple[str, str]]:
    """Yields each shared value that the application's code reads and that a thread or task writes without
    the application waiting for it. Each yielded pair is the value's name and a clause that names the
    writing code."""
    begun, inside = set[str](), set[int]()
    functions = {function.__name__: function for _, function in users_functions(holdings)}
    for function in functions.values():
        for call in _begun_by(own_code(function)):
            begun |= {label_of(each) for each in ast.walk(call)}
            inside |= {id(each) for each in ast.walk(call)}
    names = _called_from(begun, functions)
    for each in writes_in(holdings) if begun else ():
        name = place_of(each)[0]
        is_later = each.code.co_name in names or id(each.node) in inside
        if is_later and name and is_read(holdings, name):
            yield name, each.clause


@lru_cache(maxsize=512)
def _begun_by(code: CodeType) -> tuple[ast.Call, ...]:
    tree = tree_of(code)
    return () if tree is None else tuple(_unawaited(tree))


def _unawaited(tree: ast.AST) -> Iterator[ast.Call]:
    """Yields the calls that start a thread or a task without waiting for it."""
    waited = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.With, ast.AsyncWith))
        for inner in ast.walk(node)
        if label_of(getattr(getattr(inner, "func", None), "value", inner))
        in {label_of(item.optional_vars) for item in node.items if item.optional_vars is not None}
    }
    joins = any(isinstance(node, ast.Attribute) and node.attr == "join" for node in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and label_of(node.func) in _MADE and not joins:
            yield node
        elif isinstance(node, (ast.Expr, ast.Lambda)):
            call = node.value if isinstance(node, ast.Expr) else node.body
            if (
                isinstance(call, ast.Call)
                and label_of(call.func) in _BEGINNING
                and id(call) not in waited
            ):
                yield call


def _called_from(begun: set[str], functions: dict[str, FunctionType]) -> set[str]:
    """Returns the names of the user's functions that may run in a thread or task: the functions in
    ``begun``, and all functions that they call by name, directly or indirectly.

    ``begun``: the names in the calls that start a thread or a task. ``functions``: the user's functions
    by name.
    """
    names, waiting = set[str](), [each for each in begun if each in functions]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            code = own_code(functions[name])
            waiting += [each for each in {*names_in(code), *code.co_freevars} if each in functions]
    return names
