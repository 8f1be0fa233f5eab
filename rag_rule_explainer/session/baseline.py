"""This module gets the answer to explain: from the caller, the store or the application."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..errors import BaselineFailed, RagRuleError
from ..predicates.wording import same_wording
from ..printable import shortened
from ..probing.limits import LimitReached
from ..probing.replaying import EMPTY, Baseline, said_nothing
from ..probing.reply import Reply
from ..probing.sampler import Sampler
from ..probing.tracing.marks import TracedReplay
from ..sources import Arrangement, SourceSet
from ..verdicts import Answer


class Established(NamedTuple):
    """An Established holds a baseline that can be explained.

    ``fresh``: the answer that the application gave during this call, if the answer from the store is
    explained instead; else None. ``traced``: what tracers know about the run that gave the answer; None
    if it is not traced.
    """

    baseline: Baseline
    fresh: Answer | None = None
    traced: TracedReplay | None = None


@dataclass(frozen=True, slots=True)
class BaselineSetup:
    """A BaselineSetup gets the baseline from the caller, the store or the application. It adds texts
    about it to ``notes``."""

    sources: SourceSet
    sampler: Sampler
    notes: list[str]

    @property
    def _full(self) -> Arrangement:
        return Arrangement.of(self.sources, self.sources.full)

    async def established(self, given: Baseline | None) -> Established:
        """Returns the baseline, and keeps its answer as the reply to the full set. ``given``: the
        baseline of the caller; None to run the application. Raises BaselineFailed."""
        established = await self._replayed() if given is None else await self._counted(given)
        current = established.baseline.current
        if current is not None:
            self._check_whole(current)
            # The search will find this reply, so it does not replay the full set. Without a current
            # answer, it replays it.
            self.sampler.cache.remember(self._full, Reply(current))
        return established

    async def modal(self, baseline: Baseline, most: int) -> Baseline:
        """Returns the baseline with its answer replaced by the most frequent one of ``most`` samples on
        all sources. Returns a baseline from a log unchanged. Raises LimitReached."""
        if baseline.logged:
            return baseline
        answer = await self.sampler.modal(self._full, most)
        if answer is None or same_wording(answer.text) == same_wording(baseline.answer.text):
            return baseline
        self.notes.append(
            f"explained is what most of the samples on all sources say, {shortened(answer.text, 200)!r}; "
            f"the first one said {shortened(baseline.answer.text, 200)!r}"
        )
        return replace(baseline, answer=answer)

    def _check_whole(self, current: Answer) -> None:
        """Raises BaselineFailed if the answer that the application gives now is empty or not whole."""
        fault = self.sampler.replayer.fault_in(current) or (EMPTY if said_nothing(current) else "")
        if fault:
            raise BaselineFailed(f"{fault}, so there is nothing to explain; make it answer first")

    async def _replayed(self) -> Established:
        replayer = self.sampler.replayer
        before = replayer.budget.replays

        def count() -> None:
            replayer.stopper.check()
            replayer.budget.baseline += 1

        async def make(arrangement: Arrangement) -> Reply:
            return await replayer.run(arrangement, count, "baseline")

        failed = f"the application failed on all {len(self.sources)} sources, so there is no answer"
        try:
            reply = await self.sampler.cache.sample(self._full, 0, make)
        except LimitReached as limit:
            cause = limit.__cause__
            why = "" if cause is None else f": {Reply(None, cause=cause).error}"
            raise BaselineFailed(
                f"{failed} to explain, and it was not asked again ({limit}){why}"
            ) from cause
        if isinstance(reply.cause, RagRuleError):
            raise reply.cause
        if reply.answer is None:
            raise BaselineFailed(
                f"{failed} to explain; make it answer first: {reply.error}"
            ) from reply.cause
        replays = replayer.budget.replays - before
        return Established(Baseline(reply.answer, reply.answer, replays=replays), traced=reply.traced)

    async def _counted(self, given: Baseline) -> Established:
        """Adds the runs and tokens of the caller's baseline to the budget, and returns the baseline.

        If the store has an answer on these sources, the baseline gets that answer instead. An earlier
        search has judged other answers against that one, so its judgements are of use only with it.
        """
        budget = self.sampler.replayer.budget
        budget.baseline += given.replays
        budget.spend(given.usage, given.models)
        for failed in given.failed:
            budget.retries += 1
            budget.spend(failed.usage, failed.models)
        budget.started -= given.seconds
        if given.current is None:
            return Established(given)
        first, is_given = await self.sampler.cache.offered(self._full, given.current)
        if is_given:
            return Established(given)
        fresh = None if given.doubt() else given.current
        if first.text != given.current.text:
            self.notes.append(
                f"explained is the store's answer on these sources, {shortened(first.text, 200)!r}; "
                f"asked again, the application says {shortened(given.current.text, 200)!r}"
            )
        answer = given.answer if given.logged else first
        return Established(replace(given, answer=answer, current=first), fresh)
