"""This module recognises calls that only print or log values."""

import ast
import re

_TELLING = frozenset(["print", "debug", "info", "warning", "error", "exception", "critical", "log"])
_HARMLESS = frozenset(
    "len str repr sorted sum max min round list dict tuple set type format join get items".split()  # noqa: SIM905 -- as above
)
"""Functions and methods that change nothing."""
_A_LOG = re.compile(r"log|console|print|warn", re.I)


def only_tells(call: ast.Call) -> bool:
    """Returns True iff a call only prints or logs values. It does more if it writes to a file of its own,
    or if an argument calls a function of the user's or contains one."""
    called = called_name(call)
    if called not in _TELLING or not _A_LOG.search(_owner_of(call) or called):
        return False
    if called == "print" and any(each.arg == "file" for each in call.keywords):
        return False
    inside = (each for argument in (*call.args, *call.keywords) for each in ast.walk(argument))
    return not any(
        isinstance(each, ast.Lambda)
        or (isinstance(each, ast.Call) and called_name(each) not in _HARMLESS)
        for each in inside
    )


def called_name(call: ast.Call) -> str:
    """Returns the name of the function or method that is called; empty if it has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _owner_of(call: ast.Call) -> str:
    """Returns the last name of the object whose method is called; empty for a function."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return getattr(owner, "attr", "") or getattr(owner, "id", "")
