"""This module runs the application on an arrangement (an ordered list of sources). Async replays run on
one event loop, and sync replays run in threads."""

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from ..errors import NoSourcesCaptured, UntrueReplay
from ..predicates.only_calls import BY_TOOL, is_cut, is_only_calls
from ..sources import Arrangement, Source
from ..verdicts import Answer, Judgement, Verdict
from . import threads
from .budget import Budget
from .deadlines import Deadlines
from .limiter import Limiter, Reentered, Slot, around, begun
from .limits import LimitReached
from .pausing import Stopper
from .replaying import EMPTY, Replay, UnusableReply, said_nothing
from .reply import Reply
from .retries import Retries
from .tracing.marks import ReplayPurpose, TracedExplanation, TracedReplay
from .tracing.traced import traced
from .wholeness import CALLS, answer_fault

AskApplication = Callable[[str, tuple[Source, ...]], Awaitable[Any]]


@dataclass(slots=True, eq=False)
class Replayer:
    """A Replayer runs the application on one question. Each run takes a slot of the limiter and keeps to
    the budget and the timeout. A run that fails is retried if the failure may be temporary.

    ``timeout``: the seconds that one run may take; None for no limit. ``accepts``: finish reasons with
    which an answer is regarded as whole, in addition to the usual ones. The reasons in the replay's own
    ``accept_finish_reasons`` are added. ``trace``: the data about this explanation for tracers such as
    LangSmith; None if it is not traced. ``accepts_calls``: True if a condition is about tool calls, so
    that an answer may be only a tool call. ``stopper``: once it is stopped, no run begins, and pauses
    before retries end.
    """

    question: str
    replay: Replay
    limiter: Limiter
    budget: Budget
    retries: Retries
    timeout: float | None = None
    accepts: Collection[str] = ()
    trace: TracedExplanation | None = None
    accepts_calls: bool = False
    stopper: Stopper = field(init=False)
    _ask: AskApplication = field(init=False)
    _around: tuple[Slot, ...] = field(init=False, default_factory=around)
    _deadlines: Deadlines = field(init=False)
    _failures_in_a_row: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.stopper = Stopper(self.budget)
        is_async = inspect.iscoroutinefunction(self.replay) or inspect.iscoroutinefunction(
            getattr(self.replay, "__call__", None)  # noqa: B004 -- iscoroutinefunction() needs the method
        )
        replay: Any = self.replay
        self._ask = replay if is_async else self._ask_in_a_thread
        self.accepts = frozenset((*self.accepts, *getattr(replay, "accept_finish_reasons", ())))
        self._deadlines = Deadlines(self.timeout)

    def close(self) -> None:
        """Stops the timer of the timeouts; the caller must run no replay afterwards."""
        self._deadlines.close()

    def fault_in(self, answer: Answer) -> str:
        """Returns the reason why an answer is not whole, by its finish reason; empty if the answer is
        whole or has no finish reason."""
        is_call = bool(answer.calls) and is_only_calls(answer)
        if is_call and not self.accepts_calls:
            return CALLS
        if answer.finish_reason in (None, BY_TOOL):
            return ""
        if is_call and is_cut(answer):
            return ""
        may_call = answer.value is not None or is_call
        return answer_fault(answer.finish_reason, structured=may_call, accepts=self.accepts)

    def is_empty(self, answer: Answer) -> bool:
        """Returns True iff an answer is empty: it has no text, no value, and no tool call that a
        condition could be about. An answer that a tool gave is never empty: its text is what the tool
        found."""
        if answer.finish_reason == BY_TOOL:
            return False
        return said_nothing(answer) and not (self.accepts_calls and is_only_calls(answer))

    def counting(self, reply: Reply) -> Reply:
        """Returns the reply in the form in which a search uses it. If its answer is whole, this is the
        reply itself. Otherwise, an error replaces the answer. Stored answers are checked in the same way,
        because they may come from a run with other ``accepts``."""
        fault = "" if reply.answer is None else self.fault_in(reply.answer)
        return reply._replace(answer=None, cause=UnusableReply(fault)) if fault else reply

    def charge(self) -> None:
        """Raises LimitReached if a stop or a limit forbids one more run."""
        self.stopper.check()
        self.budget.charge()

    def check_alive(self, reply: Reply) -> None:
        """Raises LimitReached if this reply failed and is the last of ``limits.failures`` failed replays
        in a row."""
        most = self.budget.limits.failures
        if reply.cause is not None and most is not None and self._failures_in_a_row >= most:
            raise LimitReached(
                f"the last {self._failures_in_a_row} replays all failed (limits.failures), the last one "
                f"with {reply.error}"
            )

    async def run(
        self,
        arrangement: Arrangement,
        begin: Callable[[], None] | None = None,
        kind: ReplayPurpose = "replay",
        *,
        may_try_again: bool = True,
    ) -> Reply:
        """Runs the application on an arrangement (an ordered list of sources) and returns its reply.
        Retries a temporary failure, unless ``may_try_again`` is False. ``begin``: counts the run, or
        raises LimitReached to forbid it, after the wait for a slot; None to count a sample. ``kind``: the
        purpose of the run. Raises LimitReached, and RagRuleError if the whole call must end."""
        if not self.limiter.enter_at_once():
            await self.limiter.enter()
        started, slot = time.perf_counter(), self._held(begin)
        trace = None if self.trace is None else self.trace.replay(arrangement.ids, kind)
        try:
            ask = self._ask if trace is None else partial(self._ask_traced, trace, arrangement)
            task = self._deadlines.begin()
            try:
                given = await ask(self.question, arrangement.sources)
            except BaseException as error:
                if self._deadlines.end(task):
                    raise self._deadlines.passed() from error
                raise
            finally:
                slot.limiter = None
                self.limiter.leave()
            self._deadlines.check_end(task)
            answer = _plain(given) if type(given) is str else Answer.of(given)
            if answer.finish_reason is not None or not answer.text or answer.text.isspace():
                self._check_said(answer, arrangement)
        except BaseException as error:
            failed = _failed_reply(error, started, trace)
            return await self._after_a_failure(arrangement, failed, may_try_again=may_try_again)
        self._failures_in_a_row = 0
        if answer.usage or answer.models:
            self.budget.spend(answer.usage, answer.models)
        # There are thousands of replies, and ``Reply(...)`` takes three times as long as this line.
        return tuple.__new__(Reply, (answer, time.perf_counter() - started, None, trace))  # pyright: ignore[reportUnknownMemberType] -- the types of the items are unknown

    def _held(self, begin: Callable[[], None] | None) -> Slot:
        """Calls ``begin``, which counts the run or forbids it, and returns the record of the slot that
        the run occupies. If the run is forbidden, the slot becomes free for another run."""
        try:
            if begin is not None:
                begin()
            else:
                budget = self.budget
                if self.stopper.reason or budget.is_limited:
                    self.charge()
                budget.samples += 1
        except BaseException:
            self.limiter.leave()
            raise
        return begun(self._around, self.limiter)

    def _check_said(self, answer: Answer, arrangement: Arrangement) -> None:
        # An empty answer is a failure. But without sources, an application may have nothing to say, so an
        # empty answer is then accepted.
        empty = EMPTY if self.is_empty(answer) and arrangement.sources else ""
        fault = self.fault_in(answer) or empty
        if fault:
            raise UnusableReply(fault, answer.usage, answer.models, passing=True)

    async def _after_a_failure(
        self, arrangement: Arrangement, failed: Reply, *, may_try_again: bool
    ) -> Reply:
        from .retrying import again  # imported late, since most searches never need it

        if failed.traced is not None:
            await failed.traced.end(Judgement(Verdict.UNKNOWN, failed.error), error=failed.cause)
        if isinstance(failed.cause, UnusableReply):
            self.budget.spend(failed.cause.usage, failed.cause.models)
        if not may_try_again:
            return failed

        async def retry() -> Reply:
            return await self.run(arrangement, self._count_retry, "retry", may_try_again=False)

        try:
            reply = await again(self.retries, failed, retry, _cause, self.stopper.pause)
        except LimitReached as limit:
            raise limit from failed.cause
        if reply.cause is not None:
            self.budget.failures += 1
            self._failures_in_a_row += 1
        return reply

    def _count_retry(self) -> None:
        self.charge()
        self.budget.retries += 1

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
        given = await threads.shared().run(self.replay, question, sources)
        # Most results are texts or answers; they are recognised first, since isawaitable() is slow.
        if not isinstance(given, (str, Answer)) and inspect.isawaitable(given):
            return await given
        return given


