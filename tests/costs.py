"""This module knows the tests that ``make test`` leaves to the merge, because they cost too much. As a
plugin of pytest, it writes their names anew (``make costs``)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

COSTLY = Path(__file__).with_name("costly.txt")
MOST = 0.25
"""Seconds of a test's cheapest case; half of all tests take less than a tenth of it."""


def costly() -> frozenset[str]:
    """Returns the names, as pytest gives them, of the tests that ``make test`` leaves out."""
    return frozenset(COSTLY.read_text(encoding="utf-8").split())


def too_costly(costs: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yields the tests whose cheapest case takes longer than ``MOST``. Each file keeps its cheapest
    test, so that no file is left out. ``costs``: the name and the seconds of each case."""
    files = defaultdict[str, dict[str, float]](dict)
    for case, seconds in costs:
        test = case.partition("[")[0]
        tests = files[test.partition("::")[0]]
        tests[test] = min(seconds, tests.get(test, seconds))
    for tests in files.values():
        cheapest = min(tests, key=lambda each: (tests[each], each))
        yield from (test for test, seconds in tests.items() if seconds > MOST and test != cheapest)


def written(tests: Iterable[str]) -> None:
    COSTLY.write_text("".join(f"{each}\n" for each in sorted(tests)), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seconds = defaultdict[str, float](float)
    for reports in terminalreporter.stats.values():
        for each in reports:
            if isinstance(each, pytest.TestReport):
                seconds[each.nodeid] += each.duration
    written(too_costly(seconds.items()))
