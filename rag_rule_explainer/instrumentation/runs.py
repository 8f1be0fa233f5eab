"""One input to an application: its recorded baseline, then its replays."""

import hashlib
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Collection,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from ..errors import BaselineFailed, InvalidInput, NoSourcesCaptured, RagRuleError, StateShared
from ..probing.interrupts import kept as interrupts_kept
from ..probing.replaying import EMPTY, Baseline, UnusableReply, said_nothing
from ..probing.tracing.marks import TracedExplanation
from ..probing.tracing.traced import marked_first
from ..sources import Source
from ..verdicts import Answer, logged_answer
from .application import Application
from .bounds import Bound, Extent, ReplayEnded, seconds_for
from .copies.contexts import Contexts
from .copies.copying import described
from .copies.state import State
from .doubts import BASELINE, REORDERED, named
from .fidelity import Fidelity
from .isolation.attributes import data_copy
from .isolation.auditing import listen
from .isolation.exiting import exits_contained
from .isolation.muting import muting
from .options import Case, Manner
from .recording.exposure_checks import ExposureChecks
from .recording.recorder import (
    ASKED_ANEW,
    SEVERAL_RESULTS,
    Captured,
    OnNewQuery,
    Recording,
    Retrieval,
    Serving,
)
from .requests.leftovers import Leftovers
from .requests.marks import texts_of
from .rewinding.rewinding import Rewinding
from .run_context import (
    Participation,
    Watch,
    failed_reply,
    failing,
    fault_in,
    participating,
    unusable,
    with_spent,
)
from .searches.items import why_empty
from .searches.retrieval_result import Retrieved
from .shared_state.counting import deciding
from .shared_state.holdings import Holdings
from .shared_state.lasting import EVERYTHING, Lasting
from .shared_state.memos import first_made
from .shared_state.remaining import has_changed, told_of_what_remains
from .shared_state.temporaries import OneAtATime
from .shared_state.threadbound import served_by
from .shared_state.writing import written_by
from .stopping import Stopping
from .streams import astreamed, streamed

Item = TypeVar("Item")


