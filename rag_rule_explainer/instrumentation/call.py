"""This module carries out one call of an explainer: it runs the baseline, and searches for the rules of
its answer."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Generic, TypeVar

import anyio

from ..errors import BaselineFailed
from ..explainer import Explainer, RuleKindLike
from ..explanation.explanation import Explanation
from ..explanation.verification import Verification
from ..probing import threads
from ..probing.interrupts import kept
from ..probing.limiter import Reentered
from ..probing.loop import about_the_callers_loop, run_blocking, why_late
from ..probing.main_task import ctrl_c_kept
from ..probing.replaying import Replay
from ..probing.retries import Retries
from ..rules import as_kind
from ..session.estimate.assumptions import Assumptions
from ..session.estimate.estimate import Estimate
from ..session.session import INTERRUPTED
from ..sources.given import named_ids
from .baseline_retries import Failed, MadeBaseline, Recorded, block, is_async_only, made, without_loop
from .events import Events
from .inside_runs import replays_muted
from .judge_watch import JudgeWatch
from .outputs import Explained, Unexplained, unexplained
from .runs import ApplicationRun

Item = TypeVar("Item")
Value = TypeVar("Value")


@dataclass(slots=True)
class Call(Generic[Item]):
    """A ``Call`` explains one answer of an application, or checks one rule of it.

    ``events``: reports the progress. ``outputs``: the application's outputs so far; there are several if
    the baseline was repeated.
    """

    run: ApplicationRun[Item]
    explainer: Explainer
    events: Events
    outputs: list[Any] = field(default_factory=list[Any])

    def explained(self) -> Explained[Any]:
        """Returns the output and its rules. Blocks. Uses the application's async interface only if there
        is no sync one.

        Raises KeyboardInterrupt after Ctrl-C in the baseline. Later, Ctrl-C ends the search, and the
        explanation holds the rules that were proved by then.
        """
        return Explained(*self.asked(lambda _: self.explainer.explain))

    def asked(self, ask_of: Callable[[Any], Callable[..., Value]]) -> tuple[Any, Value]:
        """Returns the baseline's output, and the explainer's result. ``ask_of``: a function that is given
        the output, and returns the method of the explainer to call, such as ``explain``."""
        with kept(), self._as_one(), self.run.application.interception.intercepting():
            first = without_loop(self._made(self._blocking_baseline, block))
            return first.output, self._asked(ask_of(first.output), first.recorded, first.replay)

    def answered(self) -> Explained[Any] | Unexplained[Any]:
        """Returns the output and its rules, or, if the answer cannot be explained, an ``Unexplained``
        with the output and the error. Blocks.

        Raises the application's error if the application gave no output.
        """
        try:
            return self.explained()
        except Reentered as error:
            return unexplained(self.run.baseline(), error)
        except Exception as error:
            return self._unexplained(error)

    async def aanswered(self) -> Explained[Any] | Unexplained[Any]:
        """Returns the output and its rules, or an ``Unexplained``. Runs on the caller's event loop."""
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
        """Returns the output of a baseline that was streamed to its end, with the rules. Blocks."""
        with kept():
            return Explained(output, self.mined(self.run.recorded(output), self.run.replay))

    async def astreamed(self, output: Any) -> Explained[Any]:
        """Returns a streamed baseline's output with its rules. Runs on the caller's event loop."""
        return Explained(output, await self.amined(self.run.recorded(output)))

    def answer_streamed(self, output: Any) -> Explained[Any] | Unexplained[Any]:
        """Returns the output of a baseline that was streamed to its end, with the rules, or, if it cannot
        be explained, an ``Unexplained`` with the output and the error. Blocks."""
        try:
            return self.streamed(output)
        except Exception as error:
            return unexplained(output, error)

    async def aanswer_streamed(self, output: Any) -> Explained[Any] | Unexplained[Any]:
        """Returns a streamed output with its rules, or an ``Unexplained``, on the caller's event loop."""
        try:
            return await self.astreamed(output)
        except Exception as error:
            return unexplained(output, error)

    def verified(self, antecedent: Iterable[str], kind: RuleKindLike) -> Verification:
        """Runs the baseline, and returns whether the rule of these sources holds. Blocks."""
        verify = partial(self.explainer.verify, named_ids(antecedent), as_kind(kind))
        return self.asked(lambda _: verify)[1]

    async def averified(self, antecedent: Iterable[str], kind: RuleKindLike) -> Verification:
        """Returns whether the rule of these sources holds. Runs on the caller's event loop."""
        verify = partial(self.explainer.averify, named_ids(antecedent), as_kind(kind))
        return (await self.aasked(lambda _: verify))[1]

    def estimate(self, assuming: Assumptions | None) -> Estimate:
        """Returns the estimated cost of an explanation. Runs the application until it has its sources,
        and stops it before a model is shown them. ``assuming``: None for the default assumptions."""
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
        """Returns the output and its rules, on the caller's event loop, through the async interface."""
        return Explained(*await self.aasked(lambda _: self.explainer.aexplain))

    async def aasked(self, ask_of: Callable[[Any], Callable[..., Awaitable[Value]]]) -> tuple[Any, Value]:
        """Returns the baseline's output and the explainer's result, on the caller's event loop, through
        the async interface. ``ask_of``: a function from the output to the explainer's async method."""
        await self._ask_tracers()
        with ctrl_c_kept() as keep, self._as_one(), self.run.application.interception.intercepting():
            # If Ctrl-C was pressed earlier, the call stops here. Without this ``sleep``, a coroutine that
            # never waits would not notice it.
            await asyncio.sleep(0)
            first = await self._made(self._baseline, asyncio.sleep)
            await asyncio.sleep(0)
            keep()
            return first.output, await self._aasked(ask_of(first.output), first.recorded)

    async def _made(
        self, baseline: Callable[[], Awaitable[MadeBaseline]], pause: Callable[[float], Awaitable[None]]
    ) -> MadeBaseline:
        settings, tries = self.explainer.settings, count()
        self.explainer.limiter.check_free()

        async def attempt() -> MadeBaseline | Failed:
            if next(tries):
                self.run = self.run.anew()
            try:
                return await baseline()
            except BaselineFailed as failed:
                return Failed(failed, self.run.failure(failed), self.run.acted)

        # A user's own run that failed may have written to the user's real memory. Such a run is therefore
        # never repeated.
        retries = Retries.of(0 if self.run.case.live else settings.retries)
        return await made(attempt, retries, settings.limits, pause)

    async def _blocking_baseline(self) -> MadeBaseline:
        application = self.run.application
        try:
            if application.async_only:
                output, replay = run_blocking(self.abaseline), self.run.areplay
            else:
                with self.explainer.limiter.slot():
                    output, replay = self.run.baseline(), self.run.replay
                self.outputs.append(output)
        # The option ``own_errors`` lets the application's own error arrive here instead of a
        # BaselineFailed. So errors of any class are caught.
        except Exception as failed:
            if application.async_only or not self.is_async_only(failed):
                raise
            self.run = self.run.anew()
            output, replay = run_blocking(self.abaseline), self.run.areplay
        return MadeBaseline(output, self.run.recorded(output), replay)

    async def _baseline(self) -> MadeBaseline:
        output = await self.abaseline()
        return MadeBaseline(output, self.run.recorded(output), self.run.areplay)

    def mined(self, recorded: Recorded, replay: Replay) -> Explanation:
        """Searches for the rules of a recorded baseline, and returns the explanation. Blocks. ``replay``:
        a function that makes one replay."""
        return self._asked(self.explainer.explain, recorded, replay)

    def _asked(self, ask: Callable[..., Value], recorded: Recorded, replay: Replay) -> Value:
        """Calls ``ask``, which is ``explain`` or ``verify`` of the explainer, for a recorded baseline,
        and returns its result. ``replay``: a function that makes one replay."""
        sources, baseline = recorded
        judge = self._judge_watch()
        with kept(), self._as_one(), replays_muted(self.run.manner), judge.watching():
            return ask(
                self.run.case.question,
                sources,
                replace(baseline, judge_spent=lambda: judge.models),
                replay=replay,
                pinned=self.run.case.pinned,
                progress=self.events.sync,
            )

    async def amined(self, recorded: Recorded) -> Explanation:
        """Searches for the rules of a recorded baseline on the caller's event loop, and returns them."""
        return await self._aasked(self.explainer.aexplain, recorded)

    async def _aasked(self, ask: Callable[..., Awaitable[Value]], recorded: Recorded) -> Value:
        sources, baseline = recorded
        await self._ask_tracers()
        judge = self._judge_watch()
        with self._as_one(), replays_muted(self.run.manner), judge.watching():
            async with self.events.on_loop() as progress:
                return await ask(
                    self.run.case.question,
                    sources,
                    replace(baseline, judge_spent=lambda: judge.models),
                    replay=self.run.areplay,
                    pinned=self.run.case.pinned,
                    progress=progress,
                )

    def mined_blocking(self, recorded: Recorded) -> Explanation:
        """Searches for the rules of a recorded baseline, and returns the explanation. Blocks. If all
        replays failed because a component has no sync interface, searches once more, with async ones."""
        if self.run.application.async_only:
            return self.mined(recorded, self.run.areplay)
        with kept():
            explanation = self.mined(recorded, self.run.replay)
            no_sync = [self.run.application.means_async_only(probe.error) for probe in explanation.probes]
            if explanation.stop_reason == INTERRUPTED or not (no_sync and all(no_sync)):
                return explanation
            return self.mined(recorded, self.run.areplay)

    async def abaseline(self) -> Any:
        """Runs the baseline on the caller's event loop, and returns its output. Waits first until the
        limiter allows one more call at the same time.

        Raises BaselineFailed after the timeout. The user's own run has no timeout.
        """
        timeout = None if self.run.case.live else self.explainer.settings.timeout
        async with self.explainer.limiter.aslot():
            with anyio.move_on_after(timeout):
                output = await self.run.abaseline()
                self.outputs.append(output)
                return output
        late = f"the application gave no answer within {timeout:g} seconds, so there is none to explain"
        raise BaselineFailed(late + about_the_callers_loop()) from why_late()

    def _as_one(self) -> AbstractContextManager[object]:
        """Groups the traces of the block under one run of the tracing service. If the caller has already
        opened such a run, does nothing."""
        if self.run.trace.is_open:
            return nullcontext()
        return self.run.application.explaining(self.run.trace, self.run.case.question)

    async def _ask_tracers(self) -> None:
        """Asks in a thread whether a tracing service receives traces, because asking blocks."""
        if not self.run.trace.is_open and self.run.application.is_traced():
            await threads.shared().run(self.run.application.ask_tracers)

    def is_async_only(self, failed: Exception) -> bool:
        """Returns True iff the application failed because a component has no sync interface, so that it
        has to run again. Raises BaselineFailed if a tool ran that may not run once more."""
        return is_async_only(self.run, failed)

    def _judge_watch(self) -> JudgeWatch:
        return JudgeWatch(self.run.application, self.explainer.settings.accept_finish_reasons)
