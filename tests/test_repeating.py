"""Waiting tests are run many times in one process."""

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.representing import spread_out

pytest_plugins = ["tests.repeating"]

def pytest_addoption(parser):
    parser.addoption("--repeat", type=int, default=1)

def pytest_configure(config):
    config.addinivalue_line("markers", "slow")
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

@pytest.mark.waits
@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("way", [1, 2])
@pytest.mark.parametrize("case, name", [("a", "b"), ("a", "c"), ("d", "e")])
def test_each_value(case, name, way):
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
    values = ["a-b-1", "a-c-2", "d-e-1"]
    crossings = ["test_crossing[a]", "test_crossing[c]", *(f"test_each_value[{each}]" for each in values)]
    once = ["test_waiting", "test_another", *crossings]
    assert asked(pytester) == once
    waiting = [f"test_waiting[{n}]" for n in (1, 2, 3)]
    crossing = [f"test_crossing[{case}-{n}]" for case in "ac" for n in (1, 2, 3)]
    each = [f"test_each_value[{value}-{n}]" for value in values for n in (1, 2, 3)]
    assert asked(pytester, "--repeat", "3") == [*waiting, "test_another", *crossing, *each]
