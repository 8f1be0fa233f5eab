"""This module votes on several answers to one arrangement. For one event loop."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from ..predicates import Predicate
from ..sources import Arrangement
from ..verdicts import Judgement, Verdict
from .judging import Judging
from .memo import Memo
from .noise import Noise
from .prober import Ballot, Probe, Prober
from .reply import Reply


class Voting:
    """A Voting probes arrangements like the prober, and votes on those that the noise settings name.

    A ballot belongs to an arrangement and a base predicate, so a predicate and its negation never both
    win it. Only this class keeps ballots. Samples are numbered; number 0 is the one that is probed
    anyway.

    Samples are drawn in blocks of the smallest number that can decide, so no sample is wasted. A jury
    gets one request per block. Larger blocks would save requests to the jury but waste samples, which
    cost more.
    """

    def __init__(self, prober: Prober, noise: Noise) -> None:
        self._prober = prober
        self._noise, self._count = noise, noise.count
        self._ballots = Memo[Ballot]()
        # The application is not replayed without sources, so one judgement is the outcome of a vote
        # there.
        self._without_sources: dict[Predicate, Verdict] = {}

    def outcome(self, arrangement: Arrangement, base: Predicate) -> Verdict | None:
        """Returns the outcome of the vote of this base predicate; None if there was no vote."""
        if self._prober.answers_itself(arrangement):
            return self._without_sources.get(base)
        ballot = self._ballots.known.get(_name(arrangement, base))
        return None if ballot is None else ballot.outcome.verdict

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Returns the probe of an arrangement, by vote if the settings vote on every arrangement, if
        there was a vote on it, or if its first answer breaks the condition. Raises the errors of
        ``Prober.probe``."""
        name, ballots = _name(arrangement, judging.base), self._ballots.known
        if self._noise.everywhere or name in ballots or self._prober.answers_itself(arrangement):
            return await self.poll(arrangement, judging)
        probe = await self._prober.probe(arrangement, judging)
        # Another search may have voted on it meanwhile; a vote outweighs one answer.
        if probe.judgement.verdict is not Verdict.BREAKS and name not in ballots:
            return probe
        return await self.poll(arrangement, judging)

    async def poll(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Returns the probe of an arrangement by vote. Raises the errors of ``Prober.probe``."""
        if self._prober.answers_itself(arrangement):
            probe = await self._prober.probe(arrangement, judging)
            self._without_sources[judging.base] = judging.turned(probe.judgement).verdict
            return probe
        make = partial(self._polled, judging)
        ballot, _ = await self._ballots.get(_name(arrangement, judging.base), make, arrangement)
        return Probe(arrangement, ballot.representative, judging.turned(ballot.outcome), ballot)

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
            drawn = await self._prober.sampler.several(arrangement, len(replies), wanted)
            replies += drawn
            judged += await self._judged(drawn, arrangement, judging)
        representative = next((n for n, each in enumerate(judged) if each.verdict is verdict), 0)
        reason = judged[representative].reason
        if verdict is Verdict.UNKNOWN:
            votes = f"undecided after {len(judged)} samples: {holds} for it, {breaks} against"
            reason = f"{votes}; {reason}" if reason else votes
        return Ballot(tuple(replies), holds, breaks, Judgement(verdict, reason), replies[representative])

    async def _judged(
        self, replies: Sequence[Reply], arrangement: Arrangement, judging: Judging
    ) -> list[Judgement]:
        """Returns the base predicate's judgement of each reply."""
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


def _name(arrangement: Arrangement, base: Predicate) -> tuple[tuple[str, ...], Predicate]:
    return arrangement.key, base
