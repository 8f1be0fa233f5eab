"""This module lays the rules out as CSV, one row a rule, for a spreadsheet or a program."""

import csv
from collections.abc import Iterator
from io import StringIO

from ..explanation.explanation import Explanation
from ..printable import inert
from .form import ReportForm
from .view import RuleRow, rule_rows


def as_csv(explanation: Explanation) -> str:
    """Returns all rules as CSV, with a header even without rules. No cell is a formula of a spreadsheet.

    The warnings, and whether these are all the rules, are on the explanation.
    """
    return CSV.written(explanation)


def csv_lines(explanation: Explanation) -> Iterator[str]:
    """Yields the CSV line by line; no cell has a line break."""
    for row in (RuleRow._fields, *rule_rows(explanation)):
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(map(inert, row))
        yield line.getvalue()


CSV = ReportForm("csv", csv_lines, holds="rules")
