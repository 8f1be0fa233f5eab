"""One timer over everything in flight: a cancel scope per replay would cost more than all else here."""

import asyncio
from collections.abc import Callable
from typing import Any

from .replaying import UnusableReply

RunningTask = asyncio.Task[Any]

STOOD_STILL = 0.1
"""Seconds after which a timer that is late tells of a loop that was held up."""

# How many cancellations a task has not answered for; before Python 3.11, none are counted.
_pending: Callable[[RunningTask], int] = getattr(asyncio.Task, "cancelling", lambda _: 0)


class Deadlines:
    """Cancels tasks that take longer than ``seconds``. For one event loop.

    Whoever catches that and goes on is cancelled again after as many seconds. Where the loop itself stood
    still, a task has its time once more: what came in meanwhile has yet to be seen.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # All are given the same time, so the first to have come in is the first to be due. Beside the
        # time: how many cancellations of somebody else's the task had pending when it came in.
        self._due: dict[RunningTask, tuple[float, int]] = {}
        self._cancelled: dict[RunningTask, int] = {}
        self._spared = set[RunningTask]()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: RunningTask) -> None:
        """From now on its time runs; to be followed by ``end``."""
        loop = task.get_loop()
        due = loop.time() + self.seconds
        self._due[task] = due, _pending(task)
        if self._timer is None:
            self._timer = loop.call_at(due, self._check)

    def end(self, task: RunningTask) -> bool:
        """Returns True iff its time was over, and it was cancelled for that and for nothing else.

        Our cancellation is undone; one from elsewhere stands. To be called at once when the task is back:
        later, the next cancellation may be on its way. May be called again, and is False then.
        """
        begun = self._due.pop(task, None)
        self._spared.discard(task)
        if begun is None or not self._cancelled:
            return False
        times = self._cancelled.pop(task, 0)
        uncancel: Callable[[], int] | None = getattr(task, "uncancel", None)  # from Python 3.11 on
        for _ in range(times):
            if uncancel is not None:
                uncancel()
        return times > 0 and _pending(task) <= begun[1]

    def passed(self) -> UnusableReply:
        """Returns the error for a run that took too long."""
        return UnusableReply(f"no answer within {self.seconds:g} seconds", passing=True)

    def close(self) -> None:
        """Nothing is due any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        self._timer = None
        for task, (due, pending) in list(self._due.items()):
            now = task.get_loop().time()
            if due > now:
                break
            del self._due[task]
            self._due[task] = now + self.seconds, pending
            if now - due > STOOD_STILL and task not in self._spared:
                self._spared.add(task)
                continue
            self._cancelled[task] = self._cancelled.get(task, 0) + 1
            task.cancel()
        for task, (due, _) in self._due.items():
            self._timer = task.get_loop().call_at(due, self._check)
            return
