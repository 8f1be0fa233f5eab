"""One call of an explainer: the baseline, then the rules of its answer."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

import anyio

from ..errors import BaselineFailed
from ..estimate.assumptions import Assumptions
from ..estimate.estimate import Estimate
from ..explainer import Explainer, RuleKindLike
from ..explanation.explanation import Explanation
from ..explanation.verification import Verification
from ..given import named_ids
from ..probing import threads
from ..probing.interrupts import kept
from ..probing.limiter import Reentered
from ..probing.loop import run_blocking
from ..probing.replaying import Replay
from ..probing.retries import Retries
from ..probing.wholeness import ANY
from ..progress.report import Progress
from ..rules import as_kind
from ..session.session import INTERRUPTED
from .baseline_retries import Failed, Made, Recorded, at_once, block, made
from .outputs import Explained, Unexplained, unexplained
from .run_context import Watch
from .runs import ApplicationRun

Item = TypeVar("Item")
Said = TypeVar("Said")


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
    """Everything one call needs. ``events``: where its progress is told. ``outputs``: what the
    application has put out."""

    run: ApplicationRun[Item]
    explainer: Explainer
    events: Events
    outputs: list[Any] = field(default_factory=list[Any])

    def explained(self) -> Explained[Any]:
        """Blocking, through the application's sync entry, or its async one if that is all it has.

        Raises KeyboardInterrupt after Ctrl-C while the baseline is made; from then on, Ctrl-C ends the
        search and brings what was proved.
        """
        with kept(), self._as_one(), self.run.application.interception.intercepting():
            first = at_once(self._made(self._blocking_baseline, block))
            return Explained(first.output, self.mined(first.recorded, first.replay))

    def answered(self) -> Explained[Any] | Unexplained[Any]:
        """``explained``, but once the application has answered, its output comes back in any case.

        Raises what the application raises.
        """
        try:
            return self.explained()
        except Reentered as error:
            return unexplained(self.run.baseline(), error)
        except Exception as error:
            return self._unexplained(error)

    async def aanswered(self) -> Explained[Any] | Unexplained[Any]:
        """Returns the same on the caller's loop."""
        try:
            return await self.aexplained()
        except Reentered as error:
            return unexplained(await self.run.abaseline(), error)
        except Exception as error:
            return self._unexplained(error)

    def _unexplained(self, error: Exception) -> Unexplained[Any]:
        if not self.outputs:
            raise error
        return unexplained(self.outputs[-1], error)

    def streamed(self, output: Any) -> Explained[Any]:
        """Returns an output that was streamed to its end by the run itself, explained; blocking."""
        with kept():
            return Explained(output, self.mined(self.run.recorded(output), self.run.replay))

    async def astreamed(self, output: Any) -> Explained[Any]:
        """Returns the same on the caller's loop."""
        return Explained(output, await self.amined(self.run.recorded(output)))

    def answer_streamed(self, output: Any) -> Explained[Any] | Unexplained[Any]:
        """``streamed``, but the output comes back in any case."""
        try:
            return self.streamed(output)
        except Exception as error:
            return unexplained(output, error)

    async def aanswer_streamed(self, output: Any) -> Explained[Any] | Unexplained[Any]:
        """Returns the same on the caller's loop."""
        try:
            return await self.astreamed(output)
        except Exception as error:
            return unexplained(output, error)

    def verified(self, antecedent: Iterable[str], kind: RuleKindLike) -> Verification:
        """Returns whether one rule of the answer holds, blocking."""
        # Before anything is paid.
        verify = partial(self.explainer.verify, named_ids(antecedent), as_kind(kind))
        with kept(), self._as_one(), self.run.application.interception.intercepting():
            first = at_once(self._made(self._blocking_baseline, block))
            return self._asked(verify, first.recorded, first.replay)

    async def averified(self, antecedent: Iterable[str], kind: RuleKindLike) -> Verification:
        """Returns the same on the caller's loop."""
        verify = partial(self.explainer.averify, named_ids(antecedent), as_kind(kind))
        await self._ask_tracers()
        with self._as_one(), self.run.application.interception.intercepting():
            first = await self._made(self._baseline, asyncio.sleep)
            return await self._aasked(verify, first.recorded)

    def estimate(self, assuming: Assumptions | None) -> Estimate:
        """Returns what explaining would take: retrieves, and stops before a model is shown anything."""
        application = self.run.application
        with application.interception.intercepting():
            try:
                if application.async_only:
                    found = run_blocking(self.run.aretrieved)
                else:
                    found = self.run.retrieved()
            except BaselineFailed as failed:
                if application.async_only or not self.is_async_only(failed):
                    raise
                self.run = self.run.anew()
                found = run_blocking(self.run.aretrieved)
        case = self.run.case
        return self.explainer.estimate(
            case.question,
            found.sources,
            pinned=case.pinned,
            prompt=found.prompt,
            spent_tokens=found.tokens,
            notes=found.notes,
            shape=found.shape,
            assuming=assuming,
        )

    async def aexplained(self) -> Explained[Any]:
        """On the caller's loop, through the application's async entry."""
        await self._ask_tracers()
        with self._as_one(), self.run.application.interception.intercepting():
            first = await self._made(self._baseline, asyncio.sleep)
            return Explained(first.output, await self.amined(first.recorded))

    async def _made(
        self, baseline: Callable[[], Awaitable[Made]], pause: Callable[[float], Awaitable[None]]
    ) -> Made:
        settings, tries = self.explainer.settings, count()
        self.explainer.limiter.check_free()

        async def attempt() -> Made | Failed:
            if next(tries):
                self.run = self.run.anew()
            try:
                return await baseline()
            except BaselineFailed as failed:
                return Failed(failed, self.run.failure(failed))

        # The user's own run is made once: it may have written to what it remembers.
        retries = Retries.of(0 if self.run.case.live else settings.retries)
        return await made(attempt, retries, settings.limits, pause)

    async def _blocking_baseline(self) -> Made:
        application = self.run.application
        try:
            if application.async_only:
                output, replay = run_blocking(self.abaseline), self.run.areplay
            else:
                with self.explainer.limiter.slot():
                    output, replay = self.run.baseline(), self.run.replay
                self.outputs.append(output)
        except BaselineFailed as failed:
            if application.async_only or not self.is_async_only(failed):
                raise
            self.run = self.run.anew()
            output, replay = run_blocking(self.abaseline), self.run.areplay
        return Made(output, self.run.recorded(output), replay)

    async def _baseline(self) -> Made:
        output = await self.abaseline()
        return Made(output, self.run.recorded(output), self.run.areplay)

    def mined(self, recorded: Recorded, replay: Replay) -> Explanation:
        """Returns the rules of a baseline that was recorded, blocking."""
        return self._asked(self.explainer.explain, recorded, replay)

    def _asked(self, ask: Callable[..., Said], recorded: Recorded, replay: Replay) -> Said:
        """Returns what the explainer says when it is asked so about a baseline that was recorded."""
        sources, baseline = recorded
        with kept(), self._as_one(), self.run.muting(), self._judge_watched() as judge:
            return ask(
                self.run.case.question,
                sources,
                replace(baseline, judge_spent=lambda: judge.models),
                replay=replay,
                pinned=self.run.case.pinned,
                progress=self.events.sync,
            )

    async def amined(self, recorded: Recorded) -> Explanation:
        """Returns the same on the caller's loop."""
        return await self._aasked(self.explainer.aexplain, recorded)

    async def _aasked(self, ask: Callable[..., Awaitable[Said]], recorded: Recorded) -> Said:
        sources, baseline = recorded
        await self._ask_tracers()
        with self._as_one(), self.run.muting(), self._judge_watched() as judge:
            async with self.events.told() as progress:
                return await ask(
                    self.run.case.question,
                    sources,
                    replace(baseline, judge_spent=lambda: judge.models),
                    replay=self.run.areplay,
                    pinned=self.run.case.pinned,
                    progress=progress,
                )

    def mined_blocking(self, recorded: Recorded) -> Explanation:
        """``mined`` through the application's sync entry, or its async one if that is all it has."""
        if self.run.application.async_only:
            return self.mined(recorded, self.run.areplay)
        with kept():
            explanation = self.mined(recorded, self.run.replay)
            told = [self.run.application.tells_of_async(probe.error) for probe in explanation.probes]
            if explanation.stop_reason == INTERRUPTED or not (told and all(told)):
                return explanation
            return self.mined(recorded, self.run.areplay)

    async def abaseline(self) -> Any:
        """Returns the application's output on everything, in a slot of its own.

        Raises BaselineFailed where it takes too long; the user's own run may take its time.
        """
        timeout = None if self.run.case.live else self.explainer.settings.timeout
        async with self.explainer.limiter.aslot():
            with anyio.move_on_after(timeout):
                output = await self.run.abaseline()
                self.outputs.append(output)
                return output
        told = f"the application gave no answer within {timeout:g} seconds, so there is none to explain"
        raise BaselineFailed(told) from TimeoutError()

    def _as_one(self) -> AbstractContextManager[object]:
        """Inside, all that is traced belongs to one run, which somebody may have begun already."""
        if self.run.trace.is_open:
            return nullcontext()
        return self.run.application.explaining(self.run.trace, self.run.case.question)

    async def _ask_tracers(self) -> None:
        """Not on the caller's loop, which would wait."""
        if not self.run.trace.is_open and self.run.application.is_traced():
            await threads.shared().run(self.run.application.ask_tracers)

    def is_async_only(self, failed: BaselineFailed) -> bool:
        """Returns True iff the application failed because some part of it has no sync entry."""
        cause = failed.__cause__
        return cause is not None and self.run.application.tells_of_async(
            f"{type(cause).__name__}: {cause}"
        )

    @contextmanager
    def _judge_watched(self) -> Generator[Watch, None, None]:
        """What models spend here outside of replays, a predicate's judge has spent."""
        application = self.run.application
        watch = application.watch(accepts=(ANY,))
        with application.watching(watch):
            yield watch
