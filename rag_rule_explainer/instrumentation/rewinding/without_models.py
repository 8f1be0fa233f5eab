"""This module decides whether an application computes its answers itself, without a model.

No requests can be compared then, and the answers alone show whether replays equal the baseline. That is
enough if nothing that the application reaches may be, or may ask, a model that nobody sees.
"""

import dis
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..shared_state.contents import names_in
from ..shared_state.reaching import FRAMEWORKS, SIMPLE, is_users
from .owners import OF_MODELS, Owner
from .snapshot import Snapshot

_NO_MODEL = sys.stdlib_module_names | {
    *("numpy", "pydantic", "pydantic_core", "typing_extensions", "annotated_types", "dateutil"),
    *("regex", "orjson", "yaml", "bs4", "jinja2", "markupsafe", "tenacity", "prometheus_client"),
}
"""The packages, besides those of frameworks, whose objects and functions are no models and ask none."""
_BY_OTHERS = frozenset(
    {
        *("exec", "eval", "__import__", "import_module", "ctypes", "cffi", "subprocess", "Popen"),
        *("multiprocessing", "ProcessPoolExecutor", "entry_points", "system", "popen", "posix_spawn"),
        *("create_subprocess_exec", "create_subprocess_shell", "fork", "execv", "urlopen", "socket"),
        *("HTTPConnection", "HTTPSConnection", "create_connection", "open_connection", "socketpair"),
    }
)
"""Names by which code may run something that cannot be looked at."""


def asks_no_model(snapshot: Snapshot) -> bool:
    """Returns True iff the application can reach no model, and no code that may ask one: it consists of
    the user's code, of the frameworks' objects other than models, and of ``_NO_MODEL``."""
    if any(node.owner in OF_MODELS for node in snapshot.nodes):
        return False
    if any(node.owner is Owner.LIBRARY and not _is_known(node.thing) for node in snapshot.nodes):
        return False
    if any(not _is_known(each) for each in snapshot.others):
        return False
    functions = [node.thing for node in snapshot.functions]
    return all(_is_harmless(function) for function in functions)


def _is_harmless(function: FunctionType) -> bool:
    names = set(names_in(function.__code__))
    if names & _BY_OTHERS:
        return False
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    imported = {name.partition(".")[0] for name in _imported(function.__code__)}
    # The code of a module of the user's that a run imports is not among the functions.
    is_seen = all(_is_of_known(each) and not is_users(each) for each in imported)
    return is_seen and all(map(_is_known, found))


def _imported(code: CodeType) -> Iterator[str]:
    for each in dis.get_instructions(code):
        if each.opname == "IMPORT_NAME":
            yield str(each.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _imported(inner)


def _is_known(thing: Any) -> bool:
    """Returns True iff the object, or the object's class, comes from a package that is known."""
    if type(thing) in SIMPLE:
        return True
    if isinstance(thing, ModuleType):
        return _is_of_known(thing.__name__)
    is_named = isinstance(thing, (type, FunctionType, BuiltinFunctionType, MethodType))
    return _is_of_known(str((thing if is_named else type(thing)).__module__))


def _is_of_known(module: str) -> bool:
    package = module.partition(".")[0]
    return package in _NO_MODEL or module.startswith(FRAMEWORKS) or is_users(module)
