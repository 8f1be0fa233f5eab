"""This module gets the answer that is to be explained, from the caller, the store or the application."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..errors import AnswerNotRepeatable, BaselineFailed, RagRuleError
from ..predicates import Predicate, SameAnswer
from ..predicates.wording import same_wording
from ..printable import shortened
from ..probing.judging import Judging
from ..probing.limits import LimitReached
from ..probing.replaying import EMPTY, Baseline
from ..probing.reply import Reply
from ..probing.sampler import Sampler
from ..probing.tracing.marks import TracedReplay
from ..sources import Arrangement, SourceSet
from ..verdicts import Answer


class Established(NamedTuple):
    """An ``Established`` holds a baseline that can be explained.

    ``traced``: the data for tracers about the run that gave the answer; None if it is not traced.
    ``now``: the answer that the application gave during this call, if the explained answer was read from
    the store; else None. ``fresh``: equal to ``now`` if this answer may be compared with the explained
    one, which saves a replay. ``fresh`` is None if there is no such answer, or if there is a reason to
    distrust replays.
    """

    baseline: Baseline
    fresh: Answer | None = None
    traced: TracedReplay | None = None
    now: Answer | None = None


_STALE = (
    "the application now answers otherwise than the store: with all sources, the store has {!r}, and "
    "asked again, the application says {!r}. So the other answers in the store may be those of an "
    "earlier version, and no rule counts as proved. Give the changed application a namespace of its own "
    "(Store(url, namespace), --namespace), or prune this one (rag-rules store prune)"
)


_WORDED_ANEW = (
    "of {1} answers to all sources, {0} have the most frequent wording; another one is {2!r}. A rule "
    "that says 'the answer changes' may be about the wording alone. Judge what matters instead "
    "(contains, matches, consistent_with, or a function of your own)"
)


async def compared_with_the_store(
    established: Established, differs: Callable[[Answer, Answer], Awaitable[bool]], notes: list[str]
) -> Established:
    """Returns the baseline with ``stale`` (a warning) set if the conditions judge the application's
    answer of this call differently from the stored answer. The stored answer may then come from another
    version of the application.

    ``differs``: returns True iff the conditions judge two answers differently. If they do not, and only
    the wording differs, a text with both answers is added to ``notes``. Raises LimitReached if a limit
    ends the session.
    """
    fresh, baseline = established.fresh, established.baseline
    stored = baseline.current if baseline.logged else baseline.answer
    if fresh is None or stored is None or fresh.text == stored.text:
        return established
    texts = shortened(stored.text, 200), shortened(fresh.text, 200)
    if await differs(stored, fresh):
        return established._replace(baseline=replace(baseline, stale=_STALE.format(*texts)))
    notes.append(
        f"explained is the store's answer on these sources, {texts[0]!r}; "
        f"asked again, the application says {texts[1]!r}"
    )
    return established


@dataclass(frozen=True, slots=True)
class BaselineSetup:
    """A ``BaselineSetup`` gets the baseline from the caller, the store or the application. It adds texts
    for the user about the baseline to ``notes`` and ``warnings``."""

    sources: SourceSet
    sampler: Sampler
    notes: list[str]
    warnings: list[str]

    @property
    def _full(self) -> Arrangement:
        return Arrangement.of(self.sources, self.sources.full)

    async def established(self, given: Baseline | None) -> Established:
        """Returns the baseline. If the application has answered during this call, its answer becomes the
        cached reply for all sources. ``given``: the caller's baseline; None to run the application.
        Raises BaselineFailed if the application gives no complete answer."""
        established = await self._replayed() if given is None else await self._counted(given)
        current = established.baseline.current
        if current is not None:
            self._check_whole(current)
            # The search will find this reply in the cache, so it does not replay the full set. If
            # ``current`` is None, the application has not answered in this call, and the search replays
            # the full set.
            self.sampler.cache.remember(self._full, Reply(current))
        return established

    async def modal(self, baseline: Baseline, most: int, judgings: Iterable[Judging]) -> Baseline:
        """Returns the baseline with the most frequent answer among at most ``most`` samples on all
        sources. Returns a baseline from a log unchanged.

        If one of the conditions in ``judgings`` is that the answer stays the same, draws exactly ``most``
        samples, and adds a warning if the samples are worded differently. If at most two thirds of the
        samples have the most frequent wording, votes on other sources would be about chance, so
        AnswerNotRepeatable is raised instead. Raises LimitReached if a limit ends the session.
        """
        if baseline.logged:
            return baseline
        same = next((each.base for each in judgings if isinstance(each.base, SameAnswer)), None)
        # All samples are drawn, even if the most frequent answer is certain before the last one. If two
        # equal samples of three ended the vote, a model that alternates between two wordings would often
        # seem to repeat its answer.
        modal = await self.sampler.modal(self._full, most, every=same is not None)
        if modal is None:
            return baseline
        answer = modal.answer
        if same is not None and modal.other is not None:
            await self._check_wording(answer.text, modal.other.text, most, same)
        if same_wording(answer.text) == same_wording(baseline.answer.text):
            return baseline
        self.notes.append(
            f"explained is what most of the samples on all sources say, {shortened(answer.text, 200)!r}; "
            f"the first one said {shortened(baseline.answer.text, 200)!r}"
        )
        return replace(baseline, answer=answer)

    async def _check_wording(self, modal: str, other: str, most: int, same: Predicate) -> None:
        replies = await self.sampler.several(self._full, 0, most)
        texts = [reply.answer.text for reply in replies if reply.answer is not None]
        equal = sum(same_wording(text) == same_wording(modal) for text in texts)
        if equal * 3 <= len(texts) * 2:
            raise AnswerNotRepeatable(
                str(same), (modal, other), about_wording=True, equal=(equal, len(texts))
            )
        if equal < len(texts):
            self.warnings.append(_WORDED_ANEW.format(equal, len(texts), shortened(other, 100)))

    def _check_whole(self, current: Answer) -> None:
        """Raises BaselineFailed if the application's current answer is empty or was cut off."""
        replayer = self.sampler.replayer
        fault = replayer.fault_in(current) or (EMPTY if replayer.is_empty(current) else "")
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

        shown = len(self.sources)
        which = f"all {shown} sources" if shown > 1 else "its only source" if shown else "no sources"
        failed = f"the application failed on {which}, so there is no answer"
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

        If the store has an answer for these sources, the baseline gets the stored answer instead. An
        earlier search may have stored judgements, which compare answers with the stored answer. These
        judgements can be used again only if the stored answer is the baseline again.
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
        answer = given.answer if given.logged else first
        return Established(replace(given, answer=answer, current=first), fresh, now=given.current)
