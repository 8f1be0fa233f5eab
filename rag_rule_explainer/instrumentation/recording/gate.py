"""This module defines the common base class of ``Recording`` (for the baseline) and ``Serving`` (for a
replay)."""

import threading
from collections.abc import Collection, Sequence
from typing import Any

from .refetching import Refetching


class Gate:
    """A ``Gate`` handles the searches of one run: it records them, or answers them from a record.

    - ``only``: the retrievers that the user named; empty for all.
    - ``closed``: True after the run has ended; this object then has no effect.
    - ``queries``: the texts of all queries.
    - ``takes_all``: True iff documents that a retriever finds and then drops also count as sources. The
      integration then records the inner retrievers of such a retriever, and not the retriever itself.
      Always False if the user named retrievers, because only their results count.
    - ``refetching``: changes the results of searches as a change of the corpus would; None to leave them
      unchanged.
    - ``has_other_sources``: True if the run gets other sources than the baseline, or in another order.
    - ``holds_out``: True if no replay gets some sources of the baseline, which no model was shown.
    """

    def __init__(self, only: Sequence[object], *, takes_all: bool = False) -> None:
        self.closed = False
        self.queries: list[str] = []
        self._only = tuple(only)
        self.takes_all = takes_all and not self._only
        self.refetching: Refetching[Any] | None = None
        self.has_other_sources = False
        self.holds_out = False
        self._lock = threading.Lock()

    def deliver_result(self, ids: Collection[str], is_recorded: bool) -> None:
        """Records that the application got a tool's result that contains sources. ``ids``: the ids of
        these sources. ``is_recorded``: True if the baseline had this result. Called only in replays."""
        raise NotImplementedError

    def leave_undecided(self, reason: str) -> None:
        """Records the reason why the answer of this replay must not be used. Called only in replays."""
        raise NotImplementedError

    def concerns(self, retriever: object) -> bool:
        """Returns True iff calls of this retriever are recorded, or answered from the record. If the user
        named retrievers, only their calls are; otherwise the calls of all retrievers are."""
        return not self._only or any(each is retriever for each in self._only)
