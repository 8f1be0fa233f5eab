"""This module recognises calls that only print or log values."""

import ast
import re

_LOGGING = frozenset(["print", "debug", "info", "warning", "error", "exception", "critical", "log"])
_HARMLESS = frozenset(
    "len str repr sorted sum max min round list dict tuple set type format join get items".split()  # noqa: SIM905 -- as above
)
"""The names of functions and methods that change no state."""
_A_LOG = re.compile(r"log|console|print|warn", re.I)


_OF_ALL = frozenset({"locals", "vars", "eval", "exec"})
"""Functions that read variables without naming them."""


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


def only_logged_in(function: ast.AST) -> frozenset[str]:
    """Returns the local variables of a function whose values are only printed or logged."""
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


def called_name(call: ast.Call) -> str:
    """Returns the name of the function or method that is called; empty if it has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _owner_of(call: ast.Call) -> str:
    """Returns the last name in the expression whose method is called: ``log`` for ``self.log.info()``.
    Returns an empty text if no method is called."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return getattr(owner, "attr", "") or getattr(owner, "id", "")
