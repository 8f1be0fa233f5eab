"""One question under way: baseline, repeat check, searches, explanation."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from ..errors import ApplicationChanged, InvalidInput, StoreFailed
from ..explanation.explanation import Explanation
from ..lattice import Mask
from ..mining import RuleSearch
from ..predicates import Predicate
from ..predicates.judge.jury import current_batcher
from ..probing import threads
from ..probing.answer_cache import AnswerCache
from ..probing.budget import Budget
from ..probing.drivers import drive, once
from ..probing.judge_barrier import of_this_work
from ..probing.judge_requests import JudgeBatcher
from ..probing.judging import Judging, described, judgings
from ..probing.limiter import Limiter
from ..probing.limits import LimitReached
from ..probing.prices import TokensByModel
from ..probing.prober import Probe, Prober
from ..probing.replaying import Baseline, Replay
from ..probing.retries import Retries
from ..probing.tracing.marks import TracedExplanation
from ..probing.tracing.traced import anybody, rooted
from ..probing.voting import Voting
from ..progress.report import Progress, ProgressReport
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Arrangement, SourceSet
from ..storing.store import Store
from ..verdicts import Judgement, Verdict
from .baseline import BaselineSetup, distinct
from .building import ExplanationBuilder
from .final_comparison import FinalComparison
from .plan import MiningPlan
from .stored_answers import rejudged
from .tracked_search import TrackedSearch
from .updates import Announcer
from .vote_confirmation import VoteConfirmation

Way = Callable[[Arrangement, Judging], Awaitable[Probe]]
"""How an arrangement is probed: once, or by vote."""

INTERRUPTED = "interrupted"
"""The stop reason after Ctrl-C."""

_REQUESTS = "what models were sent in the baseline"
"""Under which the store keeps a fingerprint of that, as it keeps judgements."""
_DOUBTS = "what tells against the replays"
"""Under which it keeps that, if there is anything."""

_calls = count(1)
"""The numbers of all calls in this process."""


@dataclass(slots=True, repr=False)
class Session:
    """Everything one call of explain() needs, and what it has found out so far.

    ``announcer``: is told of it meanwhile, where somebody watches; nothing new is begun until more is
    waited for. ``trace``: as what traces know it, unless an integration has told them of it already.
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
    judge: Callable[[], TokensByModel] | None = None
    warnings: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    announcer: Announcer | None = None
    trace: TracedExplanation = field(default_factory=TracedExplanation)
    _prober: Prober = field(init=False)
    _batcher: JudgeBatcher = field(init=False)
    _voting: Voting = field(init=False)
    _way: Way = field(init=False)
    _tracked_searches: dict[RuleSearch, TrackedSearch] = field(init=False)
    _probed: set[Mask] = field(init=False, default_factory=set[Mask])
    _stored_as: str = field(init=False, default="")
    _call: int = field(init=False, default_factory=lambda: next(_calls))
    _has_baseline: bool = field(init=False)

    def __post_init__(self) -> None:
        self._has_baseline = self.baseline is not None
        settings, lattice = self.settings, self.sources.lattice
        known = None if self.baseline is None else self.baseline.trace
        self.trace = known or self.trace
        self._prober = Prober(
            self.question,
            self.replay,
            sources=self.sources.sources,
            limiter=self.limiter,
            budget=Budget(self.plan.limits, settings.prices, self.judge),
            retries=Retries.of(settings.retries),
            timeout=settings.timeout,
            answer_without_sources=settings.answer_without_sources,
            accepts=settings.accept_finish_reasons,
            trace=self.trace if known is not None or anybody() else None,
        )
        self._batcher = JudgeBatcher(
            self.limiter,
            self._prober.budget,
            Retries.of(settings.retries),
            self._prober.pause,
            lambda: self._prober.stop_reason,
            settings.timeout,
        )
        self._voting = Voting(self._prober, settings.noise)
        self._way = self._voting.probe if settings.noise.votes else self._prober.probe
        ballots = defaultdict[Predicate, dict[Mask, Verdict]](dict)
        self._take(
            TrackedSearch(
                self.plan.search(kind, lattice, settings), judging, ballots[judging.base], self._doubt
            )
            for kind, judging in zip(self.predicates, judgings(self.predicates.values()), strict=True)
        )
        asked = dict.fromkeys(str(tracked.judging.base) for tracked in self._tracked_searches.values())
        self.trace.condition = "; ".join(asked)

    def _doubt(self) -> str:
        """Why verdicts on replays cannot be relied on; empty where they can, or where nobody can tell."""
        given = self.baseline
        return given.fidelity.unchecked if given is not None and given.fidelity is not None else ""

    def _first_warnings(self) -> Iterable[str]:
        """What is known about the replays as a whole, now that all are made."""
        doubt, baseline = self._doubt(), self.baseline
        if doubt:
            yield doubt
        if baseline is not None and baseline.late_warnings is not None:
            yield from baseline.late_warnings()

    def _last_notes(self) -> Sequence[str]:
        told = None if self.baseline is None else self.baseline.late_notes
        return () if told is None else told()

    def _take(self, tracked_searches: Iterable[TrackedSearch]) -> None:
        self._tracked_searches = {tracked.search: tracked for tracked in tracked_searches}
        if self._prober.stop_reason:
            self._stop(self._prober.stop_reason)

    async def explanation(self) -> Explanation:
        """Runs the session to its end. To be called once."""
        if self._prober.trace is None:
            return await self._explanation()
        async with rooted(self.trace):
            return await self._explanation()

    async def _explanation(self) -> Explanation:
        self._batcher.open()
        before, around = current_batcher.set(self._batcher), of_this_work.set(None)
        try:
            baseline = await self._searched()
        finally:
            current_batcher.reset(before)
            of_this_work.reset(around)
            self._prober.close()
            self._tell(done=True)
        explanation = ExplanationBuilder(
            identity=self.trace.id,
            question=self.question,
            sources=self.sources,
            baseline=baseline,
            settings=self.settings,
            plan=self.plan,
            tracked_searches=tuple(self._tracked_searches.values()),
            budget=self._prober.budget,
            probed=len(self._probed),
            stop_reason=self._prober.stop_reason,
            warnings=(*self._first_warnings(), *self.warnings, *baseline.warnings),
            notes=(*self.notes, *self._last_notes(), *self.trace.notes),
        ).explanation()
        if self.announcer is not None:
            self.announcer.conclude(self._tracked_searches.values(), explanation.rules, len(self._probed))
        return explanation

    async def _searched(self) -> Baseline:
        """The baseline, once every search has ended."""
        await self._open_the_store()
        setup = BaselineSetup(
            self.sources,
            self._prober,
            self._voting,
            distinct(tracked.judging for tracked in self._tracked_searches.values()),
            self.warnings,
            self.notes,
        )
        await self._recognise_the_application()
        baseline = await setup.baseline(self.baseline)
        self._has_baseline = True
        noise = self.settings.noise
        if self._prober.stop_reason:
            # What would be asked to begin with is for a search that will not be made.
            return baseline
        try:
            if noise.votes:
                # Judgements against an answer that is outvoted would be paid for nothing.
                await setup.check_judgeable(self.question, baseline.answer)
                baseline = await setup.modal(baseline)
                await self._judge_what_is_stored()
            else:
                await self._judge_what_is_stored()
                await setup.check_judgeable(self.question, baseline.answer)
            # Whether one rule holds is a question about any condition.
            if self.plan.antecedent is None:
                searched = [
                    (tracked.search.kind, tracked.judging) for tracked in self._tracked_searches.values()
                ]
                raises = self.settings.false_condition == "error"
                await setup.check_true(baseline, searched, raises=raises)
            # Votes are what there is against answers that do not repeat.
            wanted = self.settings.check_repeatable and not noise.votes
            await setup.check_repeatable(baseline, wanted=wanted)
            await self._note_the_application()
        except LimitReached as limit:
            self._stop(str(limit))
        await self._drive()
        if noise.votes and not noise.everywhere:
            await self._confirm_votes()
        await self._compare_once_more()
        await self._end_traces()
        await self._note_the_doubt()
        # Whose the answers are may have been told only by the replays.
        await self._note_the_application()
        self._check_the_store()
        return baseline

    async def _compare_once_more(self) -> None:
        fidelity = None if self.baseline is None else self.baseline.fidelity
        if fidelity is not None:
            searches = tuple(self._tracked_searches)
            await FinalComparison(self.sources, self._prober, searches, self.notes).run(fidelity)

    async def _end_traces(self) -> None:
        """Of replays that no search asked for, the verdict is told where it is known anyway."""
        judging = next(iter(self._tracked_searches.values())).judging
        for replay in self.trace.open:
            if replay.answered is not None:
                judgement = judging.known(self._prober.case(*replay.answered))
                if judgement is not None:
                    await replay.end(judging.turned(judgement), str(judging.base))

    async def _drive(self) -> None:
        await drive(
            tuple(self._tracked_searches),
            self._probe if self.announcer is None else self._probe_if_wanted,
            self.limiter.size,
            stop=self._stop,
            told=self._announce,
            lockstep=self.settings.lockstep,
        )

    async def _probe_if_wanted(self, search: RuleSearch, mask: Mask, way: Way | None = None) -> Verdict:
        """Once more is waited for, where somebody watches. Raises LimitReached after a stop meanwhile."""
        if self.announcer is not None:
            await self.announcer.open.wait()
            if self._prober.stop_reason:
                raise LimitReached(self._prober.stop_reason)
        return await self._probe(search, mask, way)

    def _announce(self, search: RuleSearch, mask: Mask, verdict: Verdict) -> None:
        if self.announcer is not None:
            self.announcer.told(self._tracked_searches[search], mask, verdict, len(self._probed))

    async def _confirm_votes(self) -> None:
        confirmation = VoteConfirmation(self.sources, self.settings, self.plan)
        while True:
            tracked_searches = tuple(self._tracked_searches.values())
            renewed = tuple(confirmation.renewed(tracked) for tracked in tracked_searches)
            if renewed != tracked_searches:
                self._take(renewed)
                await self._drive()
                continue
            wanted = [] if self._prober.stop_reason else confirmation.wanted(tracked_searches)
            if not wanted:
                return
            jobs = [(tracked.search, mask) for tracked, mask in wanted]
            await once(jobs, self._vote, stop=self._stop)

    async def _open_the_store(self) -> None:
        settings, prober = self.settings, self._prober
        # Both kinds vote on the same samples, the first among them, or both could win.
        remember = settings.reuse_answers or settings.noise.votes
        if settings.store is None:
            prober.cache = AnswerCache(prober.budget, remember=remember)
            return
        # A server may be far away.
        store = self._named(settings.store)
        opened = await threads.shared().run(store.open)
        state = self.baseline.state if self.baseline is not None else ""
        self._stored_as = f"{self.question}\n[{state}]" if state else self.question
        answers = opened.answers(self._stored_as)
        prober.cache = AnswerCache(prober.budget, remember=remember, stored=answers)
        for tracked in self._tracked_searches.values():
            tracked.judging.store = opened
        self._batcher.store = opened

    def _named(self, store: Store) -> Store:
        """The store under a namespace of the application's own, where none was given.

        Raises InvalidInput where nobody knows what the application sends its models: another one might
        be taken for it.
        """
        if store.namespace is not None:
            return store
        given = self.baseline
        beginning = "" if given is None or given.fidelity is None else given.fidelity.beginning
        if given is None or not beginning:
            raise InvalidInput(
                "nothing is known of what this application sends its models, so say which version of it "
                f"the store's answers are from: Store({store.url!r}, namespace='support-bot-7')"
            )
        namespace = f"{given.application or 'application'}-{beginning[:12]}"
        self.notes.append(f"answers are stored under the namespace {namespace!r}")
        return replace(store, namespace=namespace)

    async def _recognise_the_application(self) -> None:
        """Raises ApplicationChanged where the store's answers are those of one that asks otherwise."""
        fidelity = None if self.baseline is None else self.baseline.fidelity
        if self._batcher.store is None or fidelity is None:
            return
        known = await self._batcher.store.judgement(_REQUESTS, self._fingerprinted())
        doubted = await self._batcher.store.judgement(_DOUBTS, self._fingerprinted())
        if doubted is not None:
            fidelity.doubt = doubted.reason
        differs = fidelity.recognise(known.reason) if known is not None else ""
        if differs:
            raise ApplicationChanged(
                "the answers that the store has to this question were given when the application sent "
                f"its models something else: {differs}. Give the changed application a namespace of its "
                "own (Store(url, namespace)), or prune this one (rag-rules store prune)"
            )

    async def _note_the_application(self) -> None:
        """Whoever uses the store's answers later is to know what the application sent its models."""
        fidelity = None if self.baseline is None else self.baseline.fidelity
        if self._batcher.store is not None and fidelity is not None and not fidelity.unchecked:
            noted = Judgement(Verdict.HOLDS, fidelity.fingerprint)
            await self._batcher.store.put_judgement(_REQUESTS, self._fingerprinted(), noted)

    async def _note_the_doubt(self) -> None:
        """Whoever uses the store's answers later is to know what tells against them."""
        fidelity = None if self.baseline is None else self.baseline.fidelity
        if self._batcher.store is None or fidelity is None:
            return
        doubt = fidelity.unchecked if fidelity.is_comparable else fidelity.doubt
        if doubt:
            noted = Judgement(Verdict.HOLDS, doubt)
            await self._batcher.store.put_judgement(_DOUBTS, self._fingerprinted(), noted)

    def _fingerprinted(self) -> tuple[str, tuple[str, ...]]:
        """Under what the store knows the requests of the baseline on these sources."""
        full = Arrangement.of(self.sources, self.sources.lattice.full)
        return self._stored_as, full.key

    def _check_the_store(self) -> None:
        """Says so where what was stored will not be found again."""
        if self._batcher.store is not None and not self._prober.stop_reason:
            try:
                self._batcher.store.check_there()
            except StoreFailed as failed:
                self.warnings.append(str(failed))

    async def _judge_what_is_stored(self) -> None:
        if self._batcher.store is not None:
            judgings = distinct(tracked.judging for tracked in self._tracked_searches.values())
            await rejudged(self._prober, self._batcher, judgings, self.sources, self._stored_as)

    def interrupt(self) -> bool:
        """Asks for nothing more; what is in flight is still awaited. False where there is no baseline by
        now, so that there will be nothing to explain."""
        self._stop(INTERRUPTED)
        return self._has_baseline

    def _stop(self, reason: str) -> None:
        for search in self._tracked_searches:
            search.stop(reason)
        self._prober.stop(reason)

    async def _probe(self, search: RuleSearch, mask: Mask, way: Way | None = None) -> Verdict:
        tracked, arrangement = self._tracked_searches[search], Arrangement.of(self.sources, mask)
        if way is None:
            voted = self.settings.noise.votes and search.is_crucial(mask)
            way = self._voting.poll if voted else self._way
        try:
            probe = await way(arrangement, tracked.judging)
        except StoreFailed as failed:
            # What was proved until then stands.
            raise LimitReached(f"the store failed: {failed}") from failed
        kept = probe if self.settings.reuse_answers else probe.without_answer()
        tracked.keep(mask, kept)
        if probe.ballot is not None:
            for other in self._tracked_searches.values():
                if other.ballots is tracked.ballots and other is not tracked:
                    other.overrule(mask, kept)
        elif self._prober.answers_itself(arrangement):
            # Nobody would vote otherwise, so that is what a vote would come to.
            tracked.ballots[mask] = tracked.judging.turned(probe.judgement).verdict
        self._probed.add(mask)
        if self.progress:
            self._tell(search)
        if probe.reply.cause is not None:
            self._prober.check_alive(probe.reply)
        return probe.judgement.verdict

    async def _vote(self, search: RuleSearch, mask: Mask) -> Verdict:
        return await self._probe_if_wanted(search, mask, self._voting.poll)

    def _tell(self, told: RuleSearch | None = None, *, done: bool = False) -> None:
        """``told``: the search that is about to be told a verdict, which it still counts as waiting."""
        for progress in self.progress:
            try:
                progress(self._report(told, done))
            except Exception as error:  # a broken progress bar must not cost what was paid for
                self.progress = tuple(each for each in self.progress if each is not progress)
                self.notes.append(f"progress was no longer told: {described(error)}")

    def _report(self, told: RuleSearch | None, done: bool) -> ProgressReport:
        budget, upper_bound = self._prober.budget, 1 << self.sources.lattice.size
        waiting = max(search.waiting - (search is told) for search in self._tracked_searches)
        return ProgressReport(
            probes=len(self._probed),
            needed=min(upper_bound, len(self._probed) + waiting),
            upper_bound=upper_bound,
            replays=budget.replays,
            failures=budget.failures,
            retries=budget.retries,
            reused=budget.reused,
            stored=budget.stored,
            tokens=budget.tokens,
            cost=budget.cost,
            seconds=budget.seconds,
            call=self._call,
            done=done,
        )
