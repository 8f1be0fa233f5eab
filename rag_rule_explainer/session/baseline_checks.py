"""This module checks that the baseline meets the conditions, and that the application repeats it."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger

from ..errors import AnswerNotRepeatable, BaselineFailed, ConditionFalse, RagRuleError
from ..predicates import Equals, Predicate, SameAnswer, negation_of
from ..predicates.inside import reads_only_value, sources_named_in
from ..predicates.only_calls import reads_calls
from ..printable import printable, shortened
from ..probing.deadlines import NO_ANSWER_IN_TIME
from ..probing.judging import Judging, error_text
from ..probing.limits import LimitReached
from ..probing.prober import Prober
from ..probing.replaying import Baseline
from ..probing.reply import Reply
from ..probing.tracing.marks import TracedReplay
from ..probing.voting import Voting
from ..rules import RuleKind
from ..sources import Arrangement, SourceSet
from ..sources.given import no_source
from ..verdicts import Answer, Case, Judgement, Verdict
from .baseline import Established
from .unrecorded_calls import without_calls

FALSE_CONDITION = (
    "with all sources the condition is not met: {holds}. The answer is {answer!r}. Rules then say on "
    "which sources it would be met, or not; to learn why it is not met here, explain its opposite "
    "(~contains('x') instead of contains('x'); on the command line not:contains:x)"
)
NO_VALUE = (
    "the condition reads the value of an answer, and the answer is a text, whose value is None; write "
    "case.answer.text, or let the application return structured output"
)
HOLDS_ANYHOW = (
    "with all sources the condition of omission rules is met already: {holds}. The answer is {answer!r}. "
    "So what is omitted need not be what brings it about"
)
_WAITS_FOR_EVER = "the application answered once, but no replay ended"
_MAKE_ANEW = (
    "It may wait for ever, such as for a lock that its first run did not release. Pass a function that "
    "makes the application for each run, or allow more time (timeout=, replay_bound=)"
)
_ALIKE = "the conditions judge both alike, and what follows is about what it answers now"
_LOG = getLogger(__name__)
_SAID = {Verdict.HOLDS: "holds", Verdict.BREAKS: "does not hold", Verdict.UNKNOWN: "cannot be judged"}


async def check_judgeable(
    established: Established, question: str, sources: SourceSet, judgings: Iterable[Judging]
) -> None:
    """Judges the baseline's answer by each predicate. Raises BaselineFailed if a predicate raises an
    error, since it would probably do so on every probe, and LimitReached if a limit ends the session."""
    answer = established.baseline.answer
    case = Case(question, answer, answer, sources.sources, sources.sources)
    for judging in judgings:
        try:
            judgement = await judging.ask(case)
            if established.traced is not None:
                await established.traced.end(judging.turned(judgement), str(judging.base))
        except (RagRuleError, LimitReached):
            raise
        except Exception as error:
            reply = getattr(error, "reply", "")
            said = f"; the reply begins with {reply}" if isinstance(reply, str) and reply else ""
            raise BaselineFailed(
                f"the predicate failed on the baseline's answer: {error_text(error)}{said}; "
                f"the answer was {shortened(answer.shown, 200)!r}"
            ) from error


async def judged_otherwise(
    question: str, sources: SourceSet, judgings: Iterable[Judging], first: Answer, second: Answer
) -> bool:
    """Returns True iff the verdict of a condition on the second answer differs from that on the first."""
    kept = sources.sources
    for judging in judgings:
        cases = [Case(question, first, each, kept, kept) for each in (first, second)]
        if len({(await judging.judge(case)).verdict for case in cases}) > 1:
            return True
    return False


@dataclass(frozen=True, slots=True)
class BaselineChecks:
    """A ``BaselineChecks`` checks a baseline before the searches begin, and adds texts for the user to
    ``warnings`` and ``notes``.

    ``judgings``: one ``Judging`` for each base predicate (a predicate without its negation). ``voting``:
    the object that decides by votes, if the settings require votes; else None. With votes, the
    application need not repeat each single answer.
    """

    established: Established
    sources: SourceSet
    prober: Prober
    voting: Voting | None
    judgings: Sequence[Judging]
    warnings: list[str]
    notes: list[str]
    only_begun: Callable[[], Awaitable[bool]]

    @property
    def baseline(self) -> Baseline:
        """Returns the baseline to check."""
        return self.established.baseline

    @property
    def question(self) -> str:
        """Returns the question of the baseline."""
        return self.prober.sampler.replayer.question

    @property
    def _full(self) -> Arrangement:
        return Arrangement.of(self.sources, self.sources.full)

    async def check_true(self, judgings: Mapping[RuleKind, Judging], *, raises: bool) -> None:
        """Warns if the condition of retention rules does not hold for the baseline's answer, or if the
        condition of omission rules already holds for it.

        If the baseline's answer is from a log, and the application's current answer has a different
        verdict, there is no such warning: ``check_repeatable`` warns about the difference. ``raises``:
        True to raise ConditionFalse instead of a warning.
        """
        kept, baseline = self.sources.sources, self.baseline
        against = baseline.answer
        answers = [baseline.answer, *([baseline.current] if baseline.logged and baseline.current else [])]
        cases = [Case(self.question, against, answer, kept, kept) for answer in answers]
        untrue: dict[Predicate, tuple[str, str]] = {}
        for kind, judging in judgings.items():
            verdicts = {(judging.known(case) or await judging.judge(case)).verdict for case in cases}
            is_retention = kind is RuleKind.RETENTION
            if verdicts == {Verdict.of(not is_retention)}:
                holds = negation_of(judging.predicate) if is_retention else str(judging.predicate)
                is_own = not is_retention and not judging.is_negation
                untrue.setdefault(judging.base, (HOLDS_ANYHOW if is_own else FALSE_CONDITION, holds))
        bases = [judging.base for judging in judgings.values()]
        unknown = list(self._unknown_sources(bases))
        if against.value is None and not against.unread and any(map(reads_only_value, bases)):
            unknown.append(NO_VALUE)
        if against.calls is None and any(map(reads_calls, bases)):
            is_stored = self.prober.sampler.replayer.budget.stored > 0
            unknown.append(without_calls(self.established, is_stored=is_stored))
        self.warnings[:0] = unknown
        for text, holds in untrue.values():
            warning = text.format(holds=holds, answer=shortened(answers[-1].shown, 200))
            if raises:
                raise ConditionFalse(". ".join([warning, *unknown]))
            # An explanation may take hours and cost much, and the user sees its warnings only at the end.
            # So this warning is also logged at once. With several conditions, it is not logged: two of
            # them may be opposites, and then one of the two always causes this warning.
            if not self.prober.sampler.cache.is_shared:
                _LOG.warning("%s", printable(warning))
            self.warnings.insert(0, warning)

    def _unknown_sources(self, predicates: Iterable[Predicate]) -> Iterator[str]:
        """Yields a warning for each source id that a condition names and that does not exist. Such a
        condition has the same verdict on every answer, so its rules would mislead."""
        ids = self.sources.ids
        named = dict.fromkeys(name for each in predicates for name in sources_named_in(each))
        for name in named:
            if name not in ids:
                yield f"the condition names {no_source([name], ids)}"

    async def check_repeatable(self, *, wanted: bool) -> None:
        """Replays the full set again. Raises AnswerNotRepeatable if a predicate has another verdict on
        the new answer.

        If the baseline is from a log and the application now answers differently, there is only a
        warning. With votes, the majority of answers decides whether it answers differently. ``wanted``:
        False to compare only with the log, and not to replay the full set again. Raises LimitReached if a
        limit ends the session.
        """
        sampler, baseline = self.prober.sampler, self.baseline
        if sampler.replayer.stopper.reason:
            return
        first = baseline.current
        if baseline.logged and first is not None:
            await self._compare_with_log(first)
        if not wanted and (first is not None or not baseline.logged):
            return
        stored = (budget := sampler.replayer.budget).stored
        reply = await sampler.cache.sample(self._full, 0 if first is None else 1, self._once_more)
        if budget.stored > stored and self._is_uncompared() and await self.only_begun():
            # An earlier explanation stored this answer, but was cut off before it stored the fingerprint
            # with which a change of the application would be noticed.
            reply = await self._run_again(self._full)
        if reply.answer is None:
            if _took_too_long(reply):
                await self._check_replays_end()
            self.notes.append(f"the repeat check failed: {reply.error}")
            return
        sampler.cache.remember(self._full, reply)
        if baseline.logged and first is None:
            await self._compare_with_log(reply.answer)
        else:
            await self._compare(first or baseline.answer, reply.answer, reply.traced)

    async def _check_replays_end(self) -> None:
        """Raises BaselineFailed if a replay without the last source takes too long. The replay on all
        sources took too long before, so probably every replay would, and a search would be useless."""
        fewer = next(self.sources.lattice.one_fewer(self.sources.full), self.sources.none)
        if fewer == self.sources.none:
            return
        reply = await self.prober.sampler.first(Arrangement.of(self.sources, fewer))
        if _took_too_long(reply):
            raise BaselineFailed(f"{_WAITS_FOR_EVER}: {reply.error}. {_MAKE_ANEW}")

    async def _compare(self, first: Answer, second: Answer, traced: TracedReplay | None) -> None:
        for judging in self.judgings:
            verdicts = await self._verdicts(judging, first, second)
            if traced is not None:
                judgement = Judgement(verdicts[1])
                await traced.end(judging.turned(judgement), str(judging.base))
            if {Verdict.HOLDS, Verdict.BREAKS} <= set(verdicts):
                await self._check_held_out(first, second)
                raise AnswerNotRepeatable(
                    str(judging.base),
                    (first.text, second.text),
                    self.baseline.notes,
                    about_wording=isinstance(judging.base, (SameAnswer, Equals)),
                )

    async def _check_held_out(self, first: Answer, second: Answer) -> None:
        """Raises UnseenSourcesNeeded if the answer changes because replays lack the retrieved sources
        that no model saw in the baseline.

        ``first``: the baseline's answer. ``second``: the different answer of a replay on all sources. One
        more replay decides: if its answer is equal to ``second``, the change does not come from the
        model's randomness.
        """
        baseline = self.baseline
        if baseline.unseen_needed is None or not baseline.held_out:
            return
        try:
            again = await self._run_again(self._full)
        except LimitReached:
            return  # the caller then raises AnswerNotRepeatable, because the answer did change
        if again.answer is not None and again.answer.text == second.text:
            texts = (shortened(each.text, 200) for each in (first, second))
            raise baseline.unseen_needed("the answer was {!r} before, and twice {!r} now".format(*texts))

    def _is_uncompared(self) -> bool:
        """Returns True iff replays could be compared with the baseline, but neither this explanation nor
        an earlier one has compared any replay."""
        fidelity = self.baseline.fidelity
        return fidelity is not None and bool(fidelity.fingerprint) and not fidelity.is_comparable

    async def _once_more(self, arrangement: Arrangement) -> Reply:
        # The baseline may be from the store. If the application has also answered during this
        # explanation, this new answer is used as the second answer, which saves a replay.
        fresh = self.established.fresh
        return await self._run_again(arrangement) if fresh is None else Reply(fresh)

    async def _run_again(self, arrangement: Arrangement) -> Reply:
        replayer = self.prober.sampler.replayer

        def count() -> None:
            replayer.charge()
            replayer.budget.repeat_check += 1

        return await replayer.run(arrangement, count, "repeat check")

    async def _compare_with_log(self, current: Answer) -> None:
        logged, is_other = self.baseline.answer, False
        for judging in self.judgings:
            then, now = await self._verdicts(judging, logged, current)
            answer = current
            if then is not now and self.voting is not None:
                # A single answer that differs may be an exception, so a vote decides.
                probe = await self.voting.poll(self._full, judging)
                now, answer = probe.judgement.verdict, probe.reply.answer or current
            if then is not now:
                is_other = True
                self.warnings.append(
                    f"the logged answer is not what the application answers on these sources now: "
                    f"{str(judging.predicate)!r} {_SAID[then]} for {shortened(logged.text, 200)!r} and "
                    f"{_SAID[now]} for {shortened(answer.text, 200)!r}. What follows is about what it "
                    "answers now"
                )
        if not is_other and logged.text.split() != current.text.split():
            self.notes.append(
                f"the application now words its answer otherwise than the logged one: {_ALIKE}. Logged: "
                f"{shortened(logged.text, 200)!r}; now: {shortened(current.text, 200)!r}"
            )

    async def _verdicts(self, judging: Judging, first: Answer, second: Answer) -> list[Verdict]:
        kept, against = self.sources.sources, self.prober.baseline
        cases = [Case(self.question, against, answer, kept, kept) for answer in (first, second)]
        verdicts = [(await judging.judge(case)).verdict for case in cases]
        if Verdict.UNKNOWN in verdicts:
            # A verdict may be UNKNOWN only because the limit of seconds is reached. Such a verdict says
            # nothing about the answer.
            self.prober.sampler.replayer.stopper.check()
        return verdicts


def _took_too_long(reply: Reply) -> bool:
    return str(reply.error).startswith(NO_ANSWER_IN_TIME)
