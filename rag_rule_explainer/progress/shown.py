"""This module defines the interface between a progress bar and the form in which it is shown."""

from typing import Protocol

from .wording import Row


class Shown(Protocol):
    """A ``Shown`` shows rows from ``start`` to ``close``. Only one thread at a time calls it."""

    def start(self) -> None:
        """Starts showing rows; it is called once."""
        ...

    def tell(self, row: Row) -> None:
        """Receives the newest row of a running call. It usually returns within microseconds."""
        ...

    def finish(self, row: Row) -> None:
        """Receives the last row of a call."""
        ...

    def close(self) -> None:
        """Removes all rows except those that are kept."""
        ...
