"""This module defines the interface by which a progress bar shows its rows, for example on a terminal."""

from typing import Protocol

from .wording import Row


class Shown(Protocol):
    """A ``Shown`` shows a row for each running explanation, from ``start`` until ``close``. Only one
    thread at a time calls it."""

    def start(self) -> None:
        """Starts showing rows. This method is called only once, perhaps after the first ``show``."""
        ...

    def show(self, row: Row) -> None:
        """Takes the newest row of a running explanation. Must return soon, usually within
        microseconds."""
        ...

    def finish(self, row: Row) -> None:
        """Takes the last row of an explanation that has ended."""
        ...

    def close(self) -> None:
        """Ends the display. The rows of explanations that are still running disappear. Rows that were
        passed to ``finish`` stay if the user wants this (``ProgressBar(keep=True)``)."""
        ...
