"""This module sends requests to a judge. It repeats or splits a request until each of its answers has an
opinion or an error."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import anyio

from ..errors import RagRuleError
from ..predicates.judge.jury import Jury, answered
from ..predicates.judge.protocol import JudgeFailed, JudgeReply, JudgeRequest, Matter
from ..predicates.judge.reply import judgements_in
from ..predicates.judge.request import request_for
from ..printable import printable, shortened
from ..verdicts import Judgement
from . import threads
from .asked_models import whole_replies
from .budget import Budget
from .containing import contained
from .judge_barrier import of_this_work
from .judging import error_text
from .limiter import Limiter
from .limits import LimitReached
from .pausing import Stopper
from .replaying import UnusableReply
from .retries import Retries
from .transient import is_transient

MALFORMED = (
    "the judge's reply had no well-formed opinion on this answer: yes, no or unsure under the answer's id"
)
GIVEN_UP = "the request to the judge was given up"
_SHOWN = 100
"""The maximum number of characters of a judge's reply that messages show."""
_TRIES = 2
"""The number of requests about the same answers before they are split into two halves."""


class DecidedOpinion(NamedTuple):
    """A ``DecidedOpinion`` is a judge's judgement of one answer. ``is_alone``: True if nothing but this
    answer's content could influence the judgement: the request had no other answers, and it marked the
    answer as data."""

    judgement: Judgement
    is_alone: bool


@dataclass(slots=True, eq=False)
class WaitingAnswer:
    """A ``WaitingAnswer`` is an answer that waits for a judge's opinion. ``is_alone``: True if it must
    not share a request with other answers. ``outcome``: a future that gets the opinion or an error.
    ``taken``: True once it belongs to a request."""

    answer: str
    is_alone: bool
    outcome: "asyncio.Future[DecidedOpinion]"
    taken: bool = False


class TriedRequest(NamedTuple):
    """A ``TriedRequest`` is the outcome of one request. ``reply``: the judge's reply; it has no opinions
    if the request raised an error. ``error``: this error; None if there was none."""

    reply: JudgeReply
    error: Exception | None = None


