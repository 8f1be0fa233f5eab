"""This module runs the searches of one session, from the first probe to the last vote."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import StoreFailed
from ..lattice import ArrangementKey
from ..mining import AnySearch
from ..probing.drivers import drive, once
from ..probing.judging import Judging
from ..probing.limits import LimitReached
from ..probing.pausing import Stopper
from ..probing.prober import Probe, Prober
from ..probing.replaying import Baseline
from ..probing.tracing.marks import TracedExplanation
from ..probing.voting import Voting
from ..rules import RuleKind
from ..settings import Settings
from ..sources import Arrangement, SourceSet
from ..verdicts import Verdict
from .plan import MiningPlan
from .progress_reporting import ProgressReporter
from .tracked_search import TrackedSearch
from .updates import Announcer
from .vote_confirmation import VoteConfirmation

ProbeFunction = Callable[[Arrangement, Judging], Awaitable[Probe]]
"""A function that probes an arrangement (an ordered list of sources). One such function judges a single
answer, and another one takes a vote on several answers."""


@dataclass(slots=True, repr=False, eq=False)
class Searching:
    """A ``Searching`` runs one search for each kind of rule.

    ``baseline``: the run whose answer is explained. ``announcer``: if the session is streamed, the
    object that receives every verdict and announces claimed rules; else None. In a stream, a probe
    begins only while the consumer waits for the next item. ``probed``: the keys of the arrangements
    (ordered lists of sources) that were probed.
    """

    sources: SourceSet
    settings: Settings
    plan: MiningPlan
    judgings: Mapping[RuleKind, Judging]
    prober: Prober
    voting: Voting
    baseline: Baseline
    reporter: ProgressReporter
    announcer: Announcer | None
    probed: set[ArrangementKey] = field(init=False, default_factory=set[ArrangementKey])
    _by_search: dict[AnySearch, TrackedSearch] = field(init=False)
    _way: ProbeFunction = field(init=False)
    _votes: bool = field(init=False)
    _keeps_answers: bool = field(init=False)

    def __post_init__(self) -> None:
        self._votes, self._keeps_answers = self.settings.noise.votes, self.settings.reuse_answers
        self._way = self.voting.probe if self._votes else self.prober.probe
        lattice = self.sources.lattice
        self._take(
            TrackedSearch(
                self.plan.search(kind, lattice, self.settings),
                judging,
                self.sources,
                self.voting,
                self.baseline.doubt,
            )
            for kind, judging in self.judgings.items()
        )
        self._stopper.follow(self._stop)

    @property
    def tracked_searches(self) -> tuple[TrackedSearch, ...]:
        """Returns the searches, with the probes that were made for them so far."""
        return tuple(self._by_search.values())

    @property
    def _stopper(self) -> Stopper:
        return self.prober.sampler.replayer.stopper

    async def run(self) -> None:
        """Runs all searches to their end. If the settings require it, then takes votes on the subsets of
        the rules that were found."""
        noise = self.settings.noise
        try:
            await self._drive()
            if noise.votes and not noise.everywhere:
                await self._confirm_votes()
        finally:
            self._note()

    async def end_traces(self, trace: TracedExplanation) -> None:
        """Ends the traces of replays that are still open because no search requested their subset. A
        trace also gets the verdict on the replay's answer, if this verdict is known without asking a
        judge."""
        judging = self.tracked_searches[0].judging
        for replay in trace.open:
            if replay.answered is not None:
                judgement = judging.known(self.prober.case(*replay.answered))
                if judgement is not None:
                    await replay.end(judging.turned(judgement), str(judging.base))

    def _take(self, tracked_searches: Iterable[TrackedSearch]) -> None:
        self._by_search = {tracked.search: tracked for tracked in tracked_searches}
        if self._stopper.reason:
            self._stop(self._stopper.reason)

    def _stop(self, reason: str) -> None:
        for search in self._by_search:
            search.stop(reason)

    async def _drive(self) -> None:
        await drive(
            tuple(self._by_search),
            self._probe if self.announcer is None else self._probe_if_wanted,
            self.prober.sampler.replayer.limiter.size,
            stop=self._stopper.stop,
            on_verdict=None if self.announcer is None else self._announce,
            lockstep=self.settings.lockstep,
        )

    async def _confirm_votes(self) -> None:
        confirmation = VoteConfirmation(self.sources, self.settings, self.plan)
        while True:
            tracked_searches = self.tracked_searches
            renewed = tuple(confirmation.renewed(tracked) for tracked in tracked_searches)
            if renewed != tracked_searches:
                self._take(renewed)
                await self._drive()
                continue
            wanted = [] if self._stopper.reason else confirmation.wanted(tracked_searches)
            if not wanted:
                return
            jobs = [(tracked.search, key) for tracked, key in wanted]
            await once(jobs, self._vote, stop=self._stopper.stop)

    async def _vote(self, search: AnySearch, key: ArrangementKey) -> Verdict:
        return await self._probe_if_wanted(search, key, self.voting.poll)

    async def _probe_if_wanted(
        self, search: AnySearch, key: ArrangementKey, way: ProbeFunction | None = None
    ) -> Verdict:
        """Probes an arrangement (an ordered list of sources) and returns the verdict. In a stream, the
        probe begins only when the consumer waits for the next item. Raises LimitReached if the session
        was stopped before that. ``way``: the function that makes the probe; None to choose it by the
        settings."""
        if self.announcer is not None:
            await self.announcer.open.wait()
            self._stopper.check()
        return await self._probe(search, key, way)

    async def _probe(
        self, search: AnySearch, key: ArrangementKey, way: ProbeFunction | None = None
    ) -> Verdict:
        tracked, arrangement = self._by_search[search], Arrangement.of(self.sources, key)
        if way is None:
            way = self.voting.poll if self._votes and search.is_crucial(key) else self._way
        try:
            probe = await way(arrangement, tracked.judging)
        except StoreFailed as failed:
            # StoreFailed would end the call without a result. LimitReached only stops the searches, so
            # that the user still gets the rules that were proved before.
            raise LimitReached(f"the store failed: {failed}") from failed
        if probe.ballot is None and self._keeps_answers:
            tracked.keep(key, probe)
        else:
            self._keep(tracked, key, probe)
        self.probed.add(key)
        if self.reporter.listeners:
            self._note(next_search=search)
            self.reporter.report()
        if probe.reply.cause is not None:
            self.prober.sampler.replayer.check_alive(probe.reply)
        return probe.judgement.verdict

    def _keep(self, tracked: TrackedSearch, key: ArrangementKey, probe: Probe) -> None:
        kept = probe if self.settings.reuse_answers else probe.without_answer()
        tracked.keep(key, kept)
        if probe.ballot is not None:
            for other in self._by_search.values():
                if other is not tracked and other.judging.base == tracked.judging.base:
                    other.overrule(key, kept)

    def _note(self, next_search: AnySearch | None = None) -> None:
        """Stores the current progress for the next report.

        ``next_search``: the search that is about to get a verdict; None if there is none. This search
        still counts the verdict as missing, so 1 is subtracted from its number of missing verdicts.
        """
        waiting = max(search.waiting - (search is next_search) for search in self._by_search)
        self.reporter.note(len(self.probed), waiting)

    def _announce(self, search: AnySearch, key: ArrangementKey, verdict: Verdict) -> None:
        if self.announcer is not None:
            self.announcer.on_verdict(self._by_search[search], key, verdict, len(self.probed))
