"""This module runs several searches at the same time, with at most ``concurrency`` probes at once.

Each worker asks the searches, in their order, for the next key to probe, and gives the verdict to the
search of this key as soon as the verdict is known. A worker does not wait until all subsets of one size
are probed. If no search requests a key, a worker probes a guess: a key that a search will probably
request later.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias

import anyio
import anyio.lowlevel

from ..mining import RuleSearch, Workers
from ..mining.protocol import ClaimType, Key
from ..verdicts import Verdict
from .limits import LimitReached

LONGEST_BLOCKING = 0.01
"""If no worker has paused for this number of seconds, the next worker pauses, so that other tasks of the
event loop can run."""

MOST_SHARING = 256
"""If there are more workers than this, they do not prefer prompts that begin like their last prompt: no
server remembers so many prompts, and comparing what all workers probe would take long."""

SHARED_AT_FIRST = 32
"""The number of first probes, of all searches together, that workers choose by how the prompts begin.
Later probes are chosen in this way only while another probe runs. So a search that ends after few probes
always makes the same probes, whether or not the application awaits anything."""

Job: TypeAlias = tuple[RuleSearch[Key, ClaimType], Key]
ProbeKey: TypeAlias = Callable[[RuleSearch[Key, ClaimType], Key], Awaitable[Verdict]]
StopSearches: TypeAlias = Callable[[str], None]
VerdictListener: TypeAlias = Callable[[RuleSearch[Key, ClaimType], Key, Verdict], None]


async def drive(
    searches: Sequence[RuleSearch[Key, ClaimType]],
    probe: ProbeKey[Key, ClaimType],
    concurrency: int,
    *,
    stop: StopSearches | None = None,
    on_verdict: VerdictListener[Key, ClaimType] | None = None,
    lockstep: bool = False,
) -> None:
    """Probes what the searches request, until every search is finished or stopped and no probe is
    running.

    A LimitReached from ``probe`` stops all searches. Any other error stops them as well, and is raised
    once the running probes have ended. ``stop`` is called with the reason of a stop. ``on_verdict`` is
    called after each verdict that a search has received.

    ``lockstep``: True makes probes in batches of ``concurrency``. The searches receive the verdicts of a
    batch together, in the order in which the keys were requested. The sequence of probes then does not
    depend on how long a probe takes.
    """
    workers = Workers() if 1 < concurrency <= MOST_SHARING else None
    work = _Work(searches, probe, stop, on_verdict, workers=workers)
    if lockstep:
        while batch := work.next_jobs(concurrency):
            await work.in_step(batch)
    else:
        async with anyio.create_task_group() as workers:
            for number in range(concurrency):
                workers.start_soon(work.worker, number)
    if work.error is not None:
        raise work.error
    if not all(search.finished or search.stop_reason for search in searches):
        work.stop_all("a replay was cancelled from inside the application")


async def once(
    jobs: Sequence[Job[Key, ClaimType]],
    probe: ProbeKey[Key, ClaimType],
    *,
    stop: StopSearches | None = None,
) -> None:
    """Probes each key for its search, all at the same time, even if the search did not request the key.
    ``stop`` is called with the reason of a stop. Raises the errors of ``drive``."""
    work = _Work([search for search, _ in jobs], probe, stop)
    await work.in_step(jobs)
    if work.error is not None:
        raise work.error


@dataclass(slots=True)
class _Work(Generic[Key, ClaimType]):
    searches: Sequence[RuleSearch[Key, ClaimType]]
    probe: ProbeKey[Key, ClaimType]
    stop: StopSearches | None
    on_verdict: VerdictListener[Key, ClaimType] | None = None
    error: Exception | None = None
    in_flight: int = 0
    made: int = 0
    yielded_at: float = 0.0
    idle: list[anyio.Event] = field(default_factory=list[anyio.Event])
    workers: Workers | None = None
    """The subset that each worker probed last; None if the workers take the asks (requests for verdicts)
    in their order."""

    async def worker(self, number: int) -> None:
        while True:
            # A worker usually takes a job whose prompt begins like its own last prompt, and unlike the
            # last prompts of the other workers. But while no other probe runs, the worker takes the jobs
            # in their order. This is quicker, and in this order, consecutive prompts have a common
            # beginning as well.
            alone = not self.in_flight and self.made >= SHARED_AT_FIRST
            job = self.next_job(number, None if alone else self.workers)
            if job is None:
                if not self.in_flight:
                    self.wake_all()
                    return
                await self.news()
                continue
            if self.idle:
                # There may be work for one more worker, so an idle worker is woken. If this worker finds
                # no work, it waits again.
                self.idle.pop().set()
            search, key = job
            self.made += 1
            self.in_flight += 1
            try:
                verdict = await self.probe(search, key)
            except Exception as error:
                self.in_flight -= 1
                self.stopped_by(error)
            except BaseException:
                self.in_flight -= 1
                self.wake_all()
                raise
            else:
                self.in_flight -= 1
                self.tell(search, key, verdict)
            if not self.in_flight and self.idle:
                self.wake_all()
            if time.monotonic() - self.yielded_at > LONGEST_BLOCKING:
                await self.let_others_run()

    async def in_step(self, batch: Sequence[Job[Key, ClaimType]]) -> None:
        verdicts: dict[int, Verdict] = {}

        async def probe(place: int, job: Job[Key, ClaimType]) -> None:
            try:
                verdicts[place] = await self.probe(*job)
            except Exception as error:
                self.stopped_by(error)

        async with anyio.create_task_group() as together:
            for place, job in enumerate(batch):
                together.start_soon(probe, place, job)
        for place, (search, key) in enumerate(batch):
            if place in verdicts:
                self.tell(search, key, verdicts[place])

    def tell(self, search: RuleSearch[Key, ClaimType], key: Key, verdict: Verdict) -> None:
        search.tell({key: verdict})
        if self.on_verdict is not None:
            self.on_verdict(search, key, verdict)

    def stopped_by(self, error: Exception) -> None:
        if isinstance(error, LimitReached):
            self.stop_all(str(error))
            return
        self.error = self.error or error
        self.stop_all("an error ended the search")

    def next_job(self, worker: int, workers: Workers | None) -> Job[Key, ClaimType] | None:
        for search in self.searches:
            ask = search.next(worker, workers)
            if ask is not None:
                if self.workers is not None:
                    self.workers.went(worker, ask.key)
                return search, ask.key
        for search in self.searches:
            guess = search.guess()
            if guess is not None:
                if self.workers is not None:
                    self.workers.went(worker, guess.key)
                return search, guess.key
        return None

    def next_jobs(self, most: int) -> list[Job[Key, ClaimType]]:
        jobs: list[Job[Key, ClaimType]] = []
        while len(jobs) < most and (job := self.next_job(len(jobs), self.workers)) is not None:
            jobs.append(job)
        return jobs

    async def let_others_run(self) -> None:
        """Lets other tasks of the event loop run. If the application never awaits anything, other tasks
        could not run otherwise."""
        await anyio.lowlevel.checkpoint()
        self.yielded_at = time.monotonic()

    async def news(self) -> None:
        woken = anyio.Event()
        self.idle.append(woken)
        await woken.wait()

    def stop_all(self, reason: str) -> None:
        for search in self.searches:
            search.stop(reason)
        if self.stop is not None:
            self.stop(reason)

    def wake_all(self) -> None:
        for woken in self.idle:
            woken.set()
        self.idle.clear()
