"""This module probes arrangements: a probe is one replay of an arrangement, with the judgement of its
answer."""

from dataclasses import dataclass
from typing import NamedTuple

from ..sources import Arrangement, Source
from ..verdicts import Answer, Case, Judgement, Verdict
from .judging import Judging
from .reply import Reply
from .sampler import Sampler


class Ballot(NamedTuple):
    """A Ballot holds the samples of one arrangement and the outcome of one base predicate's votes on
    them.

    ``holds`` and ``breaks``: numbers of votes. ``representative``: a sample whose verdict is the outcome.
    """

    replies: tuple[Reply, ...]
    holds: int
    breaks: int
    outcome: Judgement
    representative: Reply


class Probe(NamedTuple):
    """A Probe is one arrangement, replayed and judged; ``ballot``: the votes, or None without a vote."""

    arrangement: Arrangement
    reply: Reply
    judgement: Judgement
    ballot: Ballot | None = None

    def without_answer(self) -> "Probe":
        """Returns this probe without its answers, which take memory."""
        silent = self.reply._replace(answer=None)
        ballot = None if self.ballot is None else self.ballot._replace(replies=(), representative=silent)
        return self._replace(reply=silent, ballot=ballot)


@dataclass(frozen=True, slots=True, eq=False)
class Prober:
    """A Prober probes arrangements for one question, and judges their answers against the baseline.

    ``sources``: all sources of the question. ``without_sources``: the answer to the empty arrangement,
    which is then not replayed; None: it is replayed.
    """

    sampler: Sampler
    baseline: Answer
    sources: tuple[Source, ...] = ()
    without_sources: str | None = None

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Returns the probe of an arrangement, replayed unless its reply is known. Raises LimitReached,
        RagRuleError."""
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
        """Returns the case for a predicate: the answer with its question, baseline and sources."""
        question = self.sampler.replayer.question
        return Case(question, self.baseline, answer, arrangement.sources, self.sources)

    def answers_itself(self, arrangement: Arrangement) -> bool:
        """Returns True iff the arrangement is empty and ``without_sources`` is its answer."""
        return self.without_sources is not None and not arrangement.sources
