"""This module distributes the questions of an audit among the workers on a Ray cluster, and collects the
results. Ray decides on which machines workers run, and restarts those that die."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from time import monotonic
from typing import Any, TypeAlias

from ...errors import InvalidInput, StoreFailed
from ...printable import printable, shortened
from ...version import __version__
from ..engine import AuditJob
from ..questions import AuditedAnswer, AuditedQuestion, LoggedQuestion
from .ledger import Ledger, LedgerPlan
from .reporting import SECONDS_BETWEEN_REPORTS, AuditReporter
from .worker import Worker, WorkerState

RETRIES = 1
"""The number of times that Ray asks a question again after its worker has died.

If the worker dies each time, the question may be the cause. After all other questions, it is asked in a
worker that explains nothing else. If this worker dies, Ray again asks the question this many times.
"""
_STARTS = 20
"""The number of workers that may die while they start. After one more, the audit ends."""
_GRACE_SECONDS = 10.0
"""The number of seconds that a stopped audit waits for runs of the application to end, so that their
answers are stored."""
_LONGEST = 300

_Pending: TypeAlias = "asyncio.Future[Any]"


class Crew:
    """A ``Crew`` is the workers of one audit on a cluster.

    Each worker that has started gets up to ``job.workers`` questions at a time. The other questions are
    not read yet, to save memory.
    """

    def __init__(self, ray: Any, job: AuditJob, plan: LedgerPlan, actor_options: dict[str, Any]) -> None:
        self._ray = ray
        self._job = job
        self._cpus = actor_options.get("num_cpus", 1)
        options = {
            "num_cpus": 1,
            "max_restarts": -1,
            "max_task_retries": RETRIES,
            # A worker must also answer ``state`` while it explains its questions, so one more call may
            # run.
            "max_concurrency": job.workers + 1,
            **actor_options,
        }
        self._plan = plan
        self._make = ray.remote(**options)(Worker)
        self._actors: list[Any] = []
        self._starting: dict[_Pending, Any] = {}
        self._asked: dict[_Pending, tuple[Any, LoggedQuestion]] = {}
        self._free: list[Any] = []
        self._room = job.workers
        self._suspects: list[LoggedQuestion] = []
        self._is_last_try = False
        self._starts = _STARTS
        self._refusal = ""

    async def gather(self, actors: int | None, patience: float) -> None:
        """Starts the workers, and returns when the first one is up. Raises InvalidInput if this worker
        cannot build the application, or is not up after ``patience`` seconds. ``actors``: the number of
        workers; None for one per processor."""
        if actors is None:
            total = self._ray.cluster_resources().get("CPU", 1)
            actors = max(1, int(total // (self._cpus or 1)))
        self._actors = [
            self._make.remote(self._job, self._plan, os.getcwd())  # noqa: PTH109 -- the path is sent to other machines as a str
            for _ in range(actors)
        ]
        self._starting = {_pending(each.state.remote()): each for each in self._actors}
        until = monotonic() + patience
        while not self._free and (left := until - monotonic()) > 0:
            await asyncio.wait(self._starting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            self._welcome()
        if not self._free:
            free = self._ray.available_resources().get("CPU", 0)
            raise InvalidInput(
                f"no worker has started within {patience:g} seconds; each needs {self._cpus:g} CPU, and "
                f"the cluster has {free:g} free: see 'ray status', or give actors less "
                "(actor_options={'num_cpus': ...})"
            )

    async def explained(
        self, questions: Iterable[LoggedQuestion], reporter: AuditReporter
    ) -> AsyncGenerator[AuditedAnswer, None]:
        """Yields the result of each question. Once a limit is reached, every question that has no result
        yet is yielded as "stopped"."""
        waiting = iter(questions)
        async for answer in self._answers(waiting, reporter):
            yield answer
        # A worker that died was explaining several questions, so it is not known which of them is the
        # cause. Each of them is now asked alone in its worker.
        self._room = 1
        self._free = list(dict.fromkeys(self._free))
        self._is_last_try = True
        suspects = iter(self._suspects)
        async for answer in self._answers(suspects, reporter):
            yield answer
        for asked in chain(suspects, waiting):
            yield _without_answer(asked, "stopped", self._refusal)

    async def _answers(
        self, waiting: Iterator[LoggedQuestion], reporter: AuditReporter
    ) -> AsyncGenerator[AuditedAnswer, None]:
        while self._fill(waiting):
            await asyncio.wait(
                [*self._asked, *self._starting],
                timeout=SECONDS_BETWEEN_REPORTS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            self._welcome()
            for future in [each for each in self._asked if each.done()]:
                actor, asked = self._asked.pop(future)
                self._free.append(actor)
                answer = self._outcome(future, asked)
                if answer is not None:
                    reporter.count(answer.question)
                    yield answer
            reporter.under_way = len(self._asked)
            await reporter.report()

    async def dismiss(self, ledger: Ledger) -> None:
        """Ends the workers. Runs of the application that have begun get some seconds to end, so that
        their answers are stored."""
        if self._asked:
            with suppress(StoreFailed):
                await asyncio.to_thread(ledger.stop)
            await asyncio.wait(self._asked, timeout=_GRACE_SECONDS)
        up = [each for each in self._actors if each not in self._starting.values()]
        ended = [_pending(each.finish.remote()) for each in up]
        if ended:
            await asyncio.wait(ended, timeout=_GRACE_SECONDS)
        for future in (*self._asked, *self._starting, *ended):
            if not future.cancel() and not future.cancelled():
                future.exception()  # this reads the error, so that asyncio does not log it
        for actor in self._actors:
            with suppress(Exception):
                self._ray.kill(actor)

    def _fill(self, waiting: Iterator[LoggedQuestion]) -> bool:
        """Gives questions to workers that explain fewer than they may. Returns True iff a question is
        being explained."""
        while self._free and not self._refusal:
            asked = next(waiting, None)
            if asked is None:
                break
            actor = self._free.pop(0)
            self._asked[_pending(actor.ask.remote(asked))] = actor, asked
        return bool(self._asked)

    def _welcome(self) -> None:
        """Records that workers have started, so that they get questions. Raises InvalidInput if one of
        them cannot explain anything, because the others would most likely fail in the same way."""
        for future in [each for each in self._starting if each.done()]:
            actor = self._starting.pop(future)
            if isinstance(future.exception(), self._ray.exceptions.RayActorError) and self._starts:
                # The worker died while it was starting, perhaps with its machine. Ray restarts it.
                self._starts -= 1
                self._starting[_pending(actor.state.remote())] = actor
                continue
            _check(future)
            self._free += [actor] * self._room

    def _outcome(self, future: _Pending, asked: LoggedQuestion) -> AuditedAnswer | None:
        """Returns the result of a question; None if it must be asked again, alone in its worker."""
        error = future.exception()
        if error is None:
            answer: AuditedAnswer = future.result()
            if answer.question.outcome == "stopped":
                self._refusal = self._refusal or answer.question.reason
            return answer
        if isinstance(error, self._ray.exceptions.RayActorError):
            if not self._is_last_try:
                self._suspects.append(asked)
                return None
            times = 2 * (RETRIES + 1)
            return _without_answer(asked, "failed", f"its worker died {times} times: {_said(error)}")
        return _without_answer(asked, "failed", f"its worker failed: {_said(error)}")


def _pending(reference: Any) -> _Pending:
    return asyncio.wrap_future(reference.future())


def _check(future: _Pending) -> None:
    error = future.exception()
    if error is not None:
        said = _said(error)
        if "No module named 'rag_rule_explainer" in str(error):
            said = "rag-rule-explainer is not installed there; install the same version as here"
        raise InvalidInput(f"a worker on the cluster cannot start: {said}") from error
    state: WorkerState = future.result()
    if state.version != __version__:
        raise InvalidInput(
            f"a worker ({state.where}) has rag-rule-explainer {state.version}, and this process "
            f"{__version__}; install the same version on the cluster"
        )
    if state.fault:
        raise InvalidInput(f"a worker ({state.where}) cannot explain: {state.fault}")


def _said(error: BaseException) -> str:
    lines = [line for line in printable(str(error)).splitlines() if line.strip()]
    return shortened(lines[-1].strip() if lines else type(error).__name__, _LONGEST)


def _without_answer(asked: LoggedQuestion, outcome: Any, reason: str) -> AuditedAnswer:
    return AuditedAnswer(AuditedQuestion(asked.id, asked.question, outcome, reason))
