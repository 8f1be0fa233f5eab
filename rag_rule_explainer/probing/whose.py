"""This module decides whether a module is the user's own code, or belongs to this package, an installed
package or the standard library."""

import sys
import sysconfig
from functools import cache
from pathlib import Path

_OURS = "rag_rule_explainer"
"""The text with which the names of this package and of its integrations end."""
INSTALLED = {"site-packages", "dist-packages"}
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def is_named_as_ours(module: str) -> bool:
    """Returns True iff the name of a module shows that it belongs to this package or to one of its
    integrations."""
    return module.partition(".")[0].endswith(_OURS)


@cache
def is_users(module: str) -> bool:
    """Returns True iff a module is the user's own: not from the standard library, from an installed
    package or from this package."""
    if module == "__main__":
        return True
    if is_named_as_ours(module):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file:
        return False
    path = Path(file)
    return not INSTALLED & set(path.parts) and _STANDARD_LIBRARY not in path.parents