class ApplicationRun(Generic[Item]):
    """Runs an application on a case: first on everything, recording, then on parts of that."""

    def __init__(
        self,
        application: Application[Item],
        case: Case,
        manner: Manner,
        trace: TracedExplanation | None = None,
    ) -> None:
        self.application = application
        self.trace = trace or TracedExplanation()
        self.trace.replays = manner.trace_replays
        # What one run does to its input must not reach another run, nor the record of it.
        before = data_copy(case.config) if case.before is None else case.before
        keywords = {name: application.copied(value) for name, value in case.keywords.items()}
        self.case = replace(case, given=application.copied(case.given), before=before, keywords=keywords)
        self._live_keywords = case.keywords if case.live else None
        self._manner = manner
        self._captured: Captured[Item] | None = None
        self._conduct: ExposureChecks | None = None
        self._seconds: float | None = None
        self._has_looked = False
        self._contexts = Contexts()
        self._leftovers = Leftovers(application.root, manner.steady)
        self._rewinding = Rewinding(application.root, manner.steady.is_ignored, self._isolated)
        listen()
        self._lasting = Lasting(self._leftovers.before, self._is_settled)
        written = written_by(self._leftovers.before)
        self._alone = OneAtATime(application.root, written, self._lasting.outside)
        self._first = self._baseline_participation()
        self._held: Holdings | None = None
        self._fidelity = Fidelity(
            manner.steady, application.making, self._lasting.found, self._has_changed, self._rewinding
        )

    def anew(self) -> "ApplicationRun[Item]":
        """The same, as if nothing had been run."""
        return ApplicationRun(self.application, self.case, self._manner, self.trace)

    def _baseline_participation(self) -> Participation:
        only, identify = self._manner.retrievers, self.application.identify
        gate: Recording[Item] | Serving[Item]
        if self.case.documents is None:
            added = self.application.brought(self.case.add_documents) if self.case.add_documents else []
            gate = Recording(identify, added, only)
        else:
            brought = self.application.brought(self.case.documents)
            self._captured = Captured[Item].brought(brought, identify, only)
            gate = self._captured.replaying(self._captured.sources)
        first = self._participation(gate, State(live=self.case.live))
        first.watch.exchanges.before_sending.append(
            lambda request: None if _has_retrieved(gate) else self._leftovers.early.append(request.text)
        )
        first.shared = self._alone.at_start
        first.outside = self._lasting.outside.of_run(EVERYTHING, BASELINE, lambda: True)
        first.trace = self.trace
        return first

    def _participation(self, gate: Recording[Item] | Serving[Item], state: State) -> Participation:
        watch = self.application.watch(accepts=self._manner.accepts)
        run = Participation(gate, watch, state, self._manner.stub_tools)
        run.before_search.append(self._lasting.caches.note_search)
        return run

    def _first_case(self) -> Case:
        """The user's own run is given what the user gave, and leaves there what it leaves."""
        case = self._copied()
        return case if self._live_keywords is None else replace(case, keywords=self._live_keywords)

    def _copied(self) -> Case:
        copy = self.application.copied
        keywords = {name: copy(value) for name, value in self.case.keywords.items()}
        return replace(self.case, given=copy(self.case.given), keywords=keywords)

    def baseline(self) -> Any:
        """The application's output on everything, through its sync entry.

        Raises BaselineFailed where the application raises.
        """
        kept = interrupts_kept()
        with self._alone.first_turn(), self._running_first(), kept as interrupts, interrupts.passed_on():
            return self.application.run(self._first_case(), None)

    async def abaseline(self) -> Any:
        """The same through its async entry."""
        async with self._alone.first_aturn():
            with self._running_first():
                return await self.application.arun(self._first_case(), None)

    def retrieved(self) -> Retrieved:
        """What the application retrieves; it is stopped where it would first show any of it to a model.

        Raises NoSourcesCaptured, BaselineFailed.
        """
        with self._until_enough() as stopping:
            self._check_not_stopped(self.baseline())
        return self._retrieved_until(stopping)

    async def aretrieved(self) -> Retrieved:
        """The same through its async entry."""
        with self._until_enough() as stopping:
            self._check_not_stopped(await self.abaseline())
        return self._retrieved_until(stopping)

    @contextmanager
    def _until_enough(self) -> Generator[Stopping, None, None]:
        gate = self._first.gate
        stopping = Stopping(lambda: _has_retrieved(gate))
        self._first.watch.exchanges.before_sending.append(stopping.before)
        with stopping.forgiving():
            yield stopping

    def _retrieved_until(self, stopping: Stopping) -> Retrieved:
        captured, watch = self._recorded_sources(), self._first.watch
        return Retrieved.of(captured.sources, self._conduct_for(captured), stopping.request, watch)

    def stream(self) -> Iterator[Any]:
        """The same, chunk by chunk. The consumer's context takes part in nothing."""
        return streamed(self._running_first(), lambda: self.application.stream(self._first_case()))

    def astream(self) -> AsyncIterator[Any]:
        """The same through its async entry."""
        return astreamed(self._running_first(), lambda: self.application.astream(self._first_case()))

    @contextmanager
    def _running_first(self) -> Generator[None, None, None]:
        started, self.trace.explained_run = time.monotonic(), ""
        try:
            joined, marked = self._joined(self._first), marked_first(self.trace)
            with self._contexts.of_the_baseline(), joined, marked:
                yield
            self._seconds = time.monotonic() - started
        except RagRuleError:
            raise
        except Exception as error:
            raise BaselineFailed(
                "the application failed on this input, so there is no answer to explain; "
                f"make it answer first: {type(error).__name__}: {error}"
            ) from error

    @contextmanager
    def _joined(self, run: Participation) -> Generator[None, None, None]:
        with participating(run), self.application.watching(run.watch):
            yield

    def recorded(self, output: Any, replays: int = 1) -> tuple[Sequence[Source], Baseline]:
        """What was retrieved, and the answer.

        Raises NoSourcesCaptured where nothing was seen, BaselineFailed where a model's reply is none.
        """
        first = self._first
        if first.refused is not None:
            raise first.refused
        self._check_not_stopped(output)
        if self.case.unreadable is not None:
            raise self.case.unreadable
        if first.watch.fault:
            raise self._no_answer(first.watch.fault)
        captured = self._sources_of(output)
        try:
            answer = self._read(output, first.watch)
        except InvalidInput:
            self._check_not_stopped(output, unreadable=True)
            raise
        fault = fault_in(answer, first.watch, first.tools) or (EMPTY if said_nothing(answer) else "")
        if fault:
            raise self._no_answer(fault)
        given = self.application.texts_in(self.case.given)
        constants = self._leftovers.before.texts()
        self._fidelity.begin(first, answer, captured.sources, given, constants)
        return self._understood(captured, answer, replays)

    def _sources_of(self, output: Any) -> Captured[Item]:
        try:
            return self._recorded_sources()
        except NoSourcesCaptured:
            with suppress(InvalidInput):
                self._read(output, self._first.watch)
                raise
            # It may have stopped before it retrieved anything.
            self._check_not_stopped(output, unreadable=True)
            raise

    def _check_not_stopped(self, output: Any, *, unreadable: bool = False) -> None:
        stopped = self.application.stopped(output, unreadable=unreadable)
        if stopped:
            raise BaselineFailed(stopped)

    def _no_answer(self, fault: str) -> BaselineFailed:
        failed = BaselineFailed(f"{fault}, so there is no answer to explain; make it answer first")
        # A replay like it is tried again, and so is the baseline.
        failed.__cause__ = UnusableReply(fault, passing=True)
        return failed

    def _recorded_sources(self) -> Captured[Item]:
        gate = self._first.gate
        retrievals = gate.retrievals if isinstance(gate, Recording) else gate.served
        if isinstance(gate, Recording):
            if gate.fault is not None:
                raise gate.fault
            self._captured = gate.captured(self._on_new_query())
        if self._captured is None or not retrievals or not self._captured.sources:
            faults = filter(None, map(why_empty, gate.forms if isinstance(gate, Recording) else ()))
            told = next(faults, "") or self.application.why_nothing(retrievals)
            if self._manner.retrievers:
                told += ". Only those named in retrievers= count, and none of them was asked"
            raise NoSourcesCaptured(told)
        return self._captured

    def failure(self, failed: BaselineFailed) -> UnusableReply:
        """What a replay that failed as this baseline did would have raised."""
        return failed_reply(str(failed), self._first.watch, failed.__cause__)

    def of_another_run(
        self,
        recording: Recording[Item],
        output: Any,
        watch: Watch,
        state: State,
        tools: set[str],
        identity: str,
    ) -> tuple[Sequence[Source], Baseline]:
        """The same for a run of the user's own that was recorded, and is not made again.

        ``state``: with what the application remembered when it began; ``tools``: those that ran;
        ``identity``: its id, as traces know it.
        """
        self.trace.explained_run = identity
        self._first = Participation(recording, watch, state, tools=tools)
        self._leftovers.miss_the_baseline()
        self._rewinding.miss_the_baseline()
        return self.recorded(output, replays=0)

    def _understood(
        self, captured: Captured[Item], current: Answer, replays: int
    ) -> tuple[Sequence[Source], Baseline]:
        case, exposure = self.case, self._conduct_for(captured)
        self._conduct = exposure
        self._leftovers.begin(exposure.units, self._given_anyway(exposure))
        logged = None if case.baseline is None else self._logged(case.baseline)
        root = self.application.root
        baseline = Baseline(
            current if logged is None else logged,
            None if exposure.held_out else current,
            logged=logged is not None,
            replays=replays,
            usage=(current.usage or {}) if replays else {},
            models=current.models if replays else None,
            state=self._state(),
            input=self.application.plain(case.given),
            scope=exposure.scope,
            held_out=exposure.held_out,
            unseen_needed=lambda seen: exposure.unseen_needed(self._that_found, seen),
            warnings=tuple(self._warnings()),
            fidelity=self._fidelity,
            application=getattr(root, "__name__", "") or type(root).__name__,
            longest=self._longest(),
            late_warnings=lambda: list(self._late_warnings(captured)),
            late_notes=lambda: list(self._late_notes()),
            notes=(
                *exposure.notes,
                *self._fidelity.notes,
                *self.application.notes(captured),
                *(() if self._acting() else self._manner.idle_stubs(self._first.tools)),
            ),
            versions=self.application.versions(),
            trace=self.trace,
        )
        return exposure.units, baseline

    def _given_anyway(self, exposure: ExposureChecks) -> Iterator[str]:
        """All texts that any run may show its models, whatever it is served."""
        yield from self.application.texts_in(self.case.given)
        yield from map(described, (self.case.config, self._manner.stub_tools))
        yield from map(described, self._first.state.before.values())
        yield from self._first.gate.queries
        for source in exposure.held_out:
            yield from texts_of(source)

    def _late_warnings(self, captured: Captured[Item]) -> Iterator[str]:
        """What is known once all replays are made, and to be read before any rule."""
        if captured.several:
            yield SEVERAL_RESULTS
        if captured.asked_anew:
            yield ASKED_ANEW

    def _late_notes(self) -> Iterator[str]:
        if self._fidelity.reordered:
            yield REORDERED
        if self._alone.written:
            yield f"replays were made one at a time, as {self._alone.written}, which they share"
        if self._held is not None:
            remains = told_of_what_remains(self._held, self._holdings(), self._fidelity.unchecked)
            yield from (remains,) if remains else ()

    def _conduct_for(self, captured: Captured[Item]) -> ExposureChecks:
        exposure = ExposureChecks.of(
            captured.sources,
            self._first.watch.requests,
            scope=self._manner.scope,
            constant=self.application.texts_in(self.case.given),
            pinned=self.case.pinned,
            shown=self.application.shown(captured),
            on_no_retrieval=self._manner.on_no_retrieval,
        )
        return replace(exposure, making=self.application.making)

    def _state(self) -> str:
        """What answers depend on beside question and sources: the rest of the input, what is
        remembered."""
        given = self.application.plain(self.case.given)
        remembered = sorted(map(described, self._first.state.before.values()))
        keywords = [described(dict(self.case.keywords))] if self.case.keywords else []
        if given == self.case.question and not remembered and not keywords:
            return ""
        told = "\n".join([described(given), *remembered, *keywords])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _logged(self, given: Any) -> Answer:
        read = given if isinstance(given, (str, Answer)) else self._manner.answer_of(given)
        return logged_answer(read)

    def _warnings(self) -> Iterable[str]:
        acting = self._acting()
        for tool in sorted(acting):
            yield (
                f"the tool {tool!r} retrieved nothing in the baseline and runs again in every replay; if "
                f"it changes anything, pass stub_tools={{{tool!r}: its result}}"
            )
        if acting:
            yield from self._manner.idle_stubs(self._first.tools)

    def _acting(self) -> set[str]:
        """The tools that the first run really called, and that retrieved nothing."""
        return self._first.tools - self._first.retrieving_tools - set(self._manner.stub_tools)

    def _on_new_query(self) -> OnNewQuery:
        # Whoever calls tools writes its queries itself, and anew in every run.
        return self._manner.on_new_query or ("filter" if self._first.tools else "kept")

    def replay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's sync entry."""
        with self._turn(kept):
            with self._alone.noticing(), self._replaying(kept) as run, self._failing(run):
                output = self.application.run(self._copied(), kept)
            # In its turn: what is returned may be an object that all runs share.
            return self._checked(output, kept, run)

    async def areplay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's async entry."""
        async with self._aturn(kept):
            replaying = self._replaying(kept)
            with self._alone.noticing(), replaying as run, self._failing(run), exits_contained():
                output = await self.application.arun(self._copied(), kept)
            return self._checked(output, kept, run)

    @contextmanager
    def _turn(self, kept: Sequence[Source]) -> Generator[None, None, None]:
        if not self._rewinding.is_wanted:
            with self._alone.turn():
                yield
            return
        with self._alone.exclusive_turn(), self._rewinding.earlier([source.id for source in kept]):
            yield

    @asynccontextmanager
    async def _aturn(self, kept: Sequence[Source]) -> AsyncGenerator[None, None]:
        if not self._rewinding.is_wanted:
            async with self._alone.aturn():
                yield
            return
        async with self._alone.exclusive_aturn():
            with self._rewinding.earlier([source.id for source in kept]):
                yield

    def _isolated(self) -> Iterator[Hashable]:
        """Keys of what every run has a copy of."""
        state = self._first.state
        yield from (*state.before, *state.aside)

    @contextmanager
    def _replaying(self, kept: Sequence[Source]) -> Generator[Participation, None, None]:
        if self._captured is None:
            raise RuntimeError("recorded() comes before the first replay")
        # A retriever or a store may have been imported since the last replay.
        self.application.interception.wrap_loaded_classes()
        run = self._participation(self._captured.replaying(kept), self._first.state.of_a_replay())
        run.traced = self._manner.trace_replays
        run.muted = not self._manner.print_replays
        run.bound = self._bound(run, kept)
        sources, maker, watch = self._choice(kept), named(kept), run.watch
        run.outside = self._lasting.outside.of_run(sources, maker, lambda: self._alone.is_needed)
        watch.exchanges.after_reply.append(
            lambda reply: self._fidelity.note_reply(maker, reply, [each.text for each in watch.requests])
        )
        try:
            # One that is left behind is muted until it ends.
            with self.muting(), self._looking(), self._contexts.as_before(), self._joined(run):
                is_usual = not self._rewinding.is_wanted
                if is_usual:
                    self._lasting.look_inside()
                yield run
            if is_usual:
                self._lasting.look(self._holdings, sources)
        except UnusableReply as failed:
            if sources == EVERYTHING:
                self._fidelity.failed = failed.reason
            raise
        finally:
            # Also of a run that failed, another one is not to know anything.
            self._fidelity.note(run, kept)

    def muting(self) -> AbstractContextManager[None]:
        """Inside, no replay is heard, unless its user wants to hear it."""
        return nullcontext() if self._manner.print_replays else muting()

    @contextmanager
    def _looking(self) -> Generator[None, None, None]:
        """Around a replay. Before the first one and after it, a look is taken at what the application
        holds: what the baseline left there, and what every run changes."""
        if self._has_looked:
            yield
            return
        self._has_looked = True
        self._held = before = self._holdings()
        self._leftovers.look(before)
        is_missed = self._leftovers.is_after_the_run
        self._lasting.begin(before, self._contexts.kept, is_missed=is_missed)
        yield
        after = self._holdings()
        self._fidelity.find(first_made(self._leftovers.before, before, after, self._is_harmless))
        self._fidelity.count(deciding(before, after, self._manner.steady.is_ignored))

    def _has_changed(self) -> bool:
        return self._held is not None and has_changed(self._held, self._holdings())

    def _holdings(self) -> Holdings:
        return Holdings(self.application.root)

    def _choice(self, kept: Sequence[Source]) -> Hashable:
        """What stands for these sources, where runs on the same ones may find what each other left."""
        is_everything = self._conduct is not None and len(kept) == len(self._conduct.units)
        return EVERYTHING if is_everything else tuple(source.id for source in kept)

    def _is_harmless(self, place: str, key: str) -> bool:
        """True iff the caller says so of a place, or each source has a value of its own there."""
        known = () if self._captured is None else self._captured.sources
        own = bool(key) and any(key in {source.id, source.text} for source in known)
        return own or self._manner.steady.is_ignored(place)

    def _is_settled(self, place: str) -> bool:
        """True iff the caller says that a place means nothing, or it holds the same whatever is
        retrieved."""
        return self._manner.steady.is_ignored(place) or self._rewinding.is_constant(place)

    def _bound(self, run: Participation, kept: Sequence[Source]) -> Bound | None:
        if self._manner.replay_bound is None:
            return None
        bound = Bound.of(self._extent(), self._manner.replay_bound, kept)
        watch = run.watch
        watch.exchanges.before_sending.append(lambda _: bound.check_requests(len(watch.requests)))
        watch.before_step.append(bound.check_steps)
        return bound

    def _longest(self) -> float | None:
        factor, seconds = self._manner.replay_bound, self._seconds
        return None if factor is None or seconds is None else seconds_for(seconds, factor)

    def _extent(self) -> Extent:
        first = self._first
        return Extent(
            len(first.watch.requests),
            max(first.tool_calls, len(first.tools)),
            first.watch.steps,
            len(first.gate.queries),
        )

    @contextmanager
    def _failing(self, run: Participation) -> Generator[None, None, None]:
        try:
            with failing(run.watch):
                yield
        except (Exception, ReplayEnded) as error:
            if run.bound is None or not run.bound.passed or isinstance(error, RagRuleError):
                raise
            raise unusable(run.bound.passed, run.watch, passing=False) from error

    def _checked(self, output: Any, kept: Sequence[Source], run: Participation) -> Answer:
        if self._conduct is None or not isinstance(run.gate, Serving):
            raise RuntimeError("recorded() comes before the first replay")
        serving = cast("Serving[object]", run.gate)
        if run.refused is not None:
            raise run.refused
        if run.bound is not None and run.bound.passed:
            raise unusable(run.bound.passed, run.watch, passing=False)
        stopped = self.application.stopped(output)
        if stopped:
            raise unusable(stopped, run.watch, passing=False)
        if run.watch.fault and serving.refused is None:
            raise failed_reply(run.watch.fault, run.watch)
        if len(kept) == len(self._conduct.units) and serving.refused is None:
            # First, since it says more than that the model was not asked, or that nothing was retrieved.
            self._compare(run, self._conduct)
        serving.remarks.update(self.application.remarks(run, self._first))
        answer = self._read(output, run.watch)
        checked = self._conduct.checked(answer, kept, serving, run.watch.requests)
        fault = fault_in(answer, run.watch, run.tools)
        if fault:
            raise unusable(fault, run.watch, passing=True)
        self._fidelity.check(run, answer, kept)
        sources = self._choice(kept)
        if sources != EVERYTHING:
            self._fidelity.repeat(run, kept)
        self._fidelity.compare_answer(run, answer, kept, sources)
        leftover = self._leftovers.found_in(run.watch.exchanges, kept, [*run.made, *serving.queries])
        if leftover is not None:
            self._fidelity.take(leftover, kept)
        return checked

    def _compare(self, run: Participation, exposure: ExposureChecks) -> None:
        try:
            self._fidelity.compare(run)
        except StateShared as error:
            if exposure.held_out and not self._fidelity.remembered:
                # What is known to differ is what was not served.
                raise exposure.unseen_needed(self._that_found) from error
            serving = next((each for each in self._first.begun if each.is_alive()), None)
            if serving is not None and self._fidelity.missed:
                raise served_by(serving.name) from error
            raise

    def _that_found(self, ids: Collection[str]) -> Sequence[Retrieval[Item]]:
        return () if self._captured is None else self._captured.that_found(ids)

    def _read(self, output: Any, watch: Watch) -> Answer:
        return with_spent(Answer.of(self._manner.answer_of(output)), watch)


def _has_retrieved(gate: Recording[Any] | Serving[Any]) -> bool:
    return bool(gate.retrievals if isinstance(gate, Recording) else gate.served)
