"""This module is the engine that asks all questions in this process. Some are asked at the same time,
and all share one budget, one limiter and one store."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from ..probing.limits import LimitReached, Limits
from .asking import audited_answer, explainer_for
from .engine import AuditJob
from .metering import SpentTogether
from .questions import AuditedAnswer, AuditedQuestion, LoggedQuestion

_CANCELLED = "the application cancelled its own task"


class LocalMeter:
    """A ``LocalMeter`` counts what the questions of one process spend together, and refuses runs that the
    limits forbid. Thread-safe.

    Seconds are counted from the moment at which it is made, or from ``began``. ``before``: the earlier
    spending, which counts as well.
    """

    def __init__(
        self,
        limits: Limits,
        began: float | None = None,
        before: SpentTogether | None = None,
    ) -> None:
        self._limits = limits
        self._guard = threading.Lock()
        self._began = monotonic() if began is None else began
        self.replays, self.tokens, self.cost = before or SpentTogether()

    def begin(self) -> "Future[float]":
        """Counts one run of the application. The returned future gets the number of seconds to wait
        before the run may begin."""
        future: Future[float] = Future()
        with self._guard:
            refused = self.refusal()
            if refused:
                future.set_exception(LimitReached(refused))
            else:
                self.replays += 1
                future.set_result(0.0)
        return future

    def spend(self, tokens: int, cost: float) -> None:
        """Adds tokens and cost that runs and judges have spent."""
        with self._guard:
            self.tokens += tokens
            self.cost += cost

    def spent(self) -> SpentTogether:
        """Returns the spending so far."""
        with self._guard:
            return SpentTogether(self.replays, self.tokens, self.cost)

    def refusal(self) -> str:
        """Returns the reason why no further run may begin; empty if a run may begin."""
        caps = self._limits
        if caps.replays is not None and self.replays >= caps.replays:
            return f"the audit's limit of {caps.replays} replays is reached"
        if caps.tokens is not None and self.tokens >= caps.tokens:
            return f"the audit's limit of {caps.tokens} tokens is reached ({self.tokens} spent)"
        if caps.cost is not None and self.cost >= caps.cost:
            return f"the audit's limit of {caps.cost:g} in cost is reached ({self.cost:g} spent)"
        if caps.seconds is not None and monotonic() - self._began >= caps.seconds:
            return f"the audit's limit of {caps.seconds:g} seconds is reached"
        return ""


@dataclass(slots=True)
class ThisProcess:
    """A ``ThisProcess`` is the engine of one run of an audit in this process."""

    _meter: LocalMeter | None = field(default=None, init=False)

    def __call__(
        self, job: AuditJob, questions: Iterable[LoggedQuestion], /
    ) -> AsyncGenerator[AuditedAnswer, None]:
        """Explains the answers in this process, and yields the result of each question once, in any
        order. Once a limit of the audit is reached, every question that has no result yet is yielded as
        "stopped".

        At most ``job.workers`` questions are explained at the same time, and questions are read only as
        they are needed.
        """
        self._meter = LocalMeter(job.limits, before=job.spent)
        return _explained(job, questions, self._meter)

    @asynccontextmanager
    async def metered(self, job: AuditJob, began: float, /) -> AsyncGenerator[LocalMeter, None]:
        """Yields, for the block, the meter that has counted the runs of the application for the
        questions. Runs that are made afterwards are counted by the same meter, so the audit's limits hold
        for all runs together."""
        if self._meter is None:
            self._meter = LocalMeter(job.limits, began, job.spent)
        yield self._meter

    @property
    def spent(self) -> SpentTogether | None:
        """Returns what this run of the audit and the earlier ones have spent; None if nothing was asked
        in this run."""
        return None if self._meter is None else self._meter.spent()


async def _explained(
    job: AuditJob, questions: Iterable[LoggedQuestion], meter: LocalMeter
) -> AsyncGenerator[AuditedAnswer, None]:
    explainer = explainer_for(job, meter)
    waiting, tasks = iter(questions), dict[asyncio.Task[AuditedAnswer], LoggedQuestion]()
    # Applications import and connect in their first run, often in a way that is not safe in several
    # threads. So the first question is asked alone.
    workers = 1
    try:
        while _fill(tasks, waiting, workers, partial(audited_answer, explainer, job), meter):
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            workers = job.workers
            for task in done:
                asked = tasks.pop(task)
                yield _unable(asked, _CANCELLED) if task.cancelled() else task.result()
        for asked in waiting:
            yield _unable(asked, meter.refusal(), stopped=True)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _fill(
    tasks: "dict[asyncio.Task[AuditedAnswer], LoggedQuestion]",
    waiting: Iterator[LoggedQuestion],
    workers: int,
    answered: Callable[[LoggedQuestion], Coroutine[Any, Any, AuditedAnswer]],
    meter: LocalMeter,
) -> bool:
    """Begins questions as long as fewer than ``workers`` are being explained. Returns True iff at least
    one question is being explained."""
    while len(tasks) < workers and not meter.refusal():
        asked = next(waiting, None)
        if asked is None:
            break
        tasks[asyncio.create_task(answered(asked))] = asked
    return bool(tasks)


def _unable(asked: LoggedQuestion, reason: str, *, stopped: bool = False) -> AuditedAnswer:
    outcome = "stopped" if stopped else "failed"
    return AuditedAnswer(AuditedQuestion(asked.id, asked.question, outcome, reason))
