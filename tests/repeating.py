"""Waiting tests are run many times in one process, so that what they import is imported once."""

import pytest

REPETITION = "repetition"


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes as many tests of each waiting one as ``--repeat`` says. Each has its own fixtures."""
    many = int(metafunc.config.getoption("--repeat") or 1)
    if many > 1 and metafunc.definition.get_closest_marker("waits"):
        metafunc.fixturenames.append(REPETITION)
        metafunc.parametrize(REPETITION, range(1, many + 1))


def repetition_of(item: pytest.Item) -> int:
    """Which of its repetitions a test is; 0 where it is not repeated."""
    callspec = getattr(item, "callspec", None)
    return 0 if callspec is None else callspec.params.get(REPETITION, 0)
