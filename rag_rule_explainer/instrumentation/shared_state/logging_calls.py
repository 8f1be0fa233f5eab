"""This module recognises calls that only print or log values, and functions that only wait."""

import ast
import re

_LOGGING = frozenset(["print", "debug", "info", "warning", "error", "exception", "critical", "log"])
_HARMLESS = frozenset(
    {
        *(
            "len",
            "str",
            "repr",
            "sorted",
            "sum",
            "max",
            "min",
            "round",
            "list",
            "dict",
            "tuple",
            "set",
            "type",
        ),
        *("format", "join", "get", "items", "median", "mean", "fmean", "stdev", "pstdev", "quantiles"),
        *("perf_counter", "monotonic", "next"),
    }
)
"""The names of functions and methods that change no state. ``next`` is included, although it changes an
iterator: code that depends on the iterator also names it elsewhere, and is found there."""
_A_LOG = re.compile(r"log|console|print|warn", re.I)


_SLEEPING = frozenset({"sleep"})
_CHANGING = frozenset({"append", "popleft", "pop", "clear"})
_WHILE_WAITING = _CHANGING | {
    *("sleep", "monotonic", "time", "perf_counter", "min", "max", "abs", "float", "int", "len", "round"),
    *("acquire", "release"),
}
"""The names of functions and methods that a function which only waits may call, such as a rate limiter.
They read the time, compute with it, store times in a collection, or wait."""

_LEAVING = (ast.Raise, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Lambda)
"""Kinds of statements and expressions that are not allowed in a function that only waits, such as
``raise``."""
_OF_ALL = frozenset({"locals", "vars", "eval", "exec"})
"""Functions, such as ``vars``, that return all variables, so that code reads them without naming them."""


def only_logs(call: ast.Call) -> bool:
    """Returns True iff a call only prints or logs values.

    Returns False if the call prints to a file of the user's, or if an argument is a lambda or calls a
    function that may change something.
    """
    called = called_name(call)
    if called not in _LOGGING or not _A_LOG.search(_owner_of(call) or called):
        return False
    if called == "print" and any(each.arg == "file" for each in call.keywords):
        return False
    inside = (each for argument in (*call.args, *call.keywords) for each in ast.walk(argument))
    return not any(
        isinstance(each, ast.Lambda)
        or (isinstance(each, ast.Call) and called_name(each) not in _HARMLESS)
        for each in inside
    )


def logs(statement: ast.stmt) -> bool:
    """Returns True iff the statement is a call that only prints or logs values."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and only_logs(call)


def only_logged_in(function: ast.AST) -> frozenset[str]:
    """Returns the local variables of a function whose values are used only for printing or logging."""
    every = [*ast.walk(function)]
    statements = [each.value for each in every if isinstance(each, ast.Expr)]
    logged = {
        each
        for call in statements
        if isinstance(call, ast.Call) and only_logs(call)
        for each in ast.walk(call)
    }
    names = [each for each in every if isinstance(each, ast.Name)]
    if {each.id for each in names} & _OF_ALL:
        return frozenset()
    used = {each.id for each in names if isinstance(each.ctx, ast.Load) and each not in logged}
    outer = {
        name for each in every if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names
    }
    return frozenset({each.id for each in names if isinstance(each.ctx, ast.Store)} - used - outer)


def only_waits(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Returns True iff a function only waits, and decides only how long it waits, as a rate limiter does.

    Such a function returns no value, raises nothing, and changes only attributes of its own object and
    collections in them. If other code depends on such an attribute, other checks notice that this code
    reads the attribute.
    """
    every = [*ast.walk(function)]
    calls = [each for each in every if isinstance(each, ast.Call)]
    if not any(called_name(each) in _SLEEPING for each in calls):
        return False
    handed = {each.arg for each in every if isinstance(each, ast.arg)} - {"self", "cls"}
    made = {each.id for each in every if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return not any(
        isinstance(each, _LEAVING)
        or (isinstance(each, ast.Return) and each.value is not None)
        or (isinstance(each, ast.Call) and not _is_while_waiting(each))
        or _changed_in(each) in handed | made
        for each in every
    )


def _is_while_waiting(call: ast.Call) -> bool:
    return called_name(call) in _WHILE_WAITING or only_logs(call)


def _changed_in(node: ast.AST) -> str:
    """Returns the name of the variable whose object a node of the syntax tree changes: ``x`` for
    ``x.a = 1``, ``x[0] = 1`` and ``x.append(1)``. Returns an empty text for other nodes."""
    is_set = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
    is_called = isinstance(node, ast.Call) and called_name(node) in _CHANGING
    held: ast.AST = (
        node if is_set else node.func if is_called and isinstance(node, ast.Call) else ast.Pass()
    )
    while isinstance(held, (ast.Attribute, ast.Subscript)):
        held = held.value
    return held.id if isinstance(held, ast.Name) else ""


def called_name(call: ast.Call) -> str:
    """Returns the name of the function or method that is called; empty if it has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _owner_of(call: ast.Call) -> str:
    """Returns the last name before the method in a call: ``log`` for ``self.log.info()``. Returns an
    empty text if the call is not a call of a method."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return getattr(owner, "attr", "") or getattr(owner, "id", "")
