"""What several answers to one arrangement come to by vote. For one event loop."""

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
    """Probes as the prober does, and puts to the vote what the noise settings say is to be.

    A ballot belongs to an arrangement and a base predicate, so a predicate and its negation never both
    win one. All votes are kept here, and nowhere else. Samples are numbered: the first is the one that is
    asked about anyway.

    They are drawn in blocks of as many as it takes at the least to decide, so no more are drawn than one
    by one. A jury is asked once a block, about the answers that it has not judged yet. Larger blocks
    would ask it less often and draw samples in vain, which cost more.
    """

    def __init__(self, prober: Prober, noise: Noise) -> None:
        self._prober = prober
        self._noise, self._count = noise, noise.count
        self._ballots = Memo[Ballot]()
        # Where no source is shown nobody would vote otherwise, so that is what a vote would come to.
        self._foregone: dict[Predicate, Verdict] = {}

    def outcome(self, arrangement: Arrangement, base: Predicate) -> Verdict | None:
        """Returns what a vote of this base predicate has come to; None where there was none."""
        if self._prober.answers_itself(arrangement):
            return self._foregone.get(base)
        ballot = self._ballots.known.get(_name(arrangement, base))
        return None if ballot is None else ballot.outcome.verdict

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """By vote where every arrangement is decided so, where it has been, and where one answer alone
        would break the condition. Raises what ``Prober.probe`` raises."""
        name, ballots = _name(arrangement, judging.base), self._ballots.known
        if self._noise.everywhere or name in ballots or self._prober.answers_itself(arrangement):
            return await self.poll(arrangement, judging)
        probe = await self._prober.probe(arrangement, judging)
        # Somebody else may have had a vote on it meanwhile, which stands against one answer.
        if probe.judgement.verdict is not Verdict.BREAKS and name not in ballots:
            return probe
        return await self.poll(arrangement, judging)

    async def poll(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """By vote. Raises what ``Prober.probe`` raises."""
        if self._prober.answers_itself(arrangement):
            probe = await self._prober.probe(arrangement, judging)
            self._foregone[judging.base] = judging.turned(probe.judgement).verdict
            return probe
        make = partial(self._polled, judging)
        ballot, _ = await self._ballots.get(_name(arrangement, judging.base), make, arrangement)
        return Probe(arrangement, ballot.telling, judging.turned(ballot.outcome), ballot)

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
            some = await self._prober.sampler.several(arrangement, len(replies), wanted)
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
        """Returns what the base predicate says of each."""
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
