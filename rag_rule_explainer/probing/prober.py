"""Arrangement -> replay -> predicate -> probe. Runs on one event loop; sync replays run in threads."""

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Collection, Coroutine
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..errors import NoSourcesCaptured, UntrueReplay
from ..sources import Arrangement, Source
from ..verdicts import Answer, Case, Judgement, Verdict
from . import threads
from .answer_cache import AnswerCache
from .budget import Budget
from .deadlines import Deadlines
from .judging import Judging
from .limiter import Limiter, Reentered, around, begun
from .limits import LimitReached
from .pausing import pause
from .replaying import EMPTY, Replay, UnusableReply, said_nothing
from .reply import Reply
from .retries import Retries
from .tracing.marks import Kind, TracedExplanation, TracedReplay
from .tracing.traced import traced
from .wholeness import answer_fault


class Ballot(NamedTuple):
    """The samples of one arrangement, and how one base predicate's votes on them came out.

    ``telling``: a sample that voted with the outcome.
    """

    replies: tuple[Reply, ...]
    holds: int
    breaks: int
    outcome: Judgement
    telling: Reply


class Probe(NamedTuple):
    """One arrangement, replayed and judged; ``ballot``: where it was put to the vote."""

    arrangement: Arrangement
    reply: Reply
    judgement: Judgement
    ballot: Ballot | None = None

    def without_answer(self) -> "Probe":
        """The same, but for the answers' memory."""
        silent = self.reply._replace(answer=None)
        ballot = None if self.ballot is None else self.ballot._replace(replies=(), telling=silent)
        return self._replace(reply=silent, ballot=ballot)


