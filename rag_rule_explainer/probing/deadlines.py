"""This module cancels replays that take too long.

One timer serves all replays, since a cancel scope of anyio for each replay would cost more time.
"""

import asyncio
import time
from collections.abc import Callable
from math import inf
from typing import Any

from .replaying import UnusableReply

RunningTask = asyncio.Task[Any]

NO_ANSWER_IN_TIME = "no answer within"
"""The first words of the error message of a replay that took too long."""
STOOD_STILL = 0.1
"""If a timer fires later than planned by more than this number of seconds, the event loop was blocked."""

# This function returns the number of pending cancellations of a task. Before Python 3.11, asyncio does
# not count them, and the result is 0.
_pending: Callable[[RunningTask], int] = getattr(asyncio.Task, "cancelling", lambda _: 0)


class Deadlines:
    """This class cancels tasks of one event loop that take longer than ``seconds``; with None, it cancels
    none.

    A task that catches its cancellation and runs on is cancelled again after the same number of seconds.
    If the event loop was blocked when a task became due, the task gets its full time once more: its reply
    may have arrived while no code could read it.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = inf if seconds is None else seconds
        # Every task gets the same number of seconds, so the tasks are in the order in which they become
        # due. Each value is a pair: the due time, and the number of cancellations by other code that
        # were already pending when the task began.
        self._due: dict[RunningTask, tuple[float, int]] = {}
        self._cancelled: dict[RunningTask, int] = {}
        self._spared = set[RunningTask]()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._now: Callable[[], float] = time.monotonic

    def begin(self) -> RunningTask | None:
        """Starts to count the seconds of the running task and returns it; None without a limit, or if no
        task is running. The caller must call ``end`` when the task is done."""
        if self.seconds == inf:
            return None
        if self._loop is None:  # the loop is stored, because looking it up is slow
            self._loop = asyncio.get_running_loop()
            # ``BaseEventLoop.time`` only calls ``time.monotonic``; a loop of another kind has a clock of
            # its own.
            is_usual = getattr(type(self._loop), "time", None) is asyncio.BaseEventLoop.time
            self._now = time.monotonic if is_usual else self._loop.time
        task = asyncio.current_task(self._loop)
        if task is not None:
            due = self._now() + self.seconds
            self._due[task] = due, _pending(task)
            if self._timer is None:
                self._timer = self._loop.call_at(due, self._check)
        return task

    def end(self, task: RunningTask | None) -> bool:
        """Returns True iff the task was cancelled only because it took too long.

        Undoes the cancellations that this class has made; cancellations by other code stay. The caller
        must call this as soon as the task has returned, so that the task is not cancelled once more. A
        second call for the same task returns False.
        """
        if task is None:
            return False
        begun = self._due.pop(task, None)
        if not self._cancelled and not self._spared:
            return False
        self._spared.discard(task)
        if begun is None:
            return False
        times = self._cancelled.pop(task, 0)
        uncancel: Callable[[], int] | None = getattr(task, "uncancel", None)  # since Python 3.11
        for _ in range(times):
            if uncancel is not None:
                uncancel()
        return times > 0 and _pending(task) <= begun[1]

    def check_end(self, task: RunningTask | None) -> None:
        """Ends the count of a task that returned a value. Raises UnusableReply if the task was cancelled
        because it took too long: it caught the cancellation, and its value is no answer."""
        if task is not None and not self._cancelled and not self._spared:
            self._due.pop(task, None)  # nearly always: a call of ``end`` would take longer
        elif self.end(task):
            raise self.passed()

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
