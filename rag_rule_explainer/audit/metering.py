"""This module lets many explanations share one budget: before each run of the application, a meter counts
the run, or refuses it if a limit is reached."""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, Protocol

from typing_extensions import override

from ..probing.interrupts import Interrupts
from ..probing.limiter import Limiter
from ..progress.report import ProgressReport


class SpentTogether(NamedTuple):
    """A ``SpentTogether`` holds the spending of all questions of an audit together so far. ``replays``:
    the number of runs of the application."""

    replays: int = 0
    tokens: int = 0
    cost: float = 0.0


class Meter(Protocol):
    """A ``Meter`` counts the spending of an audit, and refuses runs that the audit's limits forbid.
    Thread-safe."""

    def begin(self) -> Future[float]:
        """Counts one run of the application. The returned future gets the number of seconds to wait
        before the run may begin. It gets a LimitReached if a limit forbids the run or the run cannot be
        counted."""
        ...

    def spend(self, tokens: int, cost: float) -> None:
        """Adds tokens and cost that runs and judges have spent. Does not block."""
        ...

    def spent(self) -> SpentTogether:
        """Returns the spending so far. May block."""
        ...


class MeteredLimiter(Limiter):
    """A ``MeteredLimiter`` is a limiter that asks a meter before each run of the application.

    If a limit of the audit forbids the run, LimitReached is raised, and the explanation ends as after a
    limit of its own. Requests to judges wait for their turn as well, but are not counted as runs.
    """

    def __init__(self, size: int, meter: Meter) -> None:
        super().__init__(size)
        self.meter = meter

    @override
    def enter_at_once(self) -> bool:
        return False

    @override
    async def enter(self) -> None:
        await super().enter()
        try:
            await asyncio.sleep(await asyncio.wrap_future(self.meter.begin()))
        except BaseException:
            self.leave()
            raise

    @override
    def wait(self, interrupts: Interrupts) -> None:
        super().wait(interrupts)
        try:
            future = self.meter.begin()
            future.add_done_callback(lambda _: interrupts.wake())
            while not future.done():
                interrupts.doze()
            interrupts.sleep(future.result())
        except BaseException:
            self.leave()
            raise

    @override
    def judging(self) -> AbstractAsyncContextManager[None]:
        return self._unmetered()

    @asynccontextmanager
    async def _unmetered(self) -> AsyncGenerator[None, None]:
        await super().enter()
        try:
            with self.held():
                yield
        finally:
            self.leave()


class TokenMeter:
    """A ``TokenMeter`` is a progress listener. It reports to a meter which tokens an explanation has
    spent since its last report."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._reported: dict[int, tuple[int, float]] = {}

    def __call__(self, report: ProgressReport, /) -> None:
        """Reports to the meter the tokens and the cost that this explanation has spent since its last
        progress report."""
        tokens, cost = self._reported.get(report.call, (0, 0.0))
        now = report.tokens, report.cost or 0.0
        if report.done:
            self._reported.pop(report.call, None)
        else:
            self._reported[report.call] = now
        if now != (tokens, cost):
            self._meter.spend(now[0] - tokens, now[1] - cost)
