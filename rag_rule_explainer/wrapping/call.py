"""One call of an explainer: the baseline, then the rules of its answer."""

from collections.abc import Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..assuming import Assuming
from ..errors import BaselineFailed
from ..estimate import Estimate
from ..explainer import Explainer
from ..explanation import Explanation
from ..probing.loop import run_blocking
from ..probing.replaying import Baseline, Replay
from ..progress import Progress
from ..sources import Source
from .outputs import Explained
from .participation import Watch
from .runs import ApplicationRun

Item = TypeVar("Item")
Recorded = tuple[Sequence[Source], Baseline]


class Events(Protocol):
    """Where the progress of a call is told, in the framework's own way."""

    @property
    def sync(self) -> Progress | None:
        """For an explanation that blocks; None where nobody listens."""
        ...

    def told(self) -> AbstractAsyncContextManager[Progress | None]:
        """For an explanation on the running loop."""
        ...


@dataclass(slots=True)
class Call(Generic[Item]):
    """Everything one call needs. ``events``: where its progress is told."""

    run: ApplicationRun[Item]
    explainer: Explainer
    events: Events

    def explained(self) -> Explained[Any]:
        """Blocking, through the application's sync entry, or its async one if that is all it has."""
        application = self.run.application
        with application.interception.intercepting():
            try:
                if application.async_only:
                    output, replay = run_blocking(self.abaseline()), self.run.areplay
                else:
                    with self.explainer.limiter.slot():
                        output, replay = self.run.baseline(), self.run.replay
            except BaselineFailed as failed:
                if application.async_only or not self.is_async_only(failed):
                    raise
                self.run = self.run.anew()
                output, replay = run_blocking(self.abaseline()), self.run.areplay
            return Explained(output, self.mined(self.run.recorded(output), replay))

    def estimate(self, assuming: Assuming | None) -> Estimate:
        """What explaining would take: retrieves, and stops before a model is shown anything."""
        application = self.run.application
        with application.interception.intercepting():
            try:
                if application.async_only:
                    found = run_blocking(self.run.aretrieved())
                else:
                    found = self.run.retrieved()
            except BaselineFailed as failed:
                if application.async_only or not self.is_async_only(failed):
                    raise
                self.run = self.run.anew()
                found = run_blocking(self.run.aretrieved())
        case = self.run.case
        return self.explainer.estimate(
            case.question,
            found.sources,
            pinned=case.pinned,
            prompt=found.prompt,
            spent_tokens=found.tokens,
            notes=found.notes,
            assuming=assuming,
        )

    async def aexplained(self) -> Explained[Any]:
        """On the caller's loop, through the application's async entry."""
        with self.run.application.interception.intercepting():
            output = await self.abaseline()
            return Explained(output, await self.amined(self.run.recorded(output)))

    def mined(self, recorded: Recorded, replay: Replay) -> Explanation:
        """The rules of a baseline that was recorded, blocking."""
        sources, baseline = recorded
        with self._judge_watched() as judge:
            return self.explainer.explain(
                self.run.case.question,
                sources,
                baseline,
                replay=replay,
                pinned=self.run.case.pinned,
                progress=self.events.sync,
                judge=lambda: judge.models,
            )

    async def amined(self, recorded: Recorded) -> Explanation:
        """The same on the caller's loop."""
        sources, baseline = recorded
        with self._judge_watched() as judge:
            async with self.events.told() as progress:
                return await self.explainer.aexplain(
                    self.run.case.question,
                    sources,
                    baseline,
                    replay=self.run.areplay,
                    pinned=self.run.case.pinned,
                    progress=progress,
                    judge=lambda: judge.models,
                )

    def mined_blocking(self, recorded: Recorded) -> Explanation:
        """``mined`` through the application's sync entry, or its async one if that is all it has."""
        if self.run.application.async_only:
            return self.mined(recorded, self.run.areplay)
        explanation = self.mined(recorded, self.run.replay)
        told = [self.run.application.tells_of_async(probe.error) for probe in explanation.probes]
        return self.mined(recorded, self.run.areplay) if told and all(told) else explanation

    async def abaseline(self) -> Any:
        """The application's output on everything, in a slot of its own."""
        async with self.explainer.limiter.aslot():
            return await self.run.abaseline()

    def is_async_only(self, failed: BaselineFailed) -> bool:
        """True iff the application failed because some part of it has no sync entry."""
        cause = failed.__cause__
        return cause is not None and self.run.application.tells_of_async(
            f"{type(cause).__name__}: {cause}"
        )

    @contextmanager
    def _judge_watched(self) -> Generator[Watch, None, None]:
        """What models spend here outside of replays, a predicate's judge has spent."""
        application = self.run.application
        watch = application.watch(allow_length=True)
        with application.watching(watch):
            yield watch
