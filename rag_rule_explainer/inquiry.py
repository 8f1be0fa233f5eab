"""One question under way: baseline, repeat check, searches, explanation."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from .assembly import Assembly
from .errors import AnswerNotRepeatable, BaselineFailed, RagRuleError
from .explanation import Explanation
from .findings import Strand
from .lattice import Mask
from .mining import RuleSearch
from .predicates import Predicate
from .printable import shortened
from .probing.bill import Bill
from .probing.drivers import drive
from .probing.judging import Judging, described, judgings
from .probing.limiter import Limiter
from .probing.limits import LimitReached
from .probing.prices import TokensByModel
from .probing.prober import Prober, Reply
from .probing.replaying import Baseline, Replay
from .probing.retries import Retries
from .progress import Progress, ProgressReport
from .rules import RuleKind
from .settings import Choice, Settings
from .sources import Arrangement, SourceSet
from .verdicts import Answer, Case, Verdict

INTERRUPTED = "interrupted"
"""The stop reason after Ctrl-C."""

_calls = count(1)
"""The numbers of all calls in this process."""

_SAID = {Verdict.HOLDS: "holds", Verdict.BREAKS: "does not hold", Verdict.UNKNOWN: "cannot be judged"}


@dataclass(slots=True, repr=False)
class Inquiry:
    """Everything one call of explain() needs, and what it has found out so far."""

    question: str
    sources: SourceSet
    baseline: Baseline | None
    replay: Replay
    limiter: Limiter
    predicates: Mapping[RuleKind, Predicate]
    settings: Settings
    choice: Choice
    progress: tuple[Progress, ...] = ()
    judge: Callable[[], TokensByModel] | None = None
    warnings: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    _prober: Prober = field(init=False)
    _strands: dict[RuleSearch, Strand] = field(init=False)
    _probed: set[Mask] = field(init=False, default_factory=set[Mask])
    _call: int = field(init=False, default_factory=lambda: next(_calls))

    def __post_init__(self) -> None:
        settings, lattice = self.settings, self.sources.lattice
        self._prober = Prober(
            self.question,
            self.replay,
            limiter=self.limiter,
            bill=Bill(self.choice.limits, settings.prices, self.judge),
            retries=Retries.of(settings.retries),
            timeout=settings.timeout,
            reuse_answers=settings.reuse_answers,
            answer_without_sources=settings.answer_without_sources,
        )
        strands = (
            Strand(self.choice.search(kind, lattice, settings), judging)
            for kind, judging in zip(self.predicates, judgings(self.predicates.values()), strict=True)
        )
        self._strands = {strand.search: strand for strand in strands}

    async def explanation(self) -> Explanation:
        """Runs the inquiry to its end. To be called once."""
        try:
            baseline = await self._searched()
        finally:
            self._tell(done=True)
        return Assembly(
            question=self.question,
            sources=self.sources,
            baseline=baseline,
            settings=self.settings,
            choice=self.choice,
            strands=tuple(self._strands.values()),
            bill=self._prober.bill,
            probed=len(self._probed),
            warnings=(*self.warnings, *baseline.warnings),
            notes=tuple(self.notes),
        ).explanation()

    async def _searched(self) -> Baseline:
        """The baseline, once every search has ended."""
        baseline = await self._baseline()
        await self._check_judgeable(baseline.answer)
        try:
            await self._check_repeatable(baseline)
        except LimitReached as limit:
            self._stop(str(limit))
        await drive(
            tuple(self._strands),
            self._probe,
            self.limiter.size,
            stop=self._stop,
            lockstep=self.settings.lockstep,
        )
        return baseline

    def interrupt(self) -> None:
        """Asks for nothing more; what is in flight is still awaited."""
        self._stop(INTERRUPTED)

    def _stop(self, reason: str) -> None:
        for search in self._strands:
            search.stop(reason)
        self._prober.stop(reason)

    @property
    def _full(self) -> Arrangement:
        return Arrangement.of(self.sources, self.sources.lattice.full)

    async def _baseline(self) -> Baseline:
        bill = self._prober.bill
        if self.baseline is None:
            bill.baseline += 1
            reply = await self._prober.run(self._full)
            if isinstance(reply.cause, RagRuleError):
                raise reply.cause
            if reply.answer is None:
                raise BaselineFailed(
                    f"the application failed on all {len(self.sources)} sources, so there is no "
                    f"answer to explain; make it answer first: {reply.error}"
                ) from reply.cause
            baseline = Baseline(reply.answer, reply.answer, replays=1)
        else:
            baseline = self.baseline
            bill.baseline += baseline.replays
            bill.spend(baseline.usage, baseline.models)
        self._prober.baseline = baseline.answer
        if baseline.current is not None:
            # Otherwise the full set is probed like any other.
            self._prober.remember(self._full, Reply(baseline.current))
        return baseline

    async def _check_repeatable(self, baseline: Baseline) -> None:
        """Replays the full set once more: a predicate that disagrees with itself explains nothing.

        That a logged answer is no longer given is no such disagreement, but is said first.
        """
        first = baseline.current
        if baseline.logged and first is not None:
            await self._compare_with_log(baseline.answer, first)
        if not self.settings.check_repeatable and (first is not None or not baseline.logged):
            return
        self._prober.bill.charge()
        self._prober.bill.repeat_check += 1
        reply = await self._prober.run(self._full)
        if reply.answer is None:
            self.notes.append(f"the repeat check failed: {reply.error}")
            return
        if baseline.logged and first is None:
            await self._compare_with_log(baseline.answer, reply.answer)
        else:
            for judging in self._distinct_judgings():
                verdicts = await self._verdicts(judging, first or baseline.answer, reply.answer)
                if {Verdict.HOLDS, Verdict.BREAKS} <= set(verdicts):
                    answers = ((first or baseline.answer).text, reply.answer.text)
                    raise AnswerNotRepeatable(str(judging.base), answers, baseline.notes)
        self._prober.remember(self._full, reply)

    async def _check_judgeable(self, answer: Answer) -> None:
        """A predicate that fails on the baseline would fail on every probe."""
        case = Case(self.question, answer, answer, self.sources.sources)
        for judging in self._distinct_judgings():
            try:
                await judging.ask(case)
            except RagRuleError:
                raise
            except Exception as error:
                raise BaselineFailed(
                    f"the predicate failed on the baseline's answer: {described(error)}; "
                    f"the answer was {shortened(answer.text, 200)!r}"
                ) from error

    def _distinct_judgings(self) -> Iterable[Judging]:
        """One for each base predicate: a negation is judged by its base."""
        return {s.judging.base: s.judging for s in reversed(self._strands.values())}.values()

    async def _compare_with_log(self, logged: Answer, current: Answer) -> None:
        for judging in self._distinct_judgings():
            then, now = await self._verdicts(judging, logged, current)
            if then is not now:
                self.warnings.append(
                    f"the logged answer is not what the application answers on these sources now: "
                    f"{str(judging.base)!r} {_SAID[then]} for {shortened(logged.text, 200)!r} and "
                    f"{_SAID[now]} for {shortened(current.text, 200)!r}. What follows is about what it "
                    "answers now"
                )

    async def _verdicts(self, judging: Judging, first: Answer, second: Answer) -> list[Verdict]:
        kept, against = self.sources.sources, self._prober.baseline
        cases = [Case(self.question, against, answer, kept) for answer in (first, second)]
        return [(await judging.judge(case)).verdict for case in cases]

    async def _probe(self, search: RuleSearch, mask: Mask) -> Verdict:
        strand = self._strands[search]
        probe = await self._prober.probe(Arrangement.of(self.sources, mask), strand.judging)
        strand.keep(mask, probe if self.settings.reuse_answers else probe.without_answer())
        self._probed.add(mask)
        if self.progress:
            self._tell(search)
        if probe.reply.cause is not None:
            self._prober.check_alive(probe.reply)
        return probe.judgement.verdict

    def _tell(self, told: RuleSearch | None = None, *, done: bool = False) -> None:
        """``told``: the search that is about to be told a verdict, which it still counts as waiting."""
        for progress in self.progress:
            try:
                progress(self._report(told, done))
            except Exception as error:  # a broken progress bar must not cost what was paid for
                self.progress = tuple(each for each in self.progress if each is not progress)
                self.notes.append(f"progress was no longer told: {described(error)}")

    def _report(self, told: RuleSearch | None, done: bool) -> ProgressReport:
        bill, upper_bound = self._prober.bill, len(self.sources.lattice.masks())
        waiting = max(search.waiting - (search is told) for search in self._strands)
        return ProgressReport(
            probes=len(self._probed),
            needed=min(upper_bound, len(self._probed) + waiting),
            upper_bound=upper_bound,
            replays=bill.replays,
            failures=bill.failures,
            retries=bill.retries,
            reused=bill.reused,
            stored=bill.stored,
            tokens=bill.tokens,
            cost=bill.cost,
            seconds=bill.seconds,
            call=self._call,
            done=done,
        )
