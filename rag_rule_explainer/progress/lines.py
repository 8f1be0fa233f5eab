"""This module reports progress in separate lines, for logs and other files that are no terminals."""

from typing import TextIO

from .wording import Row, in_ascii

SECOND_LINE = 100
"""The number of probes at which the second line is written. Each further line is written at twice the
number of the line before."""


class Lines:
    """A ``Lines`` writes progress as lines in ASCII: at the first probe, at 100, 200, 400, ... probes,
    after Ctrl-C, and at the end."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self._next: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._interrupted: set[int] = set()

    def start(self) -> None:
        """Does nothing: lines are written when rows arrive."""

    def show(self, row: Row) -> None:
        """Writes the row as a line at the first probe, each time the number of probes has reached the
        next of 100, 200, 400, ..., and once after Ctrl-C. Other rows are dropped."""
        call, probes = row.report.call, row.report.probes
        if row.report.interrupted:
            if call not in self._interrupted:
                self._interrupted.add(call)
                self._write(row)
            return
        due = self._next.get(call, 1)
        if probes < due:
            return
        while due <= probes:
            due = max(SECOND_LINE, 2 * due)
        self._next[call] = due
        self._last[call] = probes
        self._write(row)

    def finish(self, row: Row) -> None:
        """Writes the last row of an explanation as a line, unless the line before had the same number of
        probes."""
        self._next.pop(row.report.call, None)
        self._interrupted.discard(row.report.call)
        if self._last.pop(row.report.call, None) != row.report.probes:
            self._write(row)

    def close(self) -> None:
        """Does nothing, because the file belongs to the caller."""

    def _write(self, row: Row) -> None:
        if self._file is not None:  # sys.stderr is None in a program without a console
            # Each line is one write, so that lines of several threads do not mix.
            self._file.write(in_ascii(row.line()).replace(" | ", "; ") + "\n")
            self._file.flush()
