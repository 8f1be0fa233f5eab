"""This module defines the common base class of ``Recording`` (for the baseline) and ``Serving`` (for a
replay)."""

import threading
from collections.abc import Sequence


class Gate:
    """A ``Gate`` handles the searches of one run.

    ``closed``: True after the run has ended; the gate then has no effect. ``queries``: the texts of all
    queries.

    ``takes_all``: True iff documents that a retriever finds and drops itself are sources as well. The
    integration then records the retrievers inside it. Always False if only some retrievers are recorded:
    the user named those whose results count.
    """

    def __init__(self, only: Sequence[object], *, takes_all: bool = False) -> None:
        self.closed = False
        self.queries: list[str] = []
        self._only = tuple(only)
        self.takes_all = takes_all and not self._only
        self._lock = threading.Lock()

    def concerns(self, retriever: object) -> bool:
        """Returns True iff calls of this retriever are recorded or served: always, unless the user named
        other retrievers only."""
        return not self._only or any(each is retriever for each in self._only)
