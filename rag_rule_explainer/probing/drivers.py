"""Steps several searches at once, with at most ``concurrency`` probes in flight.

Workers take the next ask that is ready, earlier searches first, and tell its verdict as soon as it is
in: nobody waits for a level of the lattice to be complete.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel

from ..lattice import Mask
from ..mining import RuleSearch
from ..verdicts import Verdict
from .limits import LimitReached

LONGEST_BREATH = 0.01
"""Seconds without letting others run."""

ProbeMask = Callable[[RuleSearch, Mask], Awaitable[Verdict]]


async def drive(searches: Sequence[RuleSearch], probe: ProbeMask, concurrency: int) -> None:
    """Runs until every search is finished or stopped and nothing is in flight.

    A LimitReached out of ``probe`` stops every search; any other error stops them and is raised once
    what is in flight has ended.
    """
    work = _Work(searches, probe)
    async with anyio.create_task_group() as workers:
        for _ in range(concurrency):
            workers.start_soon(work.worker)
    if work.error is not None:
        raise work.error
    # Says nothing where every search is finished or stopped, as it is unless workers were cancelled.
    work.stop_all("a replay was cancelled from inside the application")


@dataclass(slots=True)
class _Work:
    searches: Sequence[RuleSearch]
    probe: ProbeMask
    error: Exception | None = None
    in_flight: int = 0
    breathed: float = 0.0
    idle: list[anyio.Event] = field(default_factory=list[anyio.Event])

    async def worker(self) -> None:
        while True:
            job = self.next_job()
            if job is None:
                if not self.in_flight:
                    return
                await self.news()
                continue
            search, mask = job
            self.in_flight += 1
            try:
                search.tell({mask: await self.probe(search, mask)})
            except LimitReached as limit:
                self.stop_all(str(limit))
            except Exception as error:
                self.error = self.error or error
                self.stop_all("an error ended the search")
            finally:
                self.in_flight -= 1
                self.wake_all()
            if time.monotonic() - self.breathed > LONGEST_BREATH:
                await self.breathe()

    def next_job(self) -> tuple[RuleSearch, Mask] | None:
        for search in self.searches:
            for ask in search.ask(1):
                return search, ask.mask
        return None

    async def breathe(self) -> None:
        """Lets others run: an application that never waits would hold the loop for ever."""
        await anyio.lowlevel.checkpoint()
        self.breathed = time.monotonic()

    async def news(self) -> None:
        woken = anyio.Event()
        self.idle.append(woken)
        await woken.wait()

    def stop_all(self, reason: str) -> None:
        for search in self.searches:
            search.stop(reason)

    def wake_all(self) -> None:
        if not self.idle:
            return
        for woken in self.idle:
            woken.set()
        self.idle.clear()
