"""A line now and then: for logs, and for whatever is no terminal."""

from typing import TextIO

from .wording import Row, in_ascii

SECOND_LINE = 100
"""Probes until the second line; then twice as many per line."""


class Lines:
    """Writes a line at the first probe, at 100, 200, 400 and so on, and at the end; all of it ASCII."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self._next: dict[int, int] = {}
        self._told: dict[int, int] = {}

    def start(self) -> None:
        """There is nothing to begin."""

    def tell(self, row: Row) -> None:
        """Writes a line if it is time for one."""
        call, probes = row.report.call, row.report.probes
        due = self._next.get(call, 1)
        if probes < due:
            return
        while due <= probes:
            due = max(SECOND_LINE, 2 * due)
        self._next[call] = due
        self._told[call] = probes
        self._write(row)

    def finish(self, row: Row) -> None:
        """Writes a line, unless it would say what the one before it said."""
        self._next.pop(row.report.call, None)
        if self._told.pop(row.report.call, None) != row.report.probes:
            self._write(row)

    def close(self) -> None:
        """Nothing is left open."""

    def _write(self, row: Row) -> None:
        if self._file is not None:  # as is sys.stderr in a program without a console
            # In one piece, or lines of several threads would be mixed.
            self._file.write(in_ascii(row.line()).replace(" | ", "; ") + "\n")
            self._file.flush()
