"""Work that is done together: nobody is let on before everybody has come as far as possible alone."""

from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

import anyio


class Backlog:
    """Answers that are there already, on their way to the judge. For one event loop.

    What waits at ``park`` goes on when all other work has ended, waits there too, or waits for what does.
    ``needed``: also after a stop, as what probes in flight need is.
    """

    def __init__(self, *, needed: bool) -> None:
        self.needed = needed
        self._running = 0
        self._parked = 0
        self._asleep = 0
        self._gate = anyio.Event()

    async def done(self, works: Iterable[Callable[[], Awaitable[object]]]) -> None:
        """Does all of the work. Raises the first error, once all has ended."""
        failed: list[Exception] = []
        together = list(works)
        self._running += len(together)

        async def one(work: Callable[[], Awaitable[object]]) -> None:
            try:
                await work()
            except Exception as error:
                failed.append(error)
            finally:
                self._running -= 1
                self._look()

        async with anyio.create_task_group() as group:
            for work in together:
                group.start_soon(one, work)
        if failed:
            raise failed[0]

    async def park(self) -> None:
        """Waits for the others."""
        gate = self._gate
        self._parked += 1
        self._look()
        await gate.wait()

    @contextmanager
    def asleep(self) -> Generator[None, None, None]:
        """While one waits for what another one makes."""
        self._asleep += 1
        self._look()
        try:
            yield
        finally:
            self._asleep -= 1

    @contextmanager
    def split(self, parts: int) -> Generator[None, None, None]:
        """While one of the works is so many."""
        self._running += parts - 1
        try:
            yield
        finally:
            self._running -= parts - 1

    def _look(self) -> None:
        if self._parked and self._parked + self._asleep >= self._running:
            gate, self._gate = self._gate, anyio.Event()
            self._parked = 0
            gate.set()


of_this_work: ContextVar[Backlog | None] = ContextVar("rag_rule_backlog", default=None)
"""The backlog that the work in this context belongs to. Several may be under way at once."""


async def together(works: Iterable[Callable[[], Awaitable[object]]], *, needed: bool) -> None:
    """Does all of the work; its requests to a judge wait for each other, and are as few as can be.

    Raises what it raises, once all has ended.
    """
    backlog = Backlog(needed=needed)
    before = of_this_work.set(backlog)
    try:
        await backlog.done(works)
    finally:
        of_this_work.reset(before)


@contextmanager
def asleep() -> Generator[None, None, None]:
    """While the work in this context waits for what other work makes, of its own backlog or not."""
    backlog = of_this_work.get()
    if backlog is None:
        yield
    else:
        with backlog.asleep():
            yield
