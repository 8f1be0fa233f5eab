"""Several answers to one arrangement, and what they come to by vote. For one event loop."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import anyio

from ..predicates import Predicate
from ..predicates.wording import same_wording
from ..sources import Arrangement
from ..verdicts import Answer, Judgement, Verdict
from .judging import Judging
from .limits import LimitReached
from .memo import Memo
from .noise import Noise
from .prober import Ballot, Probe, Prober
from .reply import Reply


class Voting:
    """Probes as the prober does, and puts to the vote what the noise settings say is to be.

    A ballot belongs to an arrangement and a base predicate, so a predicate and its negation never both
    win one. Samples are numbered: the first is the one that is asked about anyway.

    They are drawn in blocks of as many as it takes at the least to decide, so no more are drawn than one
    by one. A jury is asked once a block, about the answers that it has not judged yet. Larger blocks
    would ask it less often and draw samples in vain, which cost more.
    """

    def __init__(self, prober: Prober, noise: Noise) -> None:
        self._prober = prober
        self._noise, self._count = noise, noise.count
        self._replies = Memo[Reply]()
        self._ballots = Memo[Ballot]()

    @property
    def votes(self) -> bool:
        """Whether anything is put to a vote."""
        return self._noise.votes

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """By vote where every arrangement is decided so, where it has been, and where one answer alone
        would break the condition. Raises what ``Prober.probe`` raises."""
        name, ballots = _name(arrangement, judging.base), self._ballots.known
        if self._noise.everywhere or name in ballots:
            return await self.poll(arrangement, judging)
        probe = await self._prober.probe(arrangement, judging)
        # Somebody else may have had a vote on it meanwhile, which stands against one answer.
        if probe.judgement.verdict is not Verdict.BREAKS and name not in ballots:
            return probe
        return await self.poll(arrangement, judging)

    async def poll(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """By vote. Raises what ``Prober.probe`` raises."""
        if self._prober.answers_itself(arrangement):
            return await self._prober.probe(arrangement, judging)
        make = partial(self._polled, judging)
        ballot, _ = await self._ballots.get(_name(arrangement, judging.base), make, arrangement)
        return Probe(arrangement, ballot.telling, judging.turned(ballot.outcome), ballot)

    async def modal(self, arrangement: Arrangement) -> Answer | None:
        """The answer that most of the samples give, worded as in the first of these; None without any.

        Draws no more samples once the others could not catch up.
        """
        replies: list[Reply] = []
        while True:
            answers = [reply.answer for reply in replies if reply.answer is not None]
            wordings = Counter(same_wording(answer.text) for answer in answers)
            first, second = [*(count for _, count in wordings.most_common(2)), 0, 0][:2]
            left = self._noise.samples - len(replies)
            # So many more would have to agree before it is decided.
            wanted = min(left, max(1, (left - (first - second)) // 2 + 1))
            if not left or first - second > left:
                break
            replies += await self._sampled(arrangement, len(replies), wanted)
        if not wordings:
            return None
        most = max(wordings, key=lambda wording: wordings[wording])
        return next(answer for answer in answers if same_wording(answer.text) == most)

    async def _polled(self, judging: Judging, arrangement: Arrangement) -> Ballot:
        replies: list[Reply] = []
        judged: list[Judgement] = []
        while True:
            seen = Counter(judgement.verdict for judgement in judged)
            holds, breaks, unknown = (seen[v] for v in (Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN))
            verdict = self._count.outcome(holds, breaks, unknown)
            if verdict is not None:
                break
            wanted = self._count.soonest(holds, breaks, unknown)
            some = await self._sampled(arrangement, len(replies), wanted)
            replies += some
            judged += await self._judged(some, arrangement, judging)
        telling = next((n for n, each in enumerate(judged) if each.verdict is verdict), 0)
        reason = judged[telling].reason
        if verdict is Verdict.UNKNOWN:
            votes = f"undecided after {len(judged)} samples: {holds} for it, {breaks} against"
            reason = f"{votes}; {reason}" if reason else votes
        return Ballot(tuple(replies), holds, breaks, Judgement(verdict, reason), replies[telling])

    async def _judged(
        self, replies: Sequence[Reply], arrangement: Arrangement, judging: Judging
    ) -> list[Judgement]:
        """What the base predicate says of each."""
        cases = [
            self._prober.case(arrangement, each.answer) for each in replies if each.answer is not None
        ]
        judged = iter(await judging.judge_all(cases))
        judgements = [
            Judgement(Verdict.UNKNOWN, each.error)
            if each.answer is None
            else judging.turned(next(judged))
            for each in replies
        ]
        for each, judgement in zip(replies, judgements, strict=True):
            if each.traced is not None:
                await each.traced.end(judgement, str(judging.base))
        return judgements

    async def _sampled(self, arrangement: Arrangement, first: int, count: int) -> list[Reply]:
        """So many samples from that number on, together. Raises LimitReached once there was a stop."""
        if self._prober.stop_reason:
            raise LimitReached(self._prober.stop_reason)
        if count == 1:
            return [await self._sample(arrangement, first)]
        replies: dict[int, Reply] = {}
        failed: list[Exception] = []

        async def one(number: int) -> None:
            try:
                replies[number] = await self._sample(arrangement, number)
            except Exception as error:
                failed.append(error)

        async with anyio.create_task_group() as together:
            for number in range(first, first + count):
                together.start_soon(one, number)
        if failed:
            raise failed[0]
        return [replies[number] for number in range(first, first + count)]

    async def _sample(self, arrangement: Arrangement, number: int) -> Reply:
        if number == 0:
            reply = await self._prober.sample(arrangement, 0)
        else:
            make = partial(self._prober.sample, number=number)
            reply, _ = await self._replies.get((arrangement.key, number), make, arrangement)
        self._prober.check_alive(reply)
        return reply


def _name(arrangement: Arrangement, base: Predicate) -> tuple[tuple[str, ...], Predicate]:
    return arrangement.key, base
