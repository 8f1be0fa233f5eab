"""This module tells the user's modules from this package, installed packages and the standard library."""

import sys
import sysconfig
from functools import cache
from pathlib import Path

_OURS = "rag_rule_explainer"
"""The ending of the names of this package and its integrations."""
INSTALLED = {"site-packages", "dist-packages"}
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def is_named_as_ours(module: str) -> bool:
    """Returns True iff a module belongs to this package or to one of its integrations."""
    return module.partition(".")[0].endswith(_OURS)


@cache
def is_users(module: str) -> bool:
    """Returns True iff a module is the user's own: not Python's, not installed, not of this package."""
    if module == "__main__":
        return True
    if is_named_as_ours(module):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file:
        return False
    path = Path(file)
    return not INSTALLED & set(path.parts) and _STANDARD_LIBRARY not in path.parents
