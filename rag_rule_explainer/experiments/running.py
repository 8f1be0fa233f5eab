"""How experiments run: one job after the other or several at once, until Ctrl-C, an error or silence."""

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

ToldCount: TypeAlias = Callable[[int, int], object]
"""Is told how much is done, and of how much."""
Check: TypeAlias = Callable[[], None]
"""Raises KeyboardInterrupt where Ctrl-C was pressed."""

Job = TypeVar("Job")


def one_by_one(
    jobs: Collection[Job],
    do: Callable[[Job, Check], object],
    outcome: ExperimentOutcome,
    told: ToldCount | None,
) -> bool:
    """Does one job after the other, and counts them; returns False where Ctrl-C ended it before the last.

    ``do`` may check for Ctrl-C in between; it is checked after each job anyway.
    """
    with _interruptions() as check:
        try:
            for job in jobs:
                do(job, check)
                check()
                outcome.done += 1
                if told is not None:
                    told(outcome.done, len(jobs))
        except KeyboardInterrupt:
            outcome.interrupted = True
    return not outcome.interrupted


async def several_at_once(
    jobs: Iterable[Job],
    do: Callable[[Job], Awaitable[object]],
    width: int,
    is_over: Callable[[], object],
) -> None:
    """Does the jobs in order, ``width`` at a time, until it is over or one raises.

    What is in flight is awaited before the first error is raised: it may be paid for by now, and stored.
    """
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
    """This class takes a model to be down once ``most`` in a row came to nothing; None for never.

    ``complaint``: what is said then, of ``{model}`` and ``{count}``.
    """

    model: Examined
    most: int | None
    complaint: str
    count: int = 0

    def note(self, why: str, *, is_answered: bool) -> None:
        """Counts one more, and says why it came to nothing where it did. Raises BaselineFailed."""
        self.count = 0 if is_answered else self.count + 1
        if self.most is not None and self.count >= self.most:
            told = self.complaint.format(model=self.model.name, count=self.count)
            raise BaselineFailed(f"{told}; check that its endpoint is up, its name and its key: {why}")


def silence_on_questions(model: Examined) -> Silence:
    """Returns what takes a model to be down that answers nothing about three questions in a row."""
    return Silence(model, 3, "{model} answered nothing about {count} questions in a row")


def in_namespace(settings: Settings, namespace: str) -> Settings:
    """Returns the same settings, with this namespace in the store, if there is one."""
    store = settings.store
    return settings if store is None else replace(settings, store=replace(store, namespace=namespace))


@contextmanager
def _interruptions() -> Generator[Check, None, None]:
    """Gives what raises KeyboardInterrupt where Ctrl-C was pressed meanwhile, which raises it as ever.

    An explanation that was interrupted comes back with what it has, and one that was just about to end
    says nothing of it at all. Outside of the main thread, which alone is told, it never raises.
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
    # Whoever started this may want no interrupts.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield check
        return
    signal.signal(signal.SIGINT, noticed)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
