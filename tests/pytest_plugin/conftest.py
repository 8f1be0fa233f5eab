"""Runs of pytest with the plugin, in folders of their own."""

from collections.abc import Callable
from importlib.metadata import entry_points

import pytest

from rag_rule_explainer.pytest_plugin import assert_rule, assert_stable, hooks
from tests.comparison.explaining import explained

IS_INSTALLED = any(each.name == "rag_rules" for each in entry_points(group="pytest11"))
PLUGIN = "rag_rules" if IS_INSTALLED else "rag_rule_explainer.pytest_plugin.hooks"
BEGUN = '''
from rag_rule_explainer import contains
from rag_rule_explainer.pytest_plugin import Undecided, assert_no_rule, assert_rule, assert_stable
from tests.comparison.explaining import explained

def says(*wanted, **options):
    """Says yes iff one of these sets of sources is there."""
    return explained(lambda shown: any(set(each) <= shown for each in wanted), "abc", **options)

def stuck():
    """Has no verdict on a and b."""
    return explained(lambda s: ValueError("away") if s == {"a", "b"} else {"a", "b"} <= s, "abc")
'''
"""What every test file of such a run begins with."""

# After such a run, pytester forgets what was imported in it. What was imported before stays.
assert_rule(explained(lambda shown: True, "a"), retains=())
_IMPORTED = (assert_stable, hooks)

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Writes a test file of these lines, and runs it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def written(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=f"{BEGUN}\n{text}")
        return pytester.runpytest_inprocess("-p", PLUGIN, "-p", "no:cacheprovider", *options)

    return written
