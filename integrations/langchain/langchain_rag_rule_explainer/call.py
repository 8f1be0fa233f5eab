"""One call of an explainer: the baseline, streamed or not, then the rules of its answer."""

import re
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence

from rag_rule_explainer import BaselineFailed, Explainer, Explanation, Source
from rag_rule_explainer.probing.loop import run_blocking
from rag_rule_explainer.probing.replaying import Baseline, Replay

from .application import ApplicationRun
from .interception import interception
from .outputs import AnswerChunk, Explained, added
from .progressing import ProgressEvents
from .reading import tokens
from .watching import Watch, watching

Recorded = tuple[Sequence[Source], Baseline]

# What langchain-core and langgraph say when a coroutine function is invoked through the sync entry.
_TELLS_OF_ASYNC = re.compile(r"ainvoke|coroutine|synchronous")


@dataclass(slots=True)
class Call:
    """Everything one call needs. ``events``: where its progress is reported to."""

    run: ApplicationRun
    explainer: Explainer
    events: ProgressEvents

    def explained(self) -> Explained[Any]:
        """Blocking, through the application's sync entry, or its async one if that is all it has."""
        with interception.intercepting():
            try:
                with self.explainer.limiter.slot():
                    output, replay = self.run.baseline(), self.run.replay
            except BaselineFailed as failed:
                if not _is_async_only(failed):
                    raise
                self.run = self.run.anew()
                output, replay = run_blocking(self._abaseline()), self.run.areplay
            return Explained(output, self.mined(self.run.recorded(output), replay))

    async def aexplained(self) -> Explained[Any]:
        """On the caller's loop, through the application's async entry."""
        with interception.intercepting():
            output = await self._abaseline()
            return Explained(output, await self.amined(self.run.recorded(output)))

    def streamed(self) -> Iterator[Explained[Any]]:
        """The output's chunks as they come, then all of it, explained."""
        with interception.intercepting():
            output: Any = None
            with self.explainer.limiter.slot():
                for place, chunk in enumerate(self._chunks()):
                    output = added(output, chunk) if place else chunk
                    yield AnswerChunk(chunk)
            yield Explained(output, self.mined(self.run.recorded(output), self.run.replay))

    async def astreamed(self) -> AsyncIterator[Explained[Any]]:
        """The same on the caller's loop."""
        with interception.intercepting():
            output, begun = None, False
            async with self.explainer.limiter.aslot():
                async for chunk in self._achunks():
                    output, begun = added(output, chunk) if begun else chunk, True
                    yield AnswerChunk(chunk)
            yield Explained(output, await self.amined(self.run.recorded(output)))

    def mined(self, recorded: Recorded, replay: Replay) -> Explanation:
        """The rules of a baseline that was recorded, blocking."""
        sources, baseline = recorded
        with _judge_watched() as judge:
            explanation = self.explainer.explain(
                self.run.case.question,
                sources,
                baseline,
                replay=replay,
                pinned=self.run.case.pinned,
                progress=self.events.sync,
            )
        return _with_judge(explanation, judge)

    async def amined(self, recorded: Recorded) -> Explanation:
        """The same on the caller's loop."""
        sources, baseline = recorded
        with _judge_watched() as judge:
            async with self.events.told() as progress:
                explanation = await self.explainer.aexplain(
                    self.run.case.question,
                    sources,
                    baseline,
                    replay=self.run.areplay,
                    pinned=self.run.case.pinned,
                    progress=progress,
                )
        return _with_judge(explanation, judge)

    def mined_blocking(self, recorded: Recorded) -> Explanation:
        """``mined`` through the application's sync entry, or its async one if that is all it has."""
        explanation = self.mined(recorded, self.run.replay)
        if explanation.probes and all(_tells_of_async(probe.error) for probe in explanation.probes):
            return self.mined(recorded, self.run.areplay)
        return explanation

    async def _abaseline(self) -> Any:
        async with self.explainer.limiter.aslot():
            return await self.run.abaseline()

    def _chunks(self) -> Iterator[Any]:
        if streams_its_output(self.run.application):
            yield from self.run.stream()
        else:
            yield self.run.baseline()

    async def _achunks(self) -> AsyncIterator[Any]:
        if streams_its_output(self.run.application):
            async for chunk in self.run.astream():
                yield chunk
        else:
            yield await self.run.abaseline()


def streams_its_output(application: Runnable[Any, Any]) -> bool:
    """False for graphs, whose streams tell what its nodes do: they do not add up to the output."""
    while isinstance(application, (RunnableBinding, RunnableSequence)):
        application = (
            application.last if isinstance(application, RunnableSequence) else application.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        )
    return not any(kind.__module__.startswith("langgraph.") for kind in type(application).__mro__)


def _is_async_only(failed: BaselineFailed) -> bool:
    """True iff the application failed because some part of it has no sync entry."""
    cause = failed.__cause__
    return cause is not None and _tells_of_async(f"{type(cause).__name__}: {cause}")


def _tells_of_async(error: str) -> bool:
    """True for the errors, as text, of what has no sync entry."""
    told = error.startswith("TypeError") and _TELLS_OF_ASYNC.search(error) is not None
    return told or error.startswith("NotImplementedError")


@contextmanager
def _judge_watched() -> Generator[Watch, None, None]:
    """What models spend here outside of replays, a predicate's judge has spent."""
    watch = Watch(allow_length=True)
    token = watching.set(watch)
    try:
        yield watch
    finally:
        watching.reset(token)


def _with_judge(explanation: Explanation, judge: Watch) -> Explanation:
    spent = tokens(judge.usage_metadata.values())
    if not spent:
        return explanation
    return explanation.model_copy(update={"spent": replace(explanation.spent, judge=spent)})
