"""Threads of our own for replays that block, shared by all explanations of the process.

They are daemons, because nothing else can be done about a replay that hangs: it is given up after its
time, and must not keep the process from ending. Each ends by itself when there is nothing to do.
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
"""How long a thread waits for something to do."""


class _Job(NamedTuple):
    context: Context
    call: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    outcome: "asyncio.Future[Any]"


class Threads:
    """Runs functions in threads, as many at once as are asked for."""

    def __init__(self) -> None:
        # No SimpleQueue: who is woken there, finds that another thread was faster, and by then is out of
        # time, waits without any limit (seen in CPython 3.11).
        self._jobs: queue.Queue[_Job] = queue.Queue()
        self._idle = 0
        self._guard = threading.Lock()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Returns what the function returns, called in a copy of this context.

        Whoever is cancelled meanwhile leaves at once; the function is left to itself.
        """
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        job = _Job(copy_context(), lambda: function(*args), loop, outcome)
        with self._guard:
            # Whoever is idle takes a job at most; the count says for how many jobs there is somebody.
            self._idle -= 1
            missing = self._idle < 0
            if missing:
                self._idle += 1
        # The job comes last: where Ctrl-C, or a lack of threads, ends this in between, there is a thread
        # too many and never one too few, for which a later job would wait in vain.
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
                        continue  # a job for this thread is on its way
                    self._idle -= 1
                return
            if not job.outcome.done():  # otherwise nobody waits for it any more
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
        _tell(job, value, error)

    def _rest(self) -> None:
        with self._guard:
            self._idle += 1


def shared() -> Threads:
    """Returns those of this process; a forked child has the parent's memory but not its threads."""
    process = os.getpid()
    if process not in _of_process:
        _of_process.clear()
        _of_process[process] = Threads()
    return _of_process[process]


_of_process: dict[int, Threads] = {}


def _tell(job: _Job, value: Any, error: BaseException | None) -> None:
    def settle() -> None:
        if job.outcome.done():
            return
        if error is None:
            job.outcome.set_result(value)
        elif isinstance(error, (StopIteration, KeyboardInterrupt, GeneratorExit)):
            # A future cannot be told of the first, and the others would end the loop or the call.
            told = RuntimeError(f"the replay raised {type(error).__name__}")
            told.__cause__ = error
            job.outcome.set_exception(told)
        else:
            job.outcome.set_exception(error)

    try:
        job.loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return
