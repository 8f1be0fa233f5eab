"""This module writes the rules as CSV for a spreadsheet or a program, with one row for each rule."""

import csv
from collections.abc import Iterator
from io import StringIO

from ..explanation.explanation import Explanation
from ..printable import inert, shortened
from .form import ReportForm
from .view import RuleRow, rule_rows

_MADE_FROM = ("question", "made_at")
"""The names of the last columns: the question, and the time of the explanation. They have the same
values in every row."""


_MOST_OF_A_QUESTION = 2000
"""The maximum number of characters of the question. It is limited because every row repeats the
question."""


def as_csv(explanation: Explanation) -> str:
    """Returns all rules as CSV. The CSV has a header even if there are no rules. No spreadsheet reads a
    cell as a formula.

    The CSV does not contain the warnings, and does not say whether these are all rules. Both are in the
    explanation.
    """
    return "".join(f"{line}\n" for line in _csv_lines(explanation))


def _csv_lines(explanation: Explanation) -> Iterator[str]:
    """Yields the CSV line by line. No cell contains a line break."""
    made_from = (shortened(explanation.question, _MOST_OF_A_QUESTION), explanation.made_at)
    rows = ((*row, *made_from) for row in rule_rows(explanation))
    for row in ((*RuleRow._fields, *_MADE_FROM), *rows):
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(map(inert, row))
        yield line.getvalue()


CSV = ReportForm("csv", as_csv, (".csv",), "text/csv", holds="rules")
