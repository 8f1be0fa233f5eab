"""This module probes arrangements (ordered lists of sources): it replays the application on an
arrangement and judges the answer."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple, cast

from ..sources import Arrangement, Source
from ..verdicts import Answer, Case, Judgement, Verdict
from .judging import Judging
from .reply import Reply
from .sampler import Sampler


class Ballot(NamedTuple):
    """A Ballot counts the votes on one arrangement (an ordered list of sources). The application answers
    the arrangement several times; each answer is a sample. The vote of a sample is the verdict of the
    base predicate (the predicate without its negation) on it.

    ``holds`` and ``breaks``: how many votes have these verdicts. ``outcome``: the judgement that the
    votes decide. ``representative``: one sample whose vote equals the outcome. ``agreeing``: the indices
    of all such samples.
    """

    replies: tuple[Reply, ...]
    holds: int
    breaks: int
    outcome: Judgement
    representative: Reply
    agreeing: frozenset[int] = frozenset()


class Probe(NamedTuple):
    """A Probe holds an arrangement (an ordered list of sources), the application's reply to it, and the
    judgement of the reply. ``ballot``: the vote that decided the judgement; None if there was no vote."""

    arrangement: Arrangement
    reply: Reply
    judgement: Judgement
    ballot: Ballot | None = None

    def without_answer(self) -> "Probe":
        """Returns a copy of this probe without its answers, which needs less memory."""
        silent = self.reply._replace(answer=None)
        ballot = None if self.ballot is None else self.ballot._replace(replies=(), representative=silent)
        return self._replace(reply=silent, ballot=ballot)


# Each of thousands of subsets has a case. ``Case(...)`` is slow, because the dataclass is frozen; setting
# its slots by these functions takes a third of the time.
_set_question, _set_baseline, _set_answer, _set_kept, _set_sources = (
    cast("Callable[[Case, object], None]", getattr(Case, each.name).__set__) for each in fields(Case)
)


@dataclass(frozen=True, slots=True, eq=False)
class Prober:
    """A Prober replays arrangements (ordered lists of sources) for one question, and judges the answers
    against the baseline.

    ``sources``: all sources of the question. ``without_sources``: a fixed answer to the arrangement
    without sources; None if the application is replayed on that arrangement too.
    """

    sampler: Sampler
    baseline: Answer
    sources: tuple[Source, ...] = ()
    without_sources: str | None = None

    async def probe(self, arrangement: Arrangement, judging: Judging) -> Probe:
        """Returns the probe of an arrangement (an ordered list of sources). Replays it only if its reply
        is not known yet. Raises LimitReached, and RagRuleError if the whole call must end."""
        if self.without_sources is None or arrangement.sources:
            replies, key = self.sampler.cache.memory_alone, arrangement.key
            if replies is None or not replies.begin(key):
                reply = await self.sampler.unchecked(arrangement)
            else:
                try:
                    reply = await self.sampler.replayer.run(arrangement)
                except BaseException:
                    replies.end(key, None)
                    raise
                replies.end(key, reply)
            if reply.answer is not None and reply.answer.finish_reason is not None:
                reply = self.sampler.replayer.counting(reply)
        else:
            reply = Reply(Answer(self.without_sources, note="answered without the application"))
        if reply.answer is None:
            return Probe(arrangement, reply, Judgement(Verdict.UNKNOWN, reply.error))
        question = self.sampler.replayer.question
        judgement = judging.known_of_texts(question, self.baseline, reply.answer)
        if judgement is None:
            case = self.case(arrangement, reply.answer)
            judgement = judging.known(case) or await judging.judge(case)
        if reply.traced is not None and not reply.traced.ended:
            await reply.traced.end(judging.turned(judgement), str(judging.base))
        return tuple.__new__(Probe, (arrangement, reply, judgement, None))  # pyright: ignore[reportUnknownMemberType] -- the types of the items are unknown

    def case(self, arrangement: Arrangement, answer: Answer) -> Case:
        """Returns the case that a predicate judges: the answer together with question, baseline and
        sources."""
        case = object.__new__(Case)
        _set_question(case, self.sampler.replayer.question)
        _set_baseline(case, self.baseline)
        _set_answer(case, answer)
        _set_kept(case, arrangement.sources)
        _set_sources(case, self.sources)
        return case

    def answers_itself(self, arrangement: Arrangement) -> bool:
        """Returns True iff the arrangement has no sources and a fixed answer, ``without_sources``, is
        set for it."""
        return self.without_sources is not None and not arrangement.sources
