"""An application that answers by what it is shown."""

import threading
from collections.abc import Callable, Sequence

from ..sources import Source
from ..verdicts import Answer


class ScriptedReplay:
    """Answers with ``script(ids)``, where ``ids`` is the frozenset of the ids shown; counts its calls.

    An exception that the script returns is raised. ``calls`` holds the ids of every call, in order;
    ``peak`` is the most calls that were in progress at once. Thread-safe.
    """

    def __init__(self, script: Callable[[frozenset[str]], Answer | str | Exception]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self._running = 0
        self.calls: list[frozenset[str]] = []
        self.peak = 0

    def __call__(self, _question: str, sources: Sequence[Source]) -> Answer | str:
        """Returns the script's answer."""
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
