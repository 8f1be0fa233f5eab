"""This module runs the jobs of experiments, such as questions, one by one or several at once, until
Ctrl-C or an error. It also ends an experiment whose model does not answer any more."""

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
"""A function that is called with the number of jobs done and the number of all jobs."""
Check: TypeAlias = Callable[[], None]
"""A function that raises KeyboardInterrupt if Ctrl-C was pressed, and otherwise does nothing."""

Task = TypeVar("Task")


def one_by_one(
    jobs: Collection[Task],
    do: Callable[[Task, Check], object],
    outcome: ExperimentOutcome,
    progress: ProgressCallback | None,
) -> bool:
    """Runs ``do`` for the jobs one by one, and counts them in ``outcome``. Returns False if Ctrl-C ended
    this before the last job.

    Ctrl-C is checked after each job. ``do`` may also check it during a job, by the function that it gets.
    ``progress``: called after each job.
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
    jobs: Iterable[Task],
    do: Callable[[Task], Awaitable[object]],
    width: int,
    is_over: Callable[[], object],
) -> None:
    """Runs ``do`` for the jobs in order, at most ``width`` at a time, until ``is_over`` returns True or a
    job raises an error. The first error is raised only after all running jobs have ended, because these
    may already be paid for."""
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
    """A ``Silence`` detects that a model does not answer any more.

    ``most``: the number of failures in a row after which an error is raised; None for never.
    ``complaint``: the message of the error, in which ``{model}`` and ``{count}`` are filled in.
    """

    model: Examined
    most: int | None
    complaint: str
    count: int = 0

    def note(self, why: str, *, is_answered: bool) -> None:
        """Counts one job as answered or failed. ``why``: the reason of the failure, which is added to the
        message of the error. Raises BaselineFailed after ``most`` failures in a row."""
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
    """Returns the settings with this namespace for their store. The settings are unchanged if they have
    no store."""
    store = settings.store
    return settings if store is None else replace(settings, store=replace(store, namespace=namespace))


@contextmanager
def _interruptions() -> Generator[Check, None, None]:
    """Yields a function that raises KeyboardInterrupt if Ctrl-C was pressed during the block. Ctrl-C also
    has the same effect as without the block.

    The function is needed because an explanation may hide Ctrl-C: it returns its rules so far, and may
    not report the interrupt if it was about to end. Outside the main thread, the function never raises,
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
    # If Ctrl-C is ignored, it stays ignored, because the process that started this one may have chosen
    # so.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield check
        return
    signal.signal(signal.SIGINT, noticed)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
