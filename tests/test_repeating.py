"""Waiting tests are run many times in one process."""

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.representing import spread_out

pytest_plugins = ["tests.repeating"]

def pytest_addoption(parser):
    parser.addoption("--repeat", type=int, default=1)

def pytest_configure(config):
    config.addinivalue_line("markers", "waits")
    config.addinivalue_line("markers", "spread(fast, slow)")

def pytest_collection_modifyitems(items):
    spread_out(items)
"""
TESTS = """
import pytest

@pytest.fixture
def fresh():
    return []

@pytest.mark.waits
def test_waiting(fresh):
    fresh.append(1)
    assert len(fresh) == 1

def test_another():
    pass

@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("case", "abcd")
def test_crossing(case):
    pass
"""


def asked(pytester: pytest.Pytester, *options: str) -> list[str]:
    result = pytester.runpytest_inprocess("-v", "-p", "no:cacheprovider", "-m", "not slow", *options)
    assert result.ret == 0
    lines = (line.split(" ")[0] for line in result.outlines if " PASSED" in line)
    return [line.rpartition("::")[2] for line in lines]


def test_each_waiting_test_is_run_so_many_times_with_fixtures_of_its_own(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=TESTS)
    once = ["test_waiting", "test_another", "test_crossing[a]", "test_crossing[c]"]
    assert asked(pytester) == once
    waiting = [f"test_waiting[{n}]" for n in (1, 2, 3)]
    crossing = [f"test_crossing[{case}-{n}]" for case in "ac" for n in (1, 2, 3)]
    assert asked(pytester, "--repeat", "3") == [*waiting, "test_another", *crossing]
