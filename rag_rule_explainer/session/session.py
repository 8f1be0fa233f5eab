"""This module runs one call of ``explain``, from the baseline and its checks to the explanation."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from ..explanation.explanation import Explanation
from ..explanation.verification import Verification
from ..predicates import Predicate, unwrapped
from ..predicates.only_calls import reads_calls
from ..probing.answer_cache import AnswerCache
from ..probing.budget import Budget
from ..probing.judge_batcher import JudgeBatcher
from ..probing.judge_requests import JudgeRequests
from ..probing.judging import Judging, distinct, judgings
from ..probing.limiter import Limiter
from ..probing.limits import INTERRUPTED, LimitReached
from ..probing.main_task import told_of_ctrl_c
from ..probing.pausing import Stopper
from ..probing.prober import Prober
from ..probing.replayer import Replayer
from ..probing.replaying import Baseline, Replay
from ..probing.retries import Retries
from ..probing.sampler import Sampler
from ..probing.tracing.marks import TracedExplanation
from ..probing.tracing.traced import any_in_use, rooted
from ..probing.voting import Voting
from ..progress.report import Progress
from ..rules import RuleKind
from ..settings import Settings
from ..sources import SourceSet
from .baseline import BaselineSetup, Established, compared_with_the_store
from .baseline_checks import BaselineChecks, check_judgeable, judged_otherwise
from .building import ExplanationBuilder
from .final_comparison import FinalComparison
from .plan import MiningPlan, OneRule
from .progress_reporting import ProgressReporter
from .promotion import try_promoting, try_promoting_beside
from .searching import Searching
from .series import SessionSeries
from .stored_answers import rejudged
from .stored_question import StoredQuestion, named_store
from .updates import Announcer


@dataclass(slots=True, repr=False)
class Session:
    """A ``Session`` is one call of ``explain``, from opening the store to building the explanation.

    ``baseline``: the caller's baseline; None to run the application. ``progress``: the listeners for
    reports of progress. ``trace``: the data for tracers; unused if an integration began a trace with the
    baseline. ``series``: the answers and limits that several sessions of one call share; None if there
    is only this session.
    """

    question: str
    sources: SourceSet
    baseline: Baseline | None
    replay: Replay
    limiter: Limiter
    predicates: Mapping[RuleKind, Predicate]
    settings: Settings
    plan: MiningPlan
    progress: tuple[Progress, ...] = ()
    trace: TracedExplanation = field(default_factory=TracedExplanation)
    series: SessionSeries | None = None
    warnings: list[str] = field(init=False, default_factory=list[str])
    notes: list[str] = field(init=False, default_factory=list[str])
    _replayer: Replayer = field(init=False)
    _reporter: ProgressReporter = field(init=False)
    _has_baseline: bool = field(init=False)

    def __post_init__(self) -> None:
        settings, given, seconds = self.settings, self.baseline, self.settings.timeout
        self._has_baseline = given is not None
        known, longest = (None, None) if given is None else (given.trace, given.longest)
        self.trace = known or self.trace
        bases = dict.fromkeys(str(unwrapped(each)[0]) for each in self.predicates.values())
        self.trace.condition = "; ".join(bases)
        self._replayer = Replayer(
            self.question,
            self.replay,
            self.limiter,
            Budget(self.plan.limits, settings.prices, None if given is None else given.judge_spent),
            Retries.of(settings.retries),
            seconds if seconds is None or longest is None else min(seconds, longest),
            settings.accept_finish_reasons,
            self.trace if known is not None or any_in_use() else None,
            accepts_calls=any(map(reads_calls, self.predicates.values())),
        )
        if self.series is not None:
            self.series.begin(self._replayer.budget)
        replayer, bound = self._replayer, 1 << self.sources.lattice.size
        self._reporter = ProgressReporter(
            self.progress, replayer.budget, bound, self.notes, replayer.stopper
        )

    def interrupt(self) -> bool:
        """Stops the session: no further replay begins, and the session waits for running replays. Returns
        False if there is no baseline yet, because then there is nothing to explain."""
        is_first = not self._replayer.stopper.reason
        self._replayer.stopper.stop(INTERRUPTED)
        if self._has_baseline and is_first:
            self._reporter.report_interrupt()
        return self._has_baseline

    async def explanation(self, announcer: Announcer | None = None) -> Explanation:
        """Runs the session to its end, and returns the explanation. Call this method only once.

        ``announcer``: receives the findings (claimed rules) for a stream; None if there is no stream.
        """
        with told_of_ctrl_c(self.interrupt):
            async with nullcontext() if self._replayer.trace is None else rooted(self.trace):
                return await self._explanation(announcer)

    def verification_from(self, explanation: Explanation) -> Verification:
        """Returns the verification of the one rule that this session tested."""
        antecedent = self.plan.method.antecedent if isinstance(self.plan.method, OneRule) else 0
        return Verification(self.settings.kinds[0], self.sources.ids_of(antecedent), explanation)

    async def answered(self) -> Baseline:
        """Returns the baseline, and runs no search. Call this method only once."""
        try:
            run = await _Run.begun(self, self._replayer)
            with run.batcher.at_work():
                return (await run.established()).baseline
        finally:
            self._replayer.close()

    async def _explanation(self, announcer: Announcer | None) -> Explanation:
        try:
            run = await _Run.begun(self, self._replayer)
            with run.batcher.at_work():
                established = await run.established()
                self._has_baseline = True
                searching = await run.searched(established, self._reporter, announcer)
        finally:
            self._replayer.close()
            self._reporter.report(done=True)
            if self.baseline is not None:
                self.baseline.remember()
        explanation = self._built(searching)
        if announcer is not None:
            announcer.conclude(searching.tracked_searches, explanation.rules, len(searching.probed))
        return explanation

    def _built(self, searching: Searching) -> Explanation:
        baseline = searching.baseline
        return ExplanationBuilder(
            identity=self.trace.id,
            question=self.question,
            sources=self.sources,
            baseline=baseline,
            settings=self.settings,
            plan=self.plan,
            tracked_searches=searching.tracked_searches,
            budget=self._replayer.budget,
            probed=len(searching.probed),
            stop_reason=self._replayer.stopper.reason,
            warnings=(*baseline.warnings_at_the_end(), *self.warnings, *baseline.warnings),
            notes=(*self.notes, *baseline.notes_at_the_end(), *self.trace.notes),
        ).explanation()


@dataclass(frozen=True, slots=True)
class _Run:
    """A _Run is a session whose store is open. It holds the objects that use the store: the sampler,
    which has the cache of answers, and the judges."""

    session: Session
    store: StoredQuestion
    sampler: Sampler
    batcher: JudgeBatcher
    judgings: Mapping[RuleKind, Judging]

    @classmethod
    async def begun(cls, session: Session, replayer: Replayer) -> "_Run":
        settings, given = session.settings, session.baseline
        named = named_store(settings.store, given, session.notes)
        store = await StoredQuestion.of(named, session.question, session.sources, given)
        budget = replayer.budget
        # The searches for both kinds of rule must vote on the same samples; otherwise a condition and its
        # negation could both win. So with votes, answers are always kept in memory.
        memory = None if session.series is None else session.series.memory
        remember = settings.reuse_answers or settings.noise.votes or memory is not None
        cache = AnswerCache(
            budget, remember=remember, stored=store.answers, notes=session.notes, memory=memory
        )
        requests = JudgeRequests(
            session.limiter, budget, replayer.retries, replayer.stopper, settings.timeout
        )
        judged = judgings(session.predicates.values(), store.opened, replayer.stopper)
        return cls(
            session,
            store,
            Sampler(replayer, cache),
            JudgeBatcher(requests, store.opened),
            dict(zip(session.predicates, judged, strict=True)),
        )

    async def established(self) -> Established:
        """Returns the baseline. With votes, its answer is the most frequent one of several samples."""
        session, noise = self.session, self.session.settings.noise
        await self.store.recognise_the_application()
        setup = BaselineSetup(session.sources, self.sampler, session.notes, session.warnings)
        established = await setup.established(session.baseline)
        if noise.votes:
            # Votes limit the effect of chance, so the warning about chance is dropped.
            established = established._replace(baseline=replace(established.baseline, chance=str))
        judged = distinct(self.judgings.values())
        differs = partial(judged_otherwise, session.question, session.sources, judged)
        if self._stopper.reason or (established.fresh is None and not noise.votes):
            return established
        try:
            # A condition that raises an error must be noticed before more samples are paid, so it judges
            # the first answer here. Votes may change the baseline, so other checks come later.
            await check_judgeable(established, session.question, session.sources, judged)
            if not noise.votes:
                return await compared_with_the_store(established, differs, session.notes)
            modal = await setup.modal(established.baseline, noise.samples, judged)
            established = established._replace(baseline=modal)
            return await compared_with_the_store(established, differs, session.notes)
        except LimitReached as limit:
            self._stopper.stop(str(limit))
            return established

    async def searched(
        self, established: Established, reporter: ProgressReporter, announcer: Announcer | None
    ) -> Searching:
        """Runs the checks, the searches and the final comparison, and returns the searches. Stores data
        about the application, by which later explanations notice if it has changed."""
        session, settings = self.session, self.session.settings
        answer, answer_to_none = established.baseline.answer, settings.answer_without_sources
        prober = Prober(self.sampler, answer, session.sources.sources, answer_to_none)
        voting, is_over = Voting(prober, settings.noise), bool(self._stopper.reason)
        if not is_over:  # if the session was stopped, there is no search, so no checks are needed
            try:
                await self._check(established, prober, voting)
                await try_promoting(established.baseline, session, self.sampler)
            except LimitReached as limit:
                self._stopper.stop(str(limit))
        searching = Searching(
            session.sources,
            settings,
            session.plan,
            self.judgings,
            prober,
            voting,
            established.baseline,
            reporter,
            announcer,
        )
        if not is_over:
            async with self.store.noting_refusals(searching.probed):
                await searching.run()
                await self._conclude(searching)
        return searching

    async def _check(self, established: Established, prober: Prober, voting: Voting) -> None:
        """Lets judges decide on the stored answers, and checks the baseline. Raises an error if the
        baseline cannot be explained, and LimitReached if the session is stopped meanwhile."""
        session, settings = self.session, self.session.settings
        votes, distinct_judgings = settings.noise.votes, distinct(self.judgings.values())
        await rejudged(prober, self.batcher, distinct_judgings, session.sources, self.store.name)
        if not votes:
            await check_judgeable(established, session.question, session.sources, distinct_judgings)
        checks = BaselineChecks(
            established,
            session.sources,
            prober,
            voting if votes else None,
            distinct_judgings,
            session.warnings,
            session.notes,
            self.store.is_only_begun,
        )
        # To test a single rule, the condition need not hold on all sources, so this is not checked.
        if not isinstance(session.plan.method, OneRule):
            await checks.check_true(self.judgings, raises=settings.false_condition == "error")
        # With votes, a single answer may differ when it is repeated: the majority decides.
        await checks.check_repeatable(wanted=settings.check_repeatable and not votes)
        await self.store.note_the_application()

    async def _conclude(self, searching: Searching) -> None:
        """Compares replays with earlier replays, ends traces, and stores data for later explanations."""
        session, tracked = self.session, searching.tracked_searches
        await try_promoting_beside(tracked, searching.baseline, session, self.sampler)
        if (fidelity := self.store.fidelity) is not None:
            made = searching.prober, tracked, session.notes, searching.baseline.replays > 0
            await FinalComparison(session.sources, *made).run(fidelity)
        await searching.end_traces(session.trace)
        await self.store.note_the_doubt(searching.baseline)
        await self.store.note_the_application()  # the application's fingerprint may be known only now
        if not self._stopper.reason and (lost := self.store.lost()):
            session.warnings.append(lost)

    @property
    def _stopper(self) -> Stopper:
        return self.sampler.replayer.stopper
