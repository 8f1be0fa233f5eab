"""This module is the engine that asks the questions of an audit on a Ray cluster."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from time import monotonic
from typing import Any

from ...allowed import called_as, checked_whole
from ...errors import InvalidInput
from ...progress import as_progress
from ...settings import Settings
from ...storing.store import Store
from ..engine import AuditJob
from ..questions import AuditedAnswer, LoggedQuestion
from .connecting import LOCAL, connected
from .crew import Crew
from .ledger import Ledger, LedgerPlan, Rates
from .reporting import AuditReporter


@called_as("OnRay")
@dataclass(frozen=True, slots=True, kw_only=True)
class OnRay:
    """An ``OnRay`` is the audit engine that explains questions on a Ray cluster.

    Each worker is an actor of Ray. It imports or makes the application once, by its name, and explains
    ``AuditJob.workers`` questions at the same time. All workers keep answers in the job's store, which
    must be in PostgreSQL. So if one worker has paid for an answer, no other worker pays for it again. The
    database also counts what the audit has spent. So limits and rates hold for all workers together, and
    for later runs of the same audit too.

    ``address``: "local" (this machine, for as long as the audit lasts), "auto", "HOST:PORT" or
    "ray://HOST:PORT". ``actors``: the number of workers; None for one per processor of the cluster.
    ``rates``: how fast all workers together may go. ``audit``: the id under which spending is counted, of
    letters, digits and ``-``; None for the id of the audit's folder or, without a folder, for an id that
    is derived from the job. ``actor_options``: options of the actors, such as ``{"num_cpus": 0.5}``.
    ``ray_options``: arguments of ``ray.init``, such as ``runtime_env``. ``patience``: the seconds to wait
    for the first worker.

    If a worker dies, Ray restarts it, and the questions that it was explaining are explained again, with
    the answers that are already in the store. If the worker of a question dies four times, the outcome of
    the question is "failed".

    Raises InvalidInput for an application that is not given by its name, and for a store that is not in
    PostgreSQL.
    """

    address: str = LOCAL
    actors: int | None = None
    rates: Rates = field(default_factory=Rates)
    audit: str | None = None
    actor_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ray_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    patience: float = 300.0

    def __post_init__(self) -> None:
        if self.actors is not None:
            checked_whole("actors", self.actors, 1)

    async def __call__(
        self, job: AuditJob, questions: Iterable[LoggedQuestion], /
    ) -> AsyncGenerator[AuditedAnswer, None]:
        """Explains the answers on the cluster, and yields the result of each question once, in any order.
        Once a limit of the audit is reached, every question that has no result yet is yielded as
        "stopped"."""
        plan = self._plan(job)
        options = dict(job.options)
        progress = as_progress(options.pop("progress", None))
        with connected(self.address, dict(self.ray_options)) as ray:
            ledger = await asyncio.to_thread(Ledger, plan)
            try:
                await asyncio.to_thread(ledger.stop, stopped=False)
                plan = replace(plan, until=ledger.after(job.limits.seconds))
                crew = Crew(ray, replace(job, options=options), plan, dict(self.actor_options))
                reporter = AuditReporter(progress, ledger, questions)
                try:
                    await crew.gather(self.actors, self.patience)
                    async for answer in crew.explained(questions, reporter):
                        yield answer
                finally:
                    await crew.dismiss(ledger)
                    reporter.close()
            finally:
                ledger.close()

    @asynccontextmanager
    async def metered(self, job: AuditJob, began: float, /) -> AsyncGenerator[Ledger, None]:
        """Yields, for the block, the ``Ledger`` of the audit. It counts further runs of the application
        in addition to the runs for the questions. So the audit's limits, and its limits on speed
        (``rates``), hold for all runs together."""
        seconds = job.limits.seconds
        left = None if seconds is None else max(0.0, seconds - (monotonic() - began))
        ledger = await asyncio.to_thread(Ledger, self._plan(job))
        try:
            await asyncio.to_thread(ledger.stop, stopped=False)
            ledger.plan = replace(ledger.plan, until=ledger.after(left))
            yield ledger
        finally:
            await asyncio.to_thread(ledger.close)

    def _plan(self, job: AuditJob) -> LedgerPlan:
        if not isinstance(job.application, str):
            raise InvalidInput(
                "the engine 'ray' builds the application anew in each worker; give its name, such as "
                "'app:chain', not the object"
            )
        store = _store_of(job)
        if store is None:
            raise InvalidInput(
                "the engine 'ray' needs a store that all workers share; give "
                "store='postgresql://USER:PASSWORD@HOST/DATABASE'"
            )
        return LedgerPlan(
            store.url, self.audit or job.identity or _named(job, store), job.limits, self.rates
        )


def _store_of(job: AuditJob) -> Store | None:
    given: Any = job.options.get("settings")
    inner = given.store if isinstance(given, Settings) else None
    return Store.of(job.options.get("store", inner))


def _named(job: AuditJob, store: Store) -> str:
    options = sorted((name, repr(each)) for name, each in job.options.items() if name != "progress")
    parts = job.application, str(job.condition), str(job.good), job.framework, store.namespace, options
    return sha256(repr(parts).encode()).hexdigest()[:16]


on_ray = OnRay()
"""The engine that runs on this machine alone, on a cluster that is ended with the audit."""
