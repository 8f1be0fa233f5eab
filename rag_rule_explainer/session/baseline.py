"""How an session begins: the answer to explain, and whether it can be judged and repeats itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from logging import getLogger

from ..errors import AnswerNotRepeatable, BaselineFailed, ConditionFalse, RagRuleError
from ..predicates import Equals, Predicate, SameAnswer, negation_of
from ..predicates.inside import sources_named_in
from ..predicates.wording import same_wording
from ..printable import printable, shortened
from ..probing.judging import Judging, described
from ..probing.limits import LimitReached
from ..probing.prober import Prober
from ..probing.replaying import EMPTY, Baseline, said_nothing
from ..probing.reply import Reply
from ..probing.tracing.marks import TracedReplay
from ..probing.voting import Voting
from ..rules import RuleKind
from ..sources import Arrangement, SourceSet, no_source
from ..verdicts import Answer, Case, Judgement, Verdict

FALSE_CONDITION = (
    "with all sources the condition is not met: {holds}. The answer is {answer!r}. Rules then say what "
    "would change that; they do not explain this answer"
)
HOLDS_ANYHOW = (
    "with all sources the condition of omission rules is met already: {holds}. The answer is {answer!r}. "
    "So what is omitted need not be what brings it about"
)
_LOG = getLogger(__name__)
_SAID = {Verdict.HOLDS: "holds", Verdict.BREAKS: "does not hold", Verdict.UNKNOWN: "cannot be judged"}


@dataclass(slots=True, repr=False)
class BaselineSetup:
    """``judgings``: one for each base predicate. What it has to say goes to ``warnings`` and
    ``notes``."""

    sources: SourceSet
    prober: Prober
    voting: Voting
    judgings: Sequence[Judging]
    warnings: list[str]
    notes: list[str]
    _fresh: Answer | None = field(init=False, default=None)
    _traced: TracedReplay | None = field(init=False, default=None)

    @property
    def _full(self) -> Arrangement:
        return Arrangement.of(self.sources, self.sources.lattice.full)

    async def baseline(self, given: Baseline | None) -> Baseline:
        """The baseline, from whoever has it: the caller, the store, the application.

        Raises BaselineFailed.
        """
        baseline = await self._asked() if given is None else await self._noted(given)
        self._check_whole(baseline)
        if baseline.current is not None:
            # Otherwise the full set is probed like any other.
            self.prober.cache.remember(self._full, Reply(baseline.current))
        self.prober.baseline = baseline.answer
        return baseline

    def _check_whole(self, baseline: Baseline) -> None:
        """Raises BaselineFailed where the application's answer is none; one from a log is what it is."""
        current = baseline.current
        if current is None:
            return
        fault = self.prober.fault_in(current) or (EMPTY if said_nothing(current) else "")
        if fault:
            raise BaselineFailed(f"{fault}, so there is nothing to explain; make it answer first")

    async def modal(self, baseline: Baseline) -> Baseline:
        """The same, about the answer that most samples on all sources give. A logged one stays.

        Raises LimitReached.
        """
        if baseline.logged:
            return baseline
        answer = await self.voting.modal(self._full)
        if answer is None or same_wording(answer.text) == same_wording(baseline.answer.text):
            return baseline
        self.notes.append(
            f"explained is what most of the samples on all sources say, {shortened(answer.text, 200)!r}; "
            f"the first one said {shortened(baseline.answer.text, 200)!r}"
        )
        self.prober.baseline = answer
        return replace(baseline, answer=answer)

    async def _asked(self) -> Baseline:
        prober = self.prober
        before = prober.budget.replays

        def count() -> None:
            if prober.stop_reason:
                raise LimitReached(prober.stop_reason)
            prober.budget.baseline += 1

        async def make(arrangement: Arrangement) -> Reply:
            return await prober.run(arrangement, count, "baseline")

        failed = f"the application failed on all {len(self.sources)} sources, so there is no answer"
        try:
            reply = await prober.cache.sample(self._full, 0, make)
        except LimitReached as limit:
            cause = limit.__cause__
            why = "" if cause is None else f": {Reply(None, cause=cause).error}"
            raise BaselineFailed(
                f"{failed} to explain, and it was not asked again ({limit}){why}"
            ) from cause
        if isinstance(reply.cause, RagRuleError):
            raise reply.cause
        if reply.answer is None:
            raise BaselineFailed(
                f"{failed} to explain; make it answer first: {reply.error}"
            ) from reply.cause
        self._traced = reply.traced
        return Baseline(reply.answer, reply.answer, replays=prober.budget.replays - before)

    async def _noted(self, given: Baseline) -> Baseline:
        """What the caller hands over; where the store has an answer to the same, that one.

        Rules that were found about an answer are only resumed about that answer.
        """
        budget = self.prober.budget
        if given.longest is not None:
            self.prober.bound_seconds(given.longest)
        budget.baseline += given.replays
        budget.spend(given.usage, given.models)
        for failed in given.failed:
            budget.retries += 1
            budget.spend(failed.usage, failed.models)
        budget.started -= given.seconds
        if given.current is None:
            return given
        first, is_this = await self.prober.cache.offered(self._full, given.current)
        if is_this:
            return given
        if given.fidelity is None or not given.fidelity.unchecked:
            self._fresh = given.current
        if first.text != given.current.text:
            self.notes.append(
                f"explained is the store's answer on these sources, {shortened(first.text, 200)!r}; "
                f"asked again, the application says {shortened(given.current.text, 200)!r}"
            )
        return replace(given, answer=given.answer if given.logged else first, current=first)

    async def check_judgeable(self, question: str, answer: Answer) -> None:
        """A predicate that fails on the baseline would fail on every probe. Raises BaselineFailed."""
        case = Case(question, answer, answer, self.sources.sources, self.sources.sources)
        for judging in self.judgings:
            try:
                judgement = await judging.ask(case)
                if self._traced is not None:
                    await self._traced.end(judging.turned(judgement), str(judging.base))
            except RagRuleError:
                raise
            except Exception as error:
                raise BaselineFailed(
                    f"the predicate failed on the baseline's answer: {described(error)}; "
                    f"the answer was {shortened(answer.text, 200)!r}"
                ) from error

    async def check_true(
        self, baseline: Baseline, searched: Sequence[tuple[RuleKind, Judging]], *, raises: bool
    ) -> None:
        """Says so where a condition is not true of the baseline's answer, or already that of omissions.

        Of one from a log and of the one that is given now: where these differ, that is what is said.
        Raises ConditionFalse where ``raises``.
        """
        kept, against = self.sources.sources, baseline.answer
        answers = [baseline.answer, *([baseline.current] if baseline.logged and baseline.current else [])]
        cases = [Case(self.prober.question, against, answer, kept, kept) for answer in answers]
        told: dict[Predicate, tuple[str, str]] = {}
        for kind, judging in searched:
            verdicts = {(judging.known(case) or await judging.judge(case)).verdict for case in cases}
            of_retention = kind is RuleKind.RETENTION
            if verdicts == {Verdict.of(not of_retention)}:
                holds = negation_of(judging.predicate) if of_retention else str(judging.predicate)
                is_own = not of_retention and not judging.is_negation
                told.setdefault(judging.base, (HOLDS_ANYHOW if is_own else FALSE_CONDITION, holds))
        strangers = list(self._strangers([judging.base for _, judging in searched]))
        self.warnings[:0] = strangers
        for text, holds in told.values():
            warning = text.format(holds=holds, answer=shortened(answers[-1].text, 200))
            if raises:
                raise ConditionFalse(". ".join([warning, *strangers]))
            # An explanation may take hours and much money, so this is not left for its end.
            _LOG.warning("%s", printable(warning))
            self.warnings.insert(0, warning)

    def _strangers(self, predicates: Iterable[Predicate]) -> Iterator[str]:
        """What is said of sources that conditions name, and that there are not: such a condition is met
        by no answer, or by all of them, which looks like a rule."""
        ids = self.sources.ids
        named = dict.fromkeys(name for each in predicates for name in sources_named_in(each))
        for name in named:
            if name not in ids:
                yield f"the condition names {no_source(name, ids)}"

    async def check_repeatable(self, baseline: Baseline, *, wanted: bool) -> None:
        """Asks about the full set once more: a predicate that disagrees with itself explains nothing.

        That a logged answer is no longer given is no such disagreement, but is said first: under votes,
        where the majority says so.
        Raises AnswerNotRepeatable, LimitReached.
        """
        if self.prober.stop_reason:
            return
        first = baseline.current
        if baseline.logged and first is not None:
            await self._compare_with_log(baseline.answer, first)
        if not wanted and (first is not None or not baseline.logged):
            return
        reply = await self.prober.cache.sample(self._full, 0 if first is None else 1, self._once_more)
        if reply.answer is None:
            self.notes.append(f"the repeat check failed: {reply.error}")
            return
        self.prober.cache.remember(self._full, reply)
        if baseline.logged and first is None:
            await self._compare_with_log(baseline.answer, reply.answer)
        else:
            await self._compare(first or baseline.answer, reply.answer, baseline, reply.traced)

    async def _compare(
        self, first: Answer, second: Answer, baseline: Baseline, traced: TracedReplay | None
    ) -> None:
        for judging in self.judgings:
            verdicts = await self._verdicts(judging, first, second)
            if traced is not None:
                judgement = Judgement(verdicts[1])
                await traced.end(judging.turned(judgement), str(judging.base))
            if {Verdict.HOLDS, Verdict.BREAKS} <= set(verdicts):
                await self._check_held_out(baseline, first, second)
                raise AnswerNotRepeatable(
                    str(judging.base),
                    (first.text, second.text),
                    baseline.notes,
                    about_wording=isinstance(judging.base, (SameAnswer, Equals)),
                )

    async def _check_held_out(self, baseline: Baseline, first: Answer, second: Answer) -> None:
        """Raises UnseenSourcesNeeded where the answer is another one each time that what no model saw is
        not served: then the model is not to blame."""
        if baseline.unseen_needed is None or not baseline.held_out:
            return
        try:
            again = await self.prober.run(self._full, self._count_repeat_check, "repeat check")
        except LimitReached:
            return  # that the answer differs is known all the same
        if again.answer is not None and again.answer.text == second.text:
            told = (shortened(each.text, 200) for each in (first, second))
            raise baseline.unseen_needed("the answer was {!r} before, and twice {!r} now".format(*told))

    async def _once_more(self, arrangement: Arrangement) -> Reply:
        if self._fresh is not None:
            return Reply(self._fresh)  # it has been asked during this call, and said this
        return await self.prober.run(arrangement, self._count_repeat_check, "repeat check")

    def _count_repeat_check(self) -> None:
        self.prober.charge()
        self.prober.budget.repeat_check += 1

    async def _compare_with_log(self, logged: Answer, current: Answer) -> None:
        for judging in self.judgings:
            then, now = await self._verdicts(judging, logged, current)
            told = current
            if then is not now and self.voting.votes:
                # One answer that differs may be the odd one.
                probe = await self.voting.poll(self._full, judging)
                now, told = probe.judgement.verdict, probe.reply.answer or current
            if then is not now:
                self.warnings.append(
                    f"the logged answer is not what the application answers on these sources now: "
                    f"{str(judging.predicate)!r} {_SAID[then]} for {shortened(logged.text, 200)!r} and "
                    f"{_SAID[now]} for {shortened(told.text, 200)!r}. What follows is about what it "
                    "answers now"
                )

    async def _verdicts(self, judging: Judging, first: Answer, second: Answer) -> list[Verdict]:
        kept, against = self.sources.sources, self.prober.baseline
        cases = [Case(self.prober.question, against, answer, kept, kept) for answer in (first, second)]
        return [(await judging.judge(case)).verdict for case in cases]


def distinct(judgings: Iterable[Judging]) -> tuple[Judging, ...]:
    """One for each base predicate: a negation is judged by its base."""
    return tuple({judging.base: judging for judging in reversed(list(judgings))}.values())
