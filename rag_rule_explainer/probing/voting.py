"""This module decides the verdict on an arrangement (an ordered list of sources) by a vote over several
answers to it."""

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
    """A Voting probes arrangements (ordered lists of sources), and decides by vote where the noise
    settings require it. It belongs to one event loop.

    There is one ballot for each arrangement and base predicate (a predicate without its negation). A
    predicate and its negation share this ballot, so that a vote never says that both of them hold. All
    ballots are kept in this object. The answers to an arrangement are its samples, numbered from 0;
    number 0 is the answer of a probe without a vote.

    Each step draws the smallest number of samples that can decide the vote, so no sample is wasted. If a
    judge (a model) decides about answers, it gets the answers of one step in one request. Larger steps
    would save such requests but waste samples, which cost more.
    """

    def __init__(self, prober: Prober, noise: Noise) -> None:
        self._prober = prober
        self._noise, self._count = noise, noise.count
        self._ballots = Memo[Ballot]()
        # The user may have set a fixed answer for the empty set of sources. This answer never varies, so
        # one judgement of it replaces the vote. These judgements are kept here, by base predicate.
        self._without_sources: dict[Predicate, Verdict] = {}

    @property
    def is_wanted(self) -> bool:
        """Returns True iff votes decide verdicts."""
        return self._noise.votes

    def outcome(self, arrangement: Arrangement, base: Predicate) -> Verdict | None:
        """Returns the outcome of the vote on this arrangement (an ordered list of sources); None if there
        was none. ``base``: the predicate without its negation."""
        if self._prober.answers_itself(arrangement):
            return self._without_sources.get(base)
        ballot = self._ballots.known.get(_name(arrangement, base))
        return None if ballot is None else ballot.outcome.verdict

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Returns the probe of an arrangement (an ordered list of sources), judged by one answer or by a
        vote.

        A vote decides if the settings vote on every arrangement, if there was a vote on this one before,
        or if its first answer breaks the condition. Raises the errors of ``Prober.probe``.
        """
        name, ballots = _name(arrangement, judging.base), self._ballots.known
        if self._noise.everywhere or name in ballots or self._prober.answers_itself(arrangement):
            return await self.poll(arrangement, judging)
        probe = await self._prober.probe(arrangement, judging)
        # During the await, another search may have voted on the arrangement. A vote is more reliable than
        # one answer, so the outcome of the vote is then used.
        if probe.judgement.verdict is not Verdict.BREAKS and name not in ballots:
            return probe
        return await self.poll(arrangement, judging)

    async def poll(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Returns the probe of an arrangement (an ordered list of sources), decided by a vote. Each
        arrangement is voted on only once for each base predicate (a predicate without its negation).
        Raises the errors of ``Prober.probe``."""
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
        agreeing = frozenset(n for n, each in enumerate(judged) if each.verdict is verdict)
        representative = min(agreeing, default=0)
        reason = judged[representative].reason
        if verdict is Verdict.UNKNOWN:
            votes = f"undecided after {len(judged)} samples: {holds} for it, {breaks} against"
            reason = f"{votes}; {reason}" if reason else votes
        outcome, shown = Judgement(verdict, reason), replies[representative]
        return Ballot(tuple(replies), holds, breaks, outcome, shown, agreeing)

    async def _judged(
        self, replies: Sequence[Reply], arrangement: Arrangement, judging: Judging
    ) -> list[Judgement]:
        """Returns the judgement of each reply by the base predicate (the predicate without its
        negation)."""
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
