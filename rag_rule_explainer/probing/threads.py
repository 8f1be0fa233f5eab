"""This module runs blocking replays and judges in threads that all explanations of the process share.

The threads are daemon threads. A function that hangs is abandoned after its time but still occupies its
thread, and this must not keep the process from ending.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

IDLE_SECONDS = 5.0
"""The seconds for which an idle thread waits for a job before it ends."""


class Interrupted(RuntimeError):
    """This error replaces a KeyboardInterrupt that a function raised in its thread, because a
    KeyboardInterrupt would end the event loop."""


class _Job(NamedTuple):
    context: Context
    call: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    outcome: "asyncio.Future[Any]"


class Threads:
    """This class runs functions in threads. No call waits for a free thread: if none is idle, a new
    thread is started."""

    def __init__(self) -> None:
        # This is no SimpleQueue: in CPython 3.11, its get() can wait for ever in spite of its timeout if
        # another thread takes the job.
        self._jobs: queue.Queue[_Job] = queue.Queue()
        self._idle = 0
        self._guard = threading.Lock()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Calls the function in a thread, with a copy of the caller's context variables, and returns its
        result. If the caller is cancelled, the caller stops waiting at once, but the function runs on in
        its thread."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        job = _Job(copy_context(), lambda: function(*args), loop, outcome)
        with self._guard:
            # ``_idle`` counts the idle threads that are still free. Subtracting 1 reserves one of them
            # for this job; below 0, none was free and a new thread is needed.
            self._idle -= 1
            missing = self._idle < 0
            if missing:
                self._idle += 1
        # The thread is started before the job is queued. An error or Ctrl-C between the two lines then
        # leaves one thread too many, which does no harm; a job without a thread would never run.
        if missing:
            threading.Thread(target=self._work, name="rag-rule-replay", daemon=True).start()
        self._jobs.put(job)
        return await outcome

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._guard:
                    if self._idle <= 0:
                        continue  # ``run`` has reserved this thread and will queue a job for it at once
                    self._idle -= 1
                return
            if not job.outcome.done():  # the future is done already if the caller was cancelled
                self._do(job)
            else:
                self._rest()
            del job

    def _do(self, job: _Job) -> None:
        value, error = None, None
        try:
            value = job.context.run(job.call)
        except BaseException as raised:
            error = raised
        self._rest()
        _deliver(job, value, error)

    def _rest(self) -> None:
        with self._guard:
            self._idle += 1


def shared() -> Threads:
    """Returns the ``Threads`` object of this process. A forked child gets a new one: it inherits the
    memory of its parent, but not the running threads."""
    process = os.getpid()
    if process not in _of_process:
        _of_process.clear()
        _of_process[process] = Threads()
    return _of_process[process]


_of_process: dict[int, Threads] = {}


def _deliver(job: _Job, value: Any, error: BaseException | None) -> None:
    def settle() -> None:
        if job.outcome.done():
            return
        if error is None:
            job.outcome.set_result(value)
        elif isinstance(error, (StopIteration, KeyboardInterrupt, GeneratorExit)):
            # A future refuses StopIteration as its exception, and KeyboardInterrupt and GeneratorExit
            # would end the event loop or the caller. So each becomes the cause of a RuntimeError, or of
            # its subclass Interrupted.
            kind = Interrupted if isinstance(error, KeyboardInterrupt) else RuntimeError
            failure = kind(f"the function raised {type(error).__name__}")
            failure.__cause__ = error
            job.outcome.set_exception(failure)
        else:
            job.outcome.set_exception(error)

    try:
        job.loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the event loop is closed, so no caller waits for the result
        return
