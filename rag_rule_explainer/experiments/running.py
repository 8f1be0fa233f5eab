"""This module runs the jobs of experiments, one by one or concurrently, until Ctrl-C or an error. It
also ends them if a model does not answer any more."""

import signal
import threading
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import TypeAlias, TypeVar

import anyio

from ..errors import BaselineFailed
from ..settings import Settings
from .models import Examined
from .outcome import ExperimentOutcome

ProgressCallback: TypeAlias = Callable[[int, int], object]
"""A function that receives progress: the number of jobs done, and the number of all jobs."""
Check: TypeAlias = Callable[[], None]
"""A function that raises KeyboardInterrupt if Ctrl-C was pressed, and otherwise does nothing."""

Job = TypeVar("Job")


def one_by_one(
    jobs: Collection[Job],
    do: Callable[[Job, Check], object],
    outcome: ExperimentOutcome,
    progress: ProgressCallback | None,
) -> bool:
    """Runs the jobs one by one and counts them. Returns False if Ctrl-C ended this before the last job.

    Ctrl-C is checked after each job. ``do`` may also check it during a job.
    """
    with _interruptions() as check:
        try:
            for job in jobs:
                do(job, check)
                check()
                outcome.done += 1
                if progress is not None:
                    progress(outcome.done, len(jobs))
        except KeyboardInterrupt:
            outcome.interrupted = True
    return not outcome.interrupted


async def several_at_once(
    jobs: Iterable[Job],
    do: Callable[[Job], Awaitable[object]],
    width: int,
    is_over: Callable[[], object],
) -> None:
    """Runs the jobs in order, ``width`` at a time, until ``is_over`` returns True or a job raises an
    error. The first error is raised after all running jobs have ended, because they may already be
    paid for."""
    waiting, errors = iter(jobs), list[Exception]()

    async def work() -> None:
        for job in waiting:
            if errors or is_over():
                return
            try:
                await do(job)
            except Exception as error:
                errors.append(error)

    async with anyio.create_task_group() as workers:
        for _ in range(width):
            workers.start_soon(work)
    if errors:
        raise errors[0]


@dataclass(slots=True)
class Silence:
    """This class detects that a model does not answer any more.

    ``most``: the number of failures in a row after which an error is raised; None for never.
    ``complaint``: the message of the error, with ``{model}`` and ``{count}``.
    """

    model: Examined
    most: int | None
    complaint: str
    count: int = 0

    def note(self, why: str, *, is_answered: bool) -> None:
        """Counts one job. ``why``: the reason of its failure. Raises BaselineFailed after ``most``
        failures in a row."""
        self.count = 0 if is_answered else self.count + 1
        if self.most is not None and self.count >= self.most:
            complaint = self.complaint.format(model=self.model.name, count=self.count)
            raise BaselineFailed(
                f"{complaint}; check that its endpoint is up, its name and its key: {why}"
            )


def silence_on_questions(model: Examined) -> Silence:
    """Returns a ``Silence`` that raises its error after three unanswered questions in a row."""
    return Silence(model, 3, "{model} answered nothing about {count} questions in a row")


def in_namespace(settings: Settings, namespace: str) -> Settings:
    """Returns the settings with this namespace for their store. Settings without a store are returned
    unchanged."""
    store = settings.store
    return settings if store is None else replace(settings, store=replace(store, namespace=namespace))


@contextmanager
def _interruptions() -> Generator[Check, None, None]:
    """Yields a function that raises KeyboardInterrupt if Ctrl-C was pressed during the block. Ctrl-C also
    has its usual effect.

    The function is needed because an interrupted explanation returns its rules so far, and may not report
    the interrupt if it was about to end. Outside the main thread, the function never raises an error,
    because only the main thread receives signals.
    """
    pressed = False

    def noticed(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        if callable(before):
            before(number, frame)

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    # The process that started this one may ignore SIGINT on purpose. This is not changed.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield check
        return
    signal.signal(signal.SIGINT, noticed)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
