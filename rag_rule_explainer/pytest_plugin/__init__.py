"""This package is a plugin for pytest, with assertions about explanations.

``assert_rule``, ``assert_no_rule``, ``assert_citations_decisive`` and ``assert_stable`` pass, fail, or
raise ``Undecided``. A test that raises ``Undecided`` is reported as an error, and never as passed or
failed. pytest imports this package in every run, even if no test uses it. So each assertion is imported
when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..errors import Undecided
    from .citation_assertions import assert_citations_decisive
    from .golden_files import assert_stable
    from .rule_assertions import assert_no_rule, assert_rule

_MODULES = {
    "Undecided": "..errors",
    "assert_citations_decisive": ".citation_assertions",
    "assert_no_rule": ".rule_assertions",
    "assert_rule": ".rule_assertions",
    "assert_stable": ".golden_files",
}

__all__ = ["Undecided", "assert_citations_decisive", "assert_no_rule", "assert_rule", "assert_stable"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)
