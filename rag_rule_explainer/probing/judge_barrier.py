"""This module lets tasks wait for each other before their answers go to a judge. One request to the judge
can then contain the answers of all these tasks."""

from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

import anyio


class Backlog:
    """A ``Backlog`` runs a group of tasks, each of which needs a judge's decision on one answer. It
    belongs to one event loop.

    A task that calls ``wait_for_others`` continues when every other task of the group has ended, has
    called ``wait_for_others`` too, or waits for the result of another task. ``needed``: True if the tasks
    send requests even after a stop, because probes that are already running need the judgements.
    """

    def __init__(self, *, needed: bool) -> None:
        self.needed = needed
        self._running = 0
        self._at_barrier = 0
        self._asleep = 0
        self._gate = anyio.Event()

    async def done(self, works: Iterable[Callable[[], Awaitable[object]]]) -> None:
        """Runs all tasks at the same time and waits until all of them have ended. Then raises the first
        error, if a task raised one."""
        failed: list[Exception] = []
        together = list(works)
        self._running += len(together)

        async def run(work: Callable[[], Awaitable[object]]) -> None:
            try:
                await work()
            except Exception as error:
                failed.append(error)
            finally:
                self._running -= 1
                self._open_if_all_wait()

        async with anyio.create_task_group() as group:
            for work in together:
                group.start_soon(run, work)
        if failed:
            raise failed[0]

    async def wait_for_others(self) -> None:
        """Waits until every other task of the group has ended or is waiting too."""
        gate = self._gate
        self._at_barrier += 1
        self._open_if_all_wait()
        await gate.wait()

    @contextmanager
    def asleep(self) -> Generator[None, None, None]:
        """Tells the other tasks not to wait for the calling task, because the calling task waits in the
        block for the result of one of them. Otherwise, the tasks would wait for each other for ever."""
        self._asleep += 1
        self._open_if_all_wait()
        try:
            yield
        finally:
            self._asleep -= 1

    @contextmanager
    def split(self, parts: int) -> Generator[None, None, None]:
        """Counts the calling task as ``parts`` tasks during the block, in which it starts that many tasks
        and waits for them. The other tasks of the group then wait for all started tasks."""
        self._running += parts - 1
        try:
            yield
        finally:
            self._running -= parts - 1

    def _open_if_all_wait(self) -> None:
        if self._at_barrier and self._at_barrier + self._asleep >= self._running:
            gate, self._gate = self._gate, anyio.Event()
            self._at_barrier = 0
            gate.set()


of_this_work: ContextVar[Backlog | None] = ContextVar("rag_rule_backlog", default=None)
"""The group of tasks (``Backlog``) to which the current task belongs; None outside ``together``. Several
groups may exist at the same time."""


async def together(works: Iterable[Callable[[], Awaitable[object]]], *, needed: bool) -> None:
    """Runs all tasks at the same time. They wait for each other before their answers go to a judge, so
    that the judge gets as few requests as possible.

    ``needed``: True if the tasks send requests even after a stop. Raises the first error after all tasks
    have ended.
    """
    backlog = Backlog(needed=needed)
    before = of_this_work.set(backlog)
    try:
        await backlog.done(works)
    finally:
        of_this_work.reset(before)


@contextmanager
def asleep() -> Generator[None, None, None]:
    """During the block, ``wait_for_others`` of the other tasks does not wait for the current task. Use
    this while the current task waits for the result of another task of its ``Backlog`` (group of tasks).
    Does nothing if the current task belongs to no ``Backlog``."""
    backlog = of_this_work.get()
    if backlog is None:
        yield
    else:
        with backlog.asleep():
            yield
