"""Answers -> a judge -> judgements: each asked about once, and by itself unless its jury allows more.

Where it does, nobody waits for a batch to fill: whoever finds a slot takes along what waits for the same
judge on the same matter at that moment. Answers that are all there beforehand go ``together``; see
``backlog``. What was judged among others is known as such, and stored as such.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import anyio

from ..errors import RagRuleError
from ..predicates.judge.jury import ALONE, Asked, Jury, among_others, answered, company
from ..predicates.judge.majority import majority, soonest
from ..predicates.judge.protocol import JudgeFailed, JudgeReply, JudgeRequest, Matter
from ..predicates.judge.reply import judgements_in
from ..predicates.judge.request import is_for_a_judge, request_for
from ..verdicts import Judgement, Verdict
from . import threads
from .budget import Budget
from .judge_barrier import of_this_work
from .judging import described
from .limiter import Limiter
from .limits import LimitReached
from .memo import Memo
from .replaying import UnusableReply
from .retries import Retries
from .transient import is_transient

if TYPE_CHECKING:  # a search without a store loads no SQLAlchemy
    from ..storing.opened import Opened

MALFORMED = (
    "the judge's reply had no well-formed opinion on this answer: yes, no or unsure under the answer's id"
)
GIVEN_UP = "the request to the judge was given up"
_TRIES = 2
"""Requests about the same answers before they are split."""


class Terms(NamedTuple):
    """What answers must have in common to go together; ``sample``: the number of the opinion."""

    jury: Jury
    matter: Matter
    sample: int


class Opinion(NamedTuple):
    """What was decided, and whether the answer was the only one that the judge saw with it."""

    judgement: Judgement
    is_alone: bool


@dataclass(slots=True, eq=False)
class Entry:
    """An answer that waits for an opinion."""

    answer: str
    is_alone: bool
    outcome: "asyncio.Future[Opinion]"
    taken: bool = False


class Tried(NamedTuple):
    """What came of one request."""

    reply: JudgeReply
    error: Exception | None = None


Pause: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(slots=True, eq=False)
class JudgeBatcher:
    """The judges of one explanation. For one event loop.

    ``limiter``: a request takes a slot as a replay does. ``pause``: waits before another try, or raises.
    ``stopped``: why nothing more is to be asked than what probes in flight need; empty while there is no
    reason. ``timeout``: seconds that a request may take. ``store``: where judgements are kept.
    """

    limiter: Limiter
    budget: Budget
    retries: Retries
    pause: Pause
    stopped: Callable[[], str]
    timeout: float | None = None
    store: "Opened | None" = None
    _memo: Memo[Opinion] = field(default_factory=Memo[Opinion])
    _dockets: dict[Terms, list[Entry]] = field(default_factory=dict[Terms, list[Entry]])
    _failures_in_a_row: int = 0
    _loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """From now on, it sits on the running loop."""
        self._loop = asyncio.get_running_loop()

    @property
    def is_here(self) -> bool:
        """True on the loop that it sits on: a replay may judge as well, on a loop of its own."""
        return asyncio.get_running_loop() is self._loop

    async def judgement(self, asked: Asked) -> Judgement:
        """The judgement, made once. Raises JudgeFailed, LimitReached, errors of this package.

        Where it was made among several answers, whoever is judging is told; see ``Company``.
        """
        key = asked.jury, asked.matter, asked.answer
        made, _ = await self._memo.get(key, self._made, asked)
        judging = company.get()
        if judging is not None and not made.is_alone:
            judging.is_mixed = True
        return made.judgement

    async def _made(self, asked: Asked) -> Opinion:
        return await self._stored(asked) or await self._decided(asked)

    async def _stored(self, asked: Asked) -> Opinion | None:
        name = asked.remembered_as
        if self.store is None or name is None:
            return None
        # One that was made alone is as good as any; one made among others is only for those who allow it.
        alone = await self.store.judgement(name, asked.memo_key)
        if alone is not None:
            return Opinion(alone, is_alone=True)
        if asked.jury.batch == ALONE:
            return None
        among = await self.store.judgement(among_others(name), asked.memo_key)
        return None if among is None else Opinion(among, is_alone=False)

    async def _decided(self, asked: Asked) -> Opinion:
        opinions: list[Opinion] = []
        judgements: list[Judgement] = []
        while (judgement := majority(judgements, asked.jury.samples)) is None:
            first = len(opinions)
            wanted = soonest(judgements, asked.jury.samples)
            opinions += await self._opinions(asked, range(first, first + wanted))
            judgements = [opinion.judgement for opinion in opinions]
        decided = Opinion(judgement, is_alone=all(opinion.is_alone for opinion in opinions))
        name = asked.remembered_as
        if self.store is not None and name is not None and judgement.verdict is not Verdict.UNKNOWN:
            kept_as = name if decided.is_alone else among_others(name)
            await self.store.put_judgement(kept_as, asked.memo_key, judgement)
        return decided

    async def _opinions(self, asked: Asked, samples: range) -> list[Opinion]:
        if len(samples) == 1:
            return [await self._opinion(asked, samples[0])]
        opinions: list[Opinion] = []
        failed: list[Exception] = []

        async def one(sample: int) -> None:
            try:
                opinions.append(await self._opinion(asked, sample))
            except Exception as error:
                failed.append(error)

        backlog = of_this_work.get()
        with backlog.split(len(samples)) if backlog else nullcontext():
            async with anyio.create_task_group() as group:
                for sample in samples:
                    group.start_soon(one, sample)
        if failed:
            raise failed[0]
        return opinions

    async def _opinion(self, asked: Asked, sample: int) -> Opinion:
        terms = Terms(asked.jury, asked.matter, sample)
        future: asyncio.Future[Opinion] = asyncio.get_running_loop().create_future()
        if asked.jury.batch == ALONE:
            # Nothing to wait for: every request finds a slot for itself.
            await self._confirm_votes(terms, [Entry(asked.answer, True, future)])
            return await future
        docket = self._dockets.setdefault(terms, [])
        entry = Entry(asked.answer, is_for_a_judge(asked.answer), future)
        docket.append(entry)
        try:
            if (backlog := of_this_work.get()) is not None:
                await backlog.park()
            async with self.limiter.aslot():
                taken = _taken(docket, entry, asked.jury.batch)
            if taken:
                await self._confirm_votes(terms, taken)
            return await future
        finally:
            if not entry.taken:
                docket.remove(entry)
            if not docket:
                self._dockets.pop(terms, None)

    async def _confirm_votes(self, terms: Terms, entries: list[Entry]) -> None:
        try:
            await self._resolve(terms, entries, _TRIES)
        except Exception as error:
            _fail(entries, error)
        except BaseException:
            _fail(entries, JudgeFailed(GIVEN_UP))
            raise

    async def _resolve(self, terms: Terms, entries: list[Entry], tries: int) -> None:
        """Asks, asks again about those that have no opinion yet, then about each half of them."""
        error: Exception = JudgeFailed(MALFORMED)
        for _ in range(tries):
            request = request_for(terms.matter, [entry.answer for entry in entries])
            tried = await self._asked(terms.jury, request)
            judged = judgements_in(tried.reply.content, request.ids) if tried.error is None else {}
            for identity, entry in zip(request.ids, entries, strict=True):
                if identity in judged and not entry.outcome.done():
                    alone = len(request.candidates) == 1
                    entry.outcome.set_result(Opinion(judged[identity], alone))
            entries = [entry for entry in entries if not entry.outcome.done()]
            self._check_alive(bool(judged), tried.error)
            if not entries:
                return
            if tried.error is not None:
                if isinstance(tried.error, UnusableReply):
                    error = JudgeFailed(tried.error.reason)
                    continue  # as with one that is malformed: fewer may fit into a whole reply
                error = JudgeFailed(f"the judge failed: {described(tried.error)}")
                error.__cause__ = tried.error
                if is_transient(tried.error):
                    _fail(entries, error)
                    return
                break
        if len(entries) == 1:
            _fail(entries, error)
            return
        # One answer may spoil it for all.
        half = (len(entries) + 1) // 2
        await self._resolve(terms, entries[:half], 1)
        await self._resolve(terms, entries[half:], 1)

    def _check_alive(self, told: bool, error: Exception | None) -> None:
        self._failures_in_a_row = 0 if told else self._failures_in_a_row + 1
        most = self.budget.limits.failures
        if most is not None and self._failures_in_a_row >= most:
            why = MALFORMED if error is None else described(error)
            raise LimitReached(
                f"the last {self._failures_in_a_row} requests to the judge all failed (limits.failures), "
                f"the last one with {why}"
            )

    async def _asked(self, jury: Jury, request: JudgeRequest) -> Tried:
        """What the judge says, tried again where that may help."""

        async def once() -> Tried:
            return await self._try(jury, request)

        tried = await once()
        if tried.error is None:
            return tried
        from .retrying import again  # most explanations never need it

        return await again(self.retries, tried, once, _cause, self.pause)

    async def _try(self, jury: Jury, request: JudgeRequest) -> Tried:
        async with self.limiter.aslot():
            backlog = of_this_work.get()
            if backlog is not None and not backlog.needed and self.stopped():
                raise LimitReached(self.stopped())
            self.budget.charge_judging()
            self.budget.judge_requests += 1
            try:
                with anyio.move_on_after(self.timeout):
                    reply = await answered(jury.judge, request, threads.shared().run)
                    models = reply.models or {jury.priced_as: reply.usage or {}}
                    self.budget.spend_judging(reply.usage, models)
                    return Tried(reply)
            except (RagRuleError, LimitReached):
                raise
            except Exception as error:
                if isinstance(error, UnusableReply):
                    models = error.models or {jury.priced_as: error.usage or {}}
                    self.budget.spend_judging(error.usage, models)
                return Tried(JudgeReply(None), error)
        return Tried(JudgeReply(None), TimeoutError(f"no answer within {self.timeout:g} seconds"))


def _taken(docket: list[Entry], entry: Entry, batch: int) -> list[Entry]:
    """The entry and what may go with it, taken off the docket; nothing where somebody took it before."""
    if entry.taken:
        return []
    others = [each for each in docket if each is not entry and not each.is_alone]
    taken = [entry] if entry.is_alone else [entry, *others[: batch - 1]]
    for each in taken:
        each.taken = True
        docket.remove(each)
    return taken


def _fail(entries: Iterable[Entry], error: Exception) -> None:
    for entry in entries:
        if not entry.outcome.done():
            entry.outcome.set_exception(error)
            # Who was cancelled does not look at it, and asyncio would complain of that.
            entry.outcome.exception()


def _cause(tried: Tried) -> Exception | None:
    return tried.error