def _cause(reply: Reply) -> BaseException | None:
    return reply.cause


@lru_cache(maxsize=256)
def _plain(text: str) -> Answer:
    """Returns a text as an answer. Many answers are equal, so equal texts share one object."""
    return Answer(text)


def _failed_reply(error: BaseException, started: float, trace: TracedReplay | None) -> Reply:
    """Returns the reply of a run that failed with this error. Raises the error again if it is not the
    application's. ``started``: the time at which the run began. ``trace``: the data about the replay for
    tracers; None if it is not traced."""
    if not _is_the_applications(error):
        raise error
    return Reply(None, time.perf_counter() - started, error, trace)


def _is_the_applications(error: BaseException) -> bool:
    """Returns True iff the error comes from the application. Such an error only makes one probe UNKNOWN.
    Any other error must end the whole call."""
    if isinstance(error, asyncio.CancelledError):
        return not _is_cancelled_from_outside()
    if isinstance(error, KeyboardInterrupt):
        # Python raises Ctrl-C in the main thread only, so in another thread the application has raised
        # this error itself. The replay is then treated as failed. If the error were raised further, it
        # would end the event loop, and all callers would wait for ever.
        return threading.current_thread() is not threading.main_thread()
    return not isinstance(error, (UntrueReplay, NoSourcesCaptured, Reentered, GeneratorExit))


def _is_cancelled_from_outside() -> bool:
    """Returns True iff other code has cancelled the replay. Returns False if the application raised
    CancelledError itself, for example because it awaited a cancelled task of its own."""
    # Python 3.10 does not count cancellations. So with Python 3.10, each cancellation counts as one from
    # outside, and the search stops.
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0
