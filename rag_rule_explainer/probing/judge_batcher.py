"""This module collects answers into requests to a judge, so that each answer is judged once.

A *jury* is a judge with its settings, and a *matter* is what the judge must decide. An answer has a
request of its own unless its jury allows batches. No answer waits until a batch is full. When an answer
may be sent (it has a slot of the limiter), its request also takes the other answers that wait for the
same jury and the same matter. Answers that are all known beforehand wait for each other. A judgement from
a request with several answers is marked as such, also in the store.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import anyio

from ..predicates.judge.jury import ALONE, JudgeQuestion, Jury, among_others, company, current_batcher
from ..predicates.judge.majority import majority, soonest
from ..predicates.judge.protocol import Matter
from ..predicates.judge.request import is_for_a_judge
from ..verdicts import Judgement, Verdict
from .judge_barrier import of_this_work
from .judge_requests import DecidedOpinion, JudgeRequests, WaitingAnswer
from .memo import Memo

if TYPE_CHECKING:  # imported only for its types, since a search without a store needs no SQLAlchemy
    from ..storing.opened import Opened


class Terms(NamedTuple):
    """The ``Terms`` are what all answers in one request have in common. ``jury``: the judge and its
    settings. ``matter``: what the judge must decide. ``sample``: the number of the opinion, since a jury
    may request several opinions on one answer."""

    jury: Jury
    matter: Matter
    sample: int


@dataclass(slots=True, eq=False)
class JudgeBatcher:
    """This class collects the answers of one explanation into requests to its judges. It belongs to
    the event loop on which it was made. ``store``: keeps judgements for later explanations; None for
    no store."""

    requests: JudgeRequests
    store: "Opened | None" = None
    _memo: Memo[DecidedOpinion] = field(default_factory=Memo[DecidedOpinion])
    _waiting: dict[Terms, list[WaitingAnswer]] = field(default_factory=dict[Terms, list[WaitingAnswer]])
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    @contextmanager
    def at_work(self) -> Generator[None, None, None]:
        """Sends every answer that is judged during the block to this batcher."""
        before, around = current_batcher.set(self), of_this_work.set(None)
        try:
            yield
        finally:
            current_batcher.reset(before)
            of_this_work.reset(around)

    @property
    def is_here(self) -> bool:
        """Returns True iff the caller runs on the event loop of this batcher. A replay may run on
        another event loop, and cannot use the batcher from there."""
        return asyncio.get_running_loop() is self._loop

    async def judgement(self, asked: JudgeQuestion) -> Judgement:
        """Returns the judge's judgement of one answer. The judge is asked only once about the same
        answer; later calls return the remembered judgement. If the request to the judge had several
        answers, records this in the current ``Company``, so that no rule that depends on this judgement
        is called proved. Raises JudgeFailed if the judge gives no judgement, LimitReached if a limit
        forbids the request, and RagRuleError for an error that must end the whole explanation."""
        key = asked.jury, asked.matter, asked.answer
        made, _ = await self._memo.get(key, self._made, asked)
        judging = company.get()
        if judging is not None and not made.is_alone:
            judging.is_mixed = True
        return made.judgement

    async def _made(self, asked: JudgeQuestion) -> DecidedOpinion:
        return await self._stored(asked) or await self._decided(asked)

    async def _stored(self, asked: JudgeQuestion) -> DecidedOpinion | None:
        name = asked.remembered_as
        if self.store is None or name is None:
            return None
        # A judgement from a request with a single answer can always be used. A judgement from a request
        # with several answers can be used only if the settings of the judge (the jury) allow batches.
        alone = await self.store.judgement(name, asked.memo_key)
        if alone is not None:
            return DecidedOpinion(alone, is_alone=True)
        if not asked.jury.may_mix:
            return None
        among = await self.store.judgement(among_others(name), asked.memo_key)
        return None if among is None else DecidedOpinion(among, is_alone=False)

    async def _decided(self, asked: JudgeQuestion) -> DecidedOpinion:
        opinions: list[DecidedOpinion] = []
        judgements: list[Judgement] = []
        while (judgement := majority(judgements, asked.jury.samples)) is None:
            first = len(opinions)
            wanted = soonest(judgements, asked.jury.samples)
            opinions += await self._opinions(asked, range(first, first + wanted))
            judgements = [opinion.judgement for opinion in opinions]
        decided = DecidedOpinion(judgement, is_alone=all(opinion.is_alone for opinion in opinions))
        name = asked.remembered_as
        if self.store is not None and name is not None and judgement.verdict is not Verdict.UNKNOWN:
            kept_as = name if decided.is_alone else among_others(name)
            await self.store.put_judgement(kept_as, asked.memo_key, judgement)
        return decided

    async def _opinions(self, asked: JudgeQuestion, samples: range) -> list[DecidedOpinion]:
        if len(samples) == 1:
            return [await self._opinion(asked, samples[0])]
        opinions: list[DecidedOpinion] = []
        failed: list[Exception] = []

        async def add_opinion(sample: int) -> None:
            try:
                opinions.append(await self._opinion(asked, sample))
            except Exception as error:
                failed.append(error)

        backlog = of_this_work.get()
        with backlog.split(len(samples)) if backlog else nullcontext():
            async with anyio.create_task_group() as group:
                for sample in samples:
                    group.start_soon(add_opinion, sample)
        if failed:
            raise failed[0]
        return opinions

    async def _opinion(self, asked: JudgeQuestion, sample: int) -> DecidedOpinion:
        terms = Terms(asked.jury, asked.matter, sample)
        future: asyncio.Future[DecidedOpinion] = asyncio.get_running_loop().create_future()
        if asked.jury.batch == ALONE:
            # Without batches, there are no other answers to wait for. The call of ``decide`` waits by
            # itself until the limiter lets it run.
            await self.requests.decide(
                terms.jury, terms.matter, [WaitingAnswer(asked.answer, True, future)]
            )
            return await future
        waiting = self._waiting.setdefault(terms, [])
        entry = WaitingAnswer(asked.answer, is_for_a_judge(asked.answer), future)
        waiting.append(entry)
        try:
            if (backlog := of_this_work.get()) is not None:
                await backlog.wait_for_others()
            async with self.requests.limiter.aslot():
                taken = _taken(waiting, entry, asked.jury.batch)
            if taken:
                await self.requests.decide(terms.jury, terms.matter, taken)
            return await future
        finally:
            if not entry.taken:
                waiting.remove(entry)
            if not waiting:
                self._waiting.pop(terms, None)


def _taken(waiting: list[WaitingAnswer], entry: WaitingAnswer, batch: int) -> list[WaitingAnswer]:
    """Removes the answers of the next request from ``waiting``, and returns them: ``entry`` and at
    most ``batch - 1`` others. Returns an empty list if an earlier request already has ``entry``."""
    if entry.taken:
        return []
    others = [each for each in waiting if each is not entry and not each.is_alone]
    taken = [entry] if entry.is_alone else [entry, *others[: batch - 1]]
    for each in taken:
        each.taken = True
        waiting.remove(each)
    return taken
