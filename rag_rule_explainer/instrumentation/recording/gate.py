"""This module holds the common base of recordings and servings."""

import threading
from collections.abc import Sequence


class Gate:
    """This class is the common base of ``Recording`` and ``Serving``.

    ``closed``: True after the run has ended; the gate then has no effect. ``queries``: the texts of all
    searches.
    """

    def __init__(self, only: Sequence[object]) -> None:
        self.closed = False
        self.queries: list[str] = []
        self._only = tuple(only)
        self._lock = threading.Lock()

    def concerns(self, retriever: object) -> bool:
        """Returns True unless the gate is restricted to other retrievers."""
        return not self._only or any(each is retriever for each in self._only)