@dataclass(slots=True, eq=False)
class JudgeRequests:
    """This class sends one explanation's requests to its judges, on one event loop.

    ``limiter``: limits how many requests and replays run at the same time. ``stopper``: once it is
    stopped, only requests that running probes need are sent. ``timeout``: the seconds that a request may
    take; None for no limit.
    """

    limiter: Limiter
    budget: Budget
    retries: Retries
    stopper: Stopper
    timeout: float | None = None
    _failures_in_a_row: int = 0

    async def decide(self, jury: Jury, matter: Matter, entries: Sequence[WaitingAnswer]) -> None:
        """Sends requests until each entry has an outcome, which is its opinion or an error. ``jury``: the
        judge and its settings. ``matter``: what the judge must decide."""
        try:
            await self._resolve(jury, matter, entries)
        except Exception as error:
            _fail(entries, error)
        except BaseException:
            _fail(entries, JudgeFailed(GIVEN_UP))
            raise

    async def _resolve(
        self, jury: Jury, matter: Matter, entries: Sequence[WaitingAnswer], tries: int = _TRIES
    ) -> None:
        """Requests opinions on all entries, at most ``tries`` times. The entries that then still have
        no opinion are split into two halves, and each half gets one request. The halves are split again
        in the same way, down to single entries."""
        error: Exception = JudgeFailed(MALFORMED)
        for _ in range(tries):
            request = request_for(matter, [entry.answer for entry in entries])
            tried = await self._asked(jury, request)
            judged = judgements_in(tried.reply.content, request.ids) if tried.error is None else {}
            for identity, entry in zip(request.ids, entries, strict=True):
                if identity in judged and not entry.outcome.done():
                    alone = len(request.candidates) == 1 and not jury.is_unmarked
                    entry.outcome.set_result(DecidedOpinion(judged[identity], alone))
            entries = [entry for entry in entries if not entry.outcome.done()]
            if tried.error is None:
                error = JudgeFailed(MALFORMED, reply=_head_of(tried.reply))
            self._check_alive(bool(judged), tried.error)
            if not entries:
                return
            if tried.error is not None:
                if isinstance(tried.error, UnusableReply):
                    error = JudgeFailed(tried.error.reason)
                    # An incomplete reply is handled like a malformed one: the request is repeated and
                    # then split. The reply to a request with fewer answers may be complete.
                    continue
                error = JudgeFailed(f"the judge failed: {error_text(tried.error)}")
                error.__cause__ = tried.error
                if is_transient(tried.error):
                    _fail(entries, error)
                    return
                break
        await self._resolve_halves(jury, matter, entries, error)

    async def _resolve_halves(
        self, jury: Jury, matter: Matter, entries: Sequence[WaitingAnswer], error: Exception
    ) -> None:
        if len(entries) == 1:
            _fail(entries, error)
            return
        # One of the answers may make the judge fail on all of them. Splitting separates this answer from
        # the other answers, so that these can be judged.
        half = (len(entries) + 1) // 2
        await self._resolve(jury, matter, entries[:half], tries=1)
        await self._resolve(jury, matter, entries[half:], tries=1)

    def _check_alive(self, has_judged: bool, error: Exception | None) -> None:
        self._failures_in_a_row = 0 if has_judged else self._failures_in_a_row + 1
        most = self.budget.limits.failures
        if most is not None and self._failures_in_a_row >= most:
            why = MALFORMED if error is None else error_text(error)
            raise LimitReached(
                f"the last {self._failures_in_a_row} requests to the judge all failed (limits.failures), "
                f"the last one with {why}"
            )

    async def _asked(self, jury: Jury, request: JudgeRequest) -> TriedRequest:
        """Sends a request, and returns its outcome. After a transient error, the request is sent
        again."""

        async def once() -> TriedRequest:
            return await self._try(jury, request)

        tried = await once()
        if tried.error is None:
            return tried
        from .retrying import again  # imported late, because most explanations never need it

        return await again(self.retries, tried, once, _cause, self.stopper.pause)

    async def _try(self, jury: Jury, request: JudgeRequest) -> TriedRequest:
        async with self.limiter.judging():
            backlog = of_this_work.get()
            if backlog is not None and not backlog.needed:
                self.stopper.check()
            self.budget.charge_judging()
            self.budget.judge_requests += 1
            try:
                with anyio.move_on_after(self.timeout):
                    with contained(), whole_replies(_not_whole):
                        said = answered(jury.judge, request, threads.shared().run)
                        reply = await self.stopper.by_the_limit(said)
                    models = reply.models or {jury.priced_as: reply.usage or {}}
                    self.budget.spend_judging(reply.usage, models)
                    return TriedRequest(reply)
            except (RagRuleError, LimitReached):
                raise
            except Exception as error:
                if isinstance(error, UnusableReply):
                    models = error.models or {jury.priced_as: error.usage or {}}
                    self.budget.spend_judging(error.usage, models)
                return TriedRequest(JudgeReply(None), error)
        return TriedRequest(JudgeReply(None), TimeoutError(f"no answer within {self.timeout:g} seconds"))


def _fail(entries: Iterable[WaitingAnswer], error: Exception) -> None:
    for entry in entries:
        if not entry.outcome.done():
            entry.outcome.set_exception(error)
            # A caller that was cancelled never reads the error of its future. asyncio logs an error that
            # nobody reads. This call marks the error as read.
            entry.outcome.exception()


def _not_whole(reason: str) -> UnusableReply:
    return UnusableReply(f"the judge's reply cannot count: {reason}", passing=False)


def _cause(tried: TriedRequest) -> Exception | None:
    return tried.error


def _head_of(reply: JudgeReply) -> str:
    """Returns the beginning of a judge's reply, quoted, for error messages."""
    content = reply.content
    text = content if isinstance(content, str) else repr(content)
    return repr(shortened(printable(text), _SHOWN))
