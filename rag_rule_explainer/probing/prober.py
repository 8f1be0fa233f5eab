"""Arrangement -> replay -> predicate -> probe.

Answers are kept by arrangement and judgements by (predicate, memo key), single-flight. Runs on one event
loop; sync replays run in worker threads.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from ..errors import NoSourcesCaptured, UntrueReplay
from ..sources import Arrangement, Source
from ..verdicts import Answer, Case, Judgement, Verdict
from .judging import Judging, described
from .limiter import Limiter
from .limits import LimitReached, Limits
from .memo import Memo
from .replaying import Replay, UnusableReply


@dataclass(slots=True)
class Tally:
    """How often the application ran, by purpose, and how often an answer was taken from memory."""

    baseline: int = 0
    repeat_check: int = 0
    samples: int = 0
    retries: int = 0
    reused: int = 0
    usage: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def replays(self) -> int:
        """All runs of the application."""
        return self.baseline + self.repeat_check + self.samples + self.retries

    def spend(self, usage: Mapping[str, int]) -> None:
        """Adds the tokens an answer cost."""
        for kind, count in usage.items():
            self.usage[kind] = self.usage.get(kind, 0) + count


class Reply(NamedTuple):
    """What one arrangement was answered, or the error it ended in.

    ``latency``: seconds of this run; None where the application did not run for it.
    """

    answer: Answer | None
    latency: float | None = None
    cause: BaseException | None = None

    @property
    def error(self) -> str:
        """The error in one line; empty where there is an answer."""
        if isinstance(self.cause, UnusableReply):
            return self.cause.reason
        return "" if self.cause is None else described(self.cause)


class Probe(NamedTuple):
    """One arrangement, replayed and judged."""

    arrangement: Arrangement
    reply: Reply
    judgement: Judgement

    def without_answer(self) -> "Probe":
        """The same, but for the answer's memory."""
        return self._replace(reply=self.reply._replace(answer=None))


class Prober:
    """Probes arrangements for one question.

    ``reuse_answers=False`` keeps no answers: an arrangement that is wanted twice is replayed twice.
    ``answer_without_sources``: the answer to the empty arrangement, instead of asking the application.
    """

    def __init__(
        self,
        question: str,
        replay: Replay,
        *,
        limiter: Limiter,
        limits: Limits,
        reuse_answers: bool = True,
        answer_without_sources: str | None = None,
    ) -> None:
        self.question = question
        self.baseline = Answer("")  # until the baseline is known, nothing is judged
        self.tally = Tally()
        self._replay = replay
        self._is_async = inspect.iscoroutinefunction(replay) or inspect.iscoroutinefunction(
            getattr(replay, "__call__", None)  # noqa: B004 -- the method itself, not whether it exists
        )
        self._limiter = limiter
        self._threads = anyio.CapacityLimiter(limiter.size)
        self._limits = limits
        self._reuse = reuse_answers
        self._without_sources = answer_without_sources
        self._replies = Memo[Reply]()

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Replays where needed, and judges. Raises LimitReached, and errors of this package only."""
        if self._reuse:
            reply, known = await self._replies.get(arrangement.key, self._sample, arrangement)
            self.tally.reused += known
        else:
            reply = await self._sample(arrangement)
        if reply.answer is None:
            return Probe(arrangement, reply, Judgement(Verdict.UNKNOWN, reply.error))
        case = Case(self.question, self.baseline, reply.answer, arrangement.sources)
        return Probe(arrangement, reply, await judging.judge(case))

    async def run(self, arrangement: Arrangement) -> Reply:
        """One run of the application, whatever is remembered. Raises errors of this package only."""
        if not self._needs_application(arrangement):
            return Reply(Answer(self._without_sources or "", note="answered without the application"))
        started = time.perf_counter()
        try:
            # Spelled out: a context manager would cost as much as all the rest here.
            if not self._limiter.enter_at_once():
                await self._limiter.enter()
            try:
                started = time.perf_counter()
                given = await self._ask(arrangement.sources)
                # The common case first: asking whether something is awaitable is slow.
                if not isinstance(given, (str, Answer)) and inspect.isawaitable(given):
                    given = await given
            finally:
                self._limiter.leave()
            answer = Answer.of(given)
        except (UntrueReplay, NoSourcesCaptured):
            raise
        except UnusableReply as unusable:
            self.tally.spend(unusable.usage or {})
            return Reply(None, time.perf_counter() - started, unusable)
        except (Exception, SystemExit) as error:
            return Reply(None, time.perf_counter() - started, error)
        except anyio.get_cancelled_exc_class() as error:
            if _is_cancelled_from_outside():
                raise
            return Reply(None, time.perf_counter() - started, error)
        if answer.usage:
            self.tally.spend(answer.usage)
        return Reply(answer, time.perf_counter() - started)

    def remember(self, arrangement: Arrangement, reply: Reply) -> None:
        """Keeps a reply that was come by otherwise, as the answer to this arrangement."""
        if self._reuse:
            self._replies.known[arrangement.key] = reply

    def charge(self) -> None:
        """Makes sure one more run is within the limits. Raises LimitReached where it is not."""
        limit = self._limits.replays
        if limit is not None and self.tally.replays >= limit:
            raise LimitReached(f"the limit of {limit} replays is reached")

    def _sample(self, arrangement: Arrangement) -> Coroutine[Any, Any, Reply]:
        if self._needs_application(arrangement):
            self.charge()
            self.tally.samples += 1
        return self.run(arrangement)

    def _ask(self, sources: tuple[Source, ...]) -> Awaitable[Any]:
        if self._is_async:
            return self._replay(self.question, sources)  # pyright: ignore[reportReturnType] -- it is async
        return anyio.to_thread.run_sync(self._replay, self.question, sources, limiter=self._threads)

    def _needs_application(self, arrangement: Arrangement) -> bool:
        return bool(arrangement.sources) or self._without_sources is None


def _is_cancelled_from_outside() -> bool:
    """False where the application let a cancellation of its own escape."""
    # Python 3.10 cannot tell; there it counts as one from outside, and the search stops.
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0