class Prober:
    """Probes arrangements for one question.

    ``sources``: all that arrangements are made of. ``cache``: where answers are kept. ``timeout``:
    seconds that one run may take. ``answer_without_sources``: the answer to the empty arrangement,
    instead of asking the application. ``accepts``: finish reasons of answers that count, beside those of
    whole ones and those that the replay says it has looked at (its ``accept_finish_reasons``). ``trace``:
    what tells tracers of replays.
    """

    def __init__(  # noqa: PLR0913 -- each is a setting of the one who asks
        self,
        question: str,
        replay: Replay,
        *,
        sources: tuple[Source, ...] = (),
        limiter: Limiter,
        budget: Budget,
        retries: Retries,
        timeout: float | None = None,
        answer_without_sources: str | None = None,
        accepts: Collection[str] = (),
        trace: TracedExplanation | None = None,
    ) -> None:
        self.question = question
        self._sources = sources
        self.baseline = Answer("")  # until the baseline is known, nothing is judged
        self.budget = budget
        self.trace = trace
        self.cache = AnswerCache(budget, remember=True)
        self._replay = replay
        is_async = inspect.iscoroutinefunction(replay) or inspect.iscoroutinefunction(
            getattr(replay, "__call__", None)  # noqa: B004 -- the method itself, not whether it exists
        )
        self._ask: Any = replay if is_async else self._ask_in_a_thread
        self._accepts = frozenset((*accepts, *getattr(replay, "accept_finish_reasons", ())))
        self._limiter = limiter
        self._around = around()
        self._retries = retries
        self._deadlines = None if timeout is None else Deadlines(timeout)
        self._without_sources = answer_without_sources
        self._failures_in_a_row = 0
        self._stopped: asyncio.Event | None = None
        self.stop_reason = ""

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Replays where needed, and judges. Raises LimitReached, and errors of this package only."""
        if self._without_sources is None or arrangement.sources:
            reply = self._counting(await self.cache.reply(arrangement, self._sample))
        else:
            reply = Reply(Answer(self._without_sources, note="answered without the application"))
        if reply.answer is None:
            return Probe(arrangement, reply, Judgement(Verdict.UNKNOWN, reply.error))
        case = self.case(arrangement, reply.answer)
        judgement = judging.known(case) or await judging.judge(case)
        if reply.traced is not None and not reply.traced.ended:
            await reply.traced.end(judging.turned(judgement), str(judging.base))
        return Probe(arrangement, reply, judgement)

    def case(self, arrangement: Arrangement, answer: Answer) -> Case:
        """What a predicate judges of an answer."""
        return Case(self.question, self.baseline, answer, arrangement.sources, self._sources)

    async def sample(self, arrangement: Arrangement, number: int) -> Reply:
        """The reply of that number, from 0 on; the first is the one that is probed."""
        if number == 0:
            return self._counting(await self.cache.reply(arrangement, self._sample))
        return self._counting(await self.cache.sample(arrangement, number, self._sample))

    def fault_in(self, answer: Answer) -> str:
        """Returns why the answer is none, be it new, stored or handed over; empty where it is one."""
        if answer.finish_reason is None:
            return ""
        is_structured = answer.value is not None
        return answer_fault(answer.finish_reason, structured=is_structured, accepts=self._accepts)

    def _counting(self, reply: Reply) -> Reply:
        """Returns the reply, or in its place why it cannot count: others may have stored it."""
        fault = "" if reply.answer is None else self.fault_in(reply.answer)
        return reply._replace(answer=None, cause=UnusableReply(fault)) if fault else reply

    def answers_itself(self, arrangement: Arrangement) -> bool:
        """True iff the application is not asked about it."""
        return self._without_sources is not None and not arrangement.sources

    def bound_seconds(self, most: float) -> None:
        """From now on no run may take longer. To be called before the first one; a longer bound changes
        nothing."""
        if self._deadlines is not None:
            self._deadlines.seconds = min(self._deadlines.seconds, most)

    def stop(self, reason: str) -> None:
        """Nothing more is tried again."""
        self.stop_reason = self.stop_reason or reason
        if self._stopped is not None:
            self._stopped.set()

    def close(self) -> None:
        """Nothing will be asked any more."""
        if self._deadlines is not None:
            self._deadlines.close()

    def _sample(self, arrangement: Arrangement) -> Coroutine[Any, Any, Reply]:
        return self.run(arrangement, self._count_sample)

    def _count_sample(self) -> None:
        self.charge()
        self.budget.samples += 1

    def _count_retry(self) -> None:
        self.charge()
        self.budget.retries += 1

    def charge(self) -> None:
        """Makes sure that one more run is wanted and within the limits. Raises LimitReached."""
        if self.stop_reason:
            raise LimitReached(self.stop_reason)
        self.budget.charge()

    async def _after_a_failure(
        self, arrangement: Arrangement, failed: Reply, *, may_try_again: bool
    ) -> Reply:
        from .retrying import again  # most searches never need it

        if failed.traced is not None:
            await failed.traced.end(Judgement(Verdict.UNKNOWN, failed.error), error=failed.cause)
        if isinstance(failed.cause, UnusableReply):
            self.budget.spend(failed.cause.usage, failed.cause.models)
        if not may_try_again:
            return failed

        async def retry() -> Reply:
            return await self.run(arrangement, self._count_retry, "retry", may_try_again=False)

        try:
            reply = await again(self._retries, failed, retry, _cause, self.pause)
        except LimitReached as limit:
            raise limit from failed.cause
        if reply.cause is not None:
            self.budget.failures += 1
            self._failures_in_a_row += 1
        return reply

    def check_alive(self, reply: Reply) -> None:
        """Raises LimitReached where as many replays failed in a row as are put up with."""
        most = self.budget.limits.failures
        if reply.cause is not None and most is not None and self._failures_in_a_row >= most:
            raise LimitReached(
                f"the last {self._failures_in_a_row} replays all failed (limits.failures), the last one "
                f"with {reply.error}"
            )

    async def pause(self, seconds: float) -> None:
        """Waits before another try. Raises LimitReached where there is a stop meanwhile."""
        if self._stopped is None:
            self._stopped = asyncio.Event()
        if self.stop_reason:
            self._stopped.set()
        await pause(seconds, self.budget, self._stopped)
        if self._stopped.is_set():
            raise LimitReached(self.stop_reason)

    async def run(
        self,
        arrangement: Arrangement,
        begin: Callable[[], None],
        kind: Kind = "replay",
        *,
        may_try_again: bool = True,
    ) -> Reply:
        """What the application answers, whatever is remembered; tried again where that may help.

        ``begin``: counts the run, or raises LimitReached. It is called with a slot in hand: others may
        wait for one long after the limits are reached. ``kind``: why it is asked. Raises LimitReached,
        and errors of this package only.
        """
        if not self._limiter.enter_at_once():
            await self._limiter.enter()
        try:
            begin()
        except BaseException:
            self._limiter.leave()
            raise
        started, deadlines, slot = (
            time.perf_counter(),
            self._deadlines,
            begun(self._around, self._limiter),
        )
        trace = None if self.trace is None else self.trace.replay(arrangement.ids, kind)
        ask = self._ask if trace is None else partial(self._ask_traced, trace, arrangement)
        try:
            task = asyncio.current_task() if deadlines is not None else None
            try:
                if deadlines is not None and task is not None:
                    deadlines.begin(task)
                given = await ask(self.question, arrangement.sources)
                if deadlines is not None and task is not None and deadlines.end(task):
                    # What it says when it is cancelled is no answer.
                    raise deadlines.passed()  # noqa: TRY301 -- a function more costs as well
            except BaseException as error:
                if deadlines is not None and task is not None and deadlines.end(task):
                    raise deadlines.passed() from error
                raise
            finally:
                slot.limiter = None
                self._limiter.leave()
            answer = _plain(given) if type(given) is str else Answer.of(given)
            self._check_said(answer, arrangement)
        except BaseException as error:
            if not _is_the_applications(error):
                raise
            failed = Reply(None, time.perf_counter() - started, error, trace)
            return await self._after_a_failure(arrangement, failed, may_try_again=may_try_again)
        self._failures_in_a_row = 0
        if answer.usage or answer.models:
            self.budget.spend(answer.usage, answer.models)
        return Reply(answer, time.perf_counter() - started, traced=trace)

    def _check_said(self, answer: Answer, arrangement: Arrangement) -> None:
        # Whoever is shown nothing may well say nothing.
        empty = EMPTY if said_nothing(answer) and arrangement.sources else ""
        fault = self.fault_in(answer) or empty
        if fault:
            raise UnusableReply(fault, answer.usage, answer.models, passing=True)

    async def _ask_traced(
        self,
        trace: TracedReplay,
        arrangement: Arrangement,
        question: str,
        sources: tuple[Source, ...],
    ) -> Answer:
        with traced(trace):
            answer = Answer.of(await self._ask(question, sources))
        trace.answered = arrangement, answer
        return answer

    async def _ask_in_a_thread(self, question: str, sources: tuple[Source, ...]) -> Any:
        given = await threads.shared().run(self._replay, question, sources)
        # The common case first: asking whether something is awaitable is slow.
        if not isinstance(given, (str, Answer)) and inspect.isawaitable(given):
            return await given
        return given


def _cause(reply: Reply) -> BaseException | None:
    return reply.cause


@lru_cache(maxsize=256)
def _plain(text: str) -> Answer:
    """A string as an answer: short ones repeat, and one object will do for all."""
    return Answer(text)


def _is_the_applications(error: BaseException) -> bool:
    """True iff it makes the probe UNKNOWN; False where the whole call is to end with it."""
    if isinstance(error, asyncio.CancelledError):
        return not _is_cancelled_from_outside()
    if isinstance(error, KeyboardInterrupt):
        # Ctrl-C comes to the main thread alone; elsewhere it would end the loop and leave all waiting.
        return threading.current_thread() is not threading.main_thread()
    return not isinstance(error, (UntrueReplay, NoSourcesCaptured, Reentered, GeneratorExit))


def _is_cancelled_from_outside() -> bool:
    """False where the application let a cancellation of its own escape."""
    # Python 3.10 cannot tell; there it counts as one from outside, and the search stops.
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0
