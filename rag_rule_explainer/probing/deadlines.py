"""This module cancels replays that take too long, with one timer for all: cancel scopes cost more."""

import asyncio
from collections.abc import Callable
from typing import Any

from .replaying import UnusableReply

RunningTask = asyncio.Task[Any]

NO_ANSWER_IN_TIME = "no answer within"
"""The beginning of the error of a replay that took too long."""
STOOD_STILL = 0.1
"""A timer that is later than this number of seconds shows that the event loop was blocked."""

# The number of cancellations that a task has pending; before Python 3.11, asyncio counts none.
_pending: Callable[[RunningTask], int] = getattr(asyncio.Task, "cancelling", lambda _: 0)


class Deadlines:
    """This class cancels tasks that take longer than ``seconds``. For one event loop.

    A task that catches its cancellation and runs on is cancelled again after as many seconds. If the loop
    was blocked, a task gets its time once more, since its reply may have arrived and not been read yet.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # Every task has the same time, so this dictionary is in order of the due times. Each value is the
        # due time and the number of foreign cancellations that were pending when the task began.
        self._due: dict[RunningTask, tuple[float, int]] = {}
        self._cancelled: dict[RunningTask, int] = {}
        self._spared = set[RunningTask]()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: RunningTask) -> None:
        """Starts the time of a task; the caller must call ``end`` afterwards."""
        loop = task.get_loop()
        due = loop.time() + self.seconds
        self._due[task] = due, _pending(task)
        if self._timer is None:
            self._timer = loop.call_at(due, self._check)

    def end(self, task: RunningTask) -> bool:
        """Returns True iff the task was cancelled because its time was over, and for no other reason.

        The cancellations of this class are undone; foreign ones stand. The caller must call this as soon
        as the task returns, before the next cancellation is due. A second call returns False.
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
        return UnusableReply(f"{NO_ANSWER_IN_TIME} {self.seconds:g} seconds", passing=True)

    def close(self) -> None:
        """Stops the timer: no task is cancelled any more."""
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
