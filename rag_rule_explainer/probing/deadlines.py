"""This module cancels replays that take too long.

One timer serves all replays, since a cancel scope of anyio for each replay would cost more time.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from .replaying import UnusableReply

RunningTask = asyncio.Task[Any]

NO_ANSWER_IN_TIME = "no answer within"
"""The first words of the error message of a replay that took too long."""
STOOD_STILL = 0.1
"""If a timer fires later than planned by more than this number of seconds, the event loop was blocked."""

# A function that returns the number of pending cancellations of a task. Before Python 3.11, asyncio does
# not count them, and the result is 0.
_pending: Callable[[RunningTask], int] = getattr(asyncio.Task, "cancelling", lambda _: 0)


class Deadlines:
    """This class cancels tasks of one event loop that take longer than ``seconds``.

    A task that catches its cancellation and runs on is cancelled again after the same number of seconds.
    If the event loop was blocked when a task became due, the task gets its full time once more: its reply
    may have arrived while no code could read it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # Every task gets the same number of seconds, so the tasks are in the order in which they become
        # due. Each value is the due time and the number of cancellations by other code, which were
        # already pending when the task began.
        self._due: dict[RunningTask, tuple[float, int]] = {}
        self._cancelled: dict[RunningTask, int] = {}
        self._spared = set[RunningTask]()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def current_task(self) -> RunningTask | None:
        """Returns the running task of the event loop. Remembers the loop, because looking it up again for
        each replay would take longer."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return asyncio.current_task(self._loop)

    def begin(self, task: RunningTask) -> None:
        """Starts to count the seconds of a task; the caller must call ``end`` when the task is done."""
        loop = task.get_loop()
        due = loop.time() + self.seconds
        self._due[task] = due, _pending(task)
        if self._timer is None:
            self._timer = loop.call_at(due, self._check)

    def end(self, task: RunningTask) -> bool:
        """Returns True iff the task was cancelled only because it took too long.

        Undoes the cancellations that this class has made; cancellations by other code stay. The caller
        must call this as soon as the task has returned, so that the task is not cancelled once more. A
        second call for the same task returns False.
        """
        begun = self._due.pop(task, None)
        if self._spared:
            self._spared.discard(task)
        if begun is None or not self._cancelled:
            return False
        times = self._cancelled.pop(task, 0)
        uncancel: Callable[[], int] | None = getattr(task, "uncancel", None)  # exists from Python 3.11 on
        for _ in range(times):
            if uncancel is not None:
                uncancel()
        return times > 0 and _pending(task) <= begun[1]

    def passed(self) -> UnusableReply:
        """Returns the error to raise for a replay that took too long."""
        return UnusableReply(f"{NO_ANSWER_IN_TIME} {self.seconds:g} seconds", passing=True)

    def close(self) -> None:
        """Stops the timer, so that no task is cancelled any more."""
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
