"""One timer over everything in flight: a cancel scope per replay would cost more than all else here."""

import asyncio
import time
from typing import Any

RunningTask = asyncio.Task[Any]


class Deadlines:
    """Cancels tasks that take longer than ``seconds``. For one event loop."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # All are given the same time, so the first to have come in is the first to be due.
        self._since: dict[RunningTask, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: RunningTask, now: float) -> None:
        """Its time runs from ``now``, which is ``time.perf_counter()``; to be followed by ``end``."""
        self._since[task] = now
        if self._timer is None:
            self._timer = task.get_loop().call_later(self.seconds, self._check)

    def end(self, task: RunningTask) -> bool:
        """True iff its time was over, and it was cancelled for that; that cancellation is then undone."""
        if self._since.pop(task, None) is not None:
            return False
        uncancel = getattr(task, "uncancel", None)  # from Python 3.11 on
        if uncancel is not None:
            uncancel()
        return True

    def _check(self) -> None:
        self._timer = None
        for task, since in list(self._since.items()):
            left = since + self.seconds - time.perf_counter()
            if left > 0:
                self._timer = task.get_loop().call_later(left, self._check)
                return
            del self._since[task]
            task.cancel()
