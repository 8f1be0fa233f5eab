"""One timer over everything in flight: a cancel scope per replay would cost more than all else here."""

import asyncio
from typing import Any

RunningTask = asyncio.Task[Any]


class Deadlines:
    """Cancels tasks that take longer than ``seconds``. For one event loop."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # All are given the same time, so the first to have come in is the first to be due.
        self._due: dict[RunningTask, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: RunningTask) -> None:
        """From now on its time runs; to be followed by ``end``."""
        loop = task.get_loop()
        due = self._due[task] = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(due, self._check)

    def end(self, task: RunningTask) -> bool:
        """True iff its time was over, and it was cancelled for that; that cancellation is then undone."""
        if self._due.pop(task, None) is not None:
            return False
        uncancel = getattr(task, "uncancel", None)  # from Python 3.11 on
        if uncancel is not None:
            uncancel()
        return True

    def close(self) -> None:
        """Nothing is due any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        self._timer = None
        for task, due in list(self._due.items()):
            loop = task.get_loop()
            if due > loop.time():
                self._timer = loop.call_at(due, self._check)
                return
            del self._due[task]
            task.cancel()
