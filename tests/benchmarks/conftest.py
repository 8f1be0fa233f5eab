"""Prints what the benchmarks measured, as one table."""

import pytest

from tests.benchmarks.ratios import ROWS, table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if ROWS:
        terminalreporter.section("ratios, each measured in one run")
        for line in table(ROWS):
            terminalreporter.line(line)
