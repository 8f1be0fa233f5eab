"""This module defines the common base class of ``Recording`` (for the baseline) and ``Serving`` (for a
replay)."""

import threading
from collections.abc import Sequence


class Gate:
    """A ``Gate`` handles the searches of one run.

    ``closed``: True after the run has ended; the gate then has no effect. ``queries``: the texts of all
    queries.
    """

    def __init__(self, only: Sequence[object]) -> None:
        self.closed = False
        self.queries: list[str] = []
        self._only = tuple(only)
        self._lock = threading.Lock()

    def concerns(self, retriever: object) -> bool:
        """Returns True iff calls of this retriever are recorded or served: always, unless the user named
        other retrievers only."""
        return not self._only or any(each is retriever for each in self._only)
