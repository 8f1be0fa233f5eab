"""Arrangement -> answer -> predicate -> probe."""

from dataclasses import dataclass
from typing import NamedTuple

from ..sources import Arrangement, Source
from ..verdicts import Answer, Case, Judgement, Verdict
from .judging import Judging
from .reply import Reply
from .sampler import Sampler


class Ballot(NamedTuple):
    """This class represents the samples of one arrangement, and how one base predicate's votes on them
    came out.

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
        """Returns the same, but for the answers' memory."""
        silent = self.reply._replace(answer=None)
        ballot = None if self.ballot is None else self.ballot._replace(replies=(), telling=silent)
        return self._replace(reply=silent, ballot=ballot)


@dataclass(frozen=True, slots=True, eq=False)
class Prober:
    """Probes arrangements for one question: what is answered, judged against the baseline.

    ``sources``: all that arrangements are made of. ``without_sources``: the answer to the empty
    arrangement, instead of asking the application.
    """

    sampler: Sampler
    baseline: Answer
    sources: tuple[Source, ...] = ()
    without_sources: str | None = None

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Replays where needed, and judges. Raises LimitReached, and errors of this package only."""
        if self.without_sources is None or arrangement.sources:
            reply = await self.sampler.first(arrangement)
        else:
            reply = Reply(Answer(self.without_sources, note="answered without the application"))
        if reply.answer is None:
            return Probe(arrangement, reply, Judgement(Verdict.UNKNOWN, reply.error))
        case = self.case(arrangement, reply.answer)
        judgement = judging.known(case) or await judging.judge(case)
        if reply.traced is not None and not reply.traced.ended:
            await reply.traced.end(judging.turned(judgement), str(judging.base))
        return Probe(arrangement, reply, judgement)

    def case(self, arrangement: Arrangement, answer: Answer) -> Case:
        """Returns what a predicate judges of an answer."""
        question = self.sampler.replayer.question
        return Case(question, self.baseline, answer, arrangement.sources, self.sources)

    def answers_itself(self, arrangement: Arrangement) -> bool:
        """Returns True iff the application is not asked about it."""
        return self.without_sources is not None and not arrangement.sources
