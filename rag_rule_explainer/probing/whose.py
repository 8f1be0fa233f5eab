"""This module decides whether a module is the user's own code, or belongs to this package, an installed
package or the standard library."""

import sys
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_OURS = "rag_rule_explainer"
"""The text with which the names of this package and of its integrations end, such as
"langchain_rag_rule_explainer"."""
_MADE_BY_PYTHON = "namedtuple_"
"""The beginning of the names of the modules in which Python makes the methods of named tuples."""
_MADE_BY_CYTHON = ("_cython_", "cython_runtime")
"""The beginnings of the names of the modules in which Cython keeps objects that all compiled modules
share."""
INSTALLED = {"site-packages", "dist-packages"}
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def is_named_as_ours(module: str) -> bool:
    """Returns True iff the name of a module shows that it belongs to this package or to one of its
    integrations."""
    return module.partition(".")[0].endswith(_OURS)


def is_users(module: str) -> bool:
    """Returns True iff a module is the user's own: not from the standard library, from an installed
    package or from this package. ``module``: its name, such as "shop.search".

    A module may be missing from ``sys.modules``, for example if ``runpy`` has executed it. Such a module
    is the user's if its package ("shop") is the user's, or if there is no such package. A module that the
    user's code has built itself, without a file, is also the user's.
    """
    if module and module not in sys.modules:
        return _is_users_unknown(module)
    return _is_users_known(module)


@cache
def _is_users_known(module: str) -> bool:
    if module == "__main__":
        return True
    found = sys.modules.get(module)
    is_users_own = _is_users_file(getattr(found, "__file__", None)) or _is_made_by_code(module, found)
    return not is_named_as_ours(module) and is_users_own


def _is_made_by_code(name: str, module: object) -> bool:
    """Returns True iff code has built a module by itself, as by ``ModuleType("rules")``, instead of
    importing it."""
    if type(module) is not ModuleType or "." in name or name.startswith(_MADE_BY_CYTHON):
        return False
    return module.__spec__ is None and not hasattr(module, "__file__")


@cache
def _is_users_unknown(module: str) -> bool:
    package = module.partition(".")[0]
    # Some classes of C code have a descriptor in place of the name, such as "<member '__module__' ...>".
    if is_named_as_ours(module) or package.startswith((_MADE_BY_PYTHON, "<")):
        return False
    if package in sys.modules:
        return package != module and is_users(package)
    try:
        found = find_spec(package)
    except (ImportError, ValueError):
        return True
    return found is None or _is_users_file(found.origin)


def _is_users_file(file: str | None) -> bool:
    if not file:
        return False
    path = Path(file)
    return not INSTALLED & set(path.parts) and _STANDARD_LIBRARY not in path.parents
