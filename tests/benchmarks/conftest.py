"""Prints what the benchmarks measured: the ratios as one table, and what has a table of its own."""

import pytest

from tests.benchmarks.ratios import ROWS, STUDIES, aligned, table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if ROWS:
        terminalreporter.section("ratios, each measured in one run")
        for line in table(ROWS):
            terminalreporter.line(line)
    for title, rows in STUDIES.items():
        terminalreporter.section(title)
        for line in aligned(rows, ["<", "<", *">" * (len(rows[0]) - 2)]):
            terminalreporter.line(line)
