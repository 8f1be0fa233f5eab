"""This module defines an application for tests. A function of the shown sources makes its answers."""

import threading
from collections.abc import Callable, Sequence

from ..sources import Source
from ..verdicts import Answer


class ScriptedReplay:
    """A ``ScriptedReplay`` is an application for tests. Its answer is ``script(ids)``, where ``ids`` are
    the ids of the shown sources.

    If the script returns an exception, the exception is raised. ``calls``: the ids of every call, in
    order. ``peak``: the largest number of calls in progress at the same time. The class is thread-safe.
    """

    def __init__(self, script: Callable[[frozenset[str]], Answer | str | Exception]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self._running = 0
        self.calls: list[frozenset[str]] = []
        self.peak = 0

    def __call__(self, _question: str, sources: Sequence[Source]) -> Answer | str:
        """Returns the answer of the script. Raises the exception that the script returned."""
        ids = frozenset(source.id for source in sources)
        with self._lock:
            self.calls.append(ids)
            self._running += 1
            self.peak = max(self.peak, self._running)
        try:
            answer = self._script(ids)
        finally:
            with self._lock:
                self._running -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer
