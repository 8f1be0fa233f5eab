"""This module runs and checks the replays of one recorded baseline."""

from collections.abc import Generator, Hashable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from ..errors import RagRuleError, StateShared, UntrueReplay
from ..printable import plain_id
from ..probing.replaying import UnusableReply
from ..sources import Source
from ..verdicts import Answer
from .answered import cut_answer, taken_as_answer, whole_answer
from .application import Application
from .beginnings import begin_replay
from .bounds import Bound, Extent, ReplayEnded
from .copies.state import State
from .doubts import UNCERTAIN_TOOL, changed_by_tools, named
from .fidelity import Fidelity
from .inner_calls import check_replay
from .inside_runs import inside_run, replays_muted
from .isolation.exiting import exits_contained
from .next_action import action_in
from .options import CallInput, Manner
from .recording.captured import Captured
from .recording.exposure_checks import ExposureChecks
from .recording.recorder import Recording
from .recording.remarks import REPLIED_OTHERWISE
from .recording.serving import Serving
from .requests.unanswered_calls import note_unanswered
from .run_context import check_not_ended
from .run_failures import failed_reply, failing, unusable
from .run_record import Participation
from .shared_state.lasting import EVERYTHING
from .shared_state.threadbound import served_by
from .source_kinds.after_action import doubts_of_sources
from .source_kinds.gathering import only_running_tools
from .starts import Starts
from .state_watch import StateWatch

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Replays(Generic[Item]):
    """This class replays an application on subsets of the recorded sources, and checks each replay.

    ``first``: the recorded run; ``captured``: its sources; ``exposure``: checks which sources the models
    are sent; ``state``: watches the application's state; ``fidelity``: compares replays with ``first``;
    ``starts``: lets replays on an event loop begin one after the other.
    """

    application: Application[Item]
    case: CallInput
    manner: Manner
    first: Participation
    captured: Captured[Item]
    exposure: ExposureChecks
    state: StateWatch
    fidelity: Fidelity
    starts: Starts = field(default_factory=Starts)

    def __post_init__(self) -> None:
        running = only_running_tools(self.first, self.manner)
        self.state.limit_to(running)
        in_place = changed_by_tools(self.first.tool_record.changing - (running or set()))
        of_sources = doubts_of_sources(self.first, self.exposure.sight, self.fidelity.steady)
        self.fidelity.doubt = self.fidelity.doubt or of_sources or in_place

    def replay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """Makes one replay on ``kept`` by the application's sync interface; returns its answer."""
        with self._naming_what_is_left(), self.state.turn([source.id for source in kept]):
            with self.state.alone.noticing(), self._replaying(kept) as run, self._ending(run) as got:
                got.append(self.application.run(self._case_of(run), kept))
            # All runs may return and change one object, so it is read before another replay begins.
            return self._checked(got, kept, run)

    async def areplay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """Makes one replay on ``kept`` through the application's async interface; returns its answer."""
        with self._naming_what_is_left():
            async with self.state.aturn([source.id for source in kept]), self.starts.turn() as sent:
                replaying = self._replaying(kept)
                ending, alone = self._ending, self.state.alone
                with alone.noticing(), replaying as run, ending(run) as got, exits_contained():
                    run.watch.exchanges.before_sending.append(sent)
                    got.append(await self.application.arun(self._case_of(run), kept))
                return self._checked(got, kept, run)

    def _case_of(self, run: Participation) -> CallInput:
        """Returns a copy of the input, without the sources that this replay omits."""
        return self.case.copied(lambda given: run.state.edited(self.application.copied(given)))

    @contextmanager
    def _naming_what_is_left(self) -> Generator[None, None, None]:
        """Adds the names of the user's objects that runs have changed to the message of a StateShared
        that the block raises. Also stores, for later explanations, that runs depend on this state."""
        try:
            yield
        except StateShared as error:
            self.state.remember_refusal()
            left = self.state.state_of_runs_in_words()
            if not left:
                raise
            raise StateShared(error.seen, f"{error.ways_out.rstrip('.')}. {left}") from error

    @contextmanager
    def _replaying(self, kept: Sequence[Source]) -> Generator[Participation, None, None]:
        self.application.load_clients(self.state.functions_now, for_replay=True)
        # A module with a retriever or a store may have been imported since. It needs the patches too.
        self.application.interception.wrap_loaded_classes()
        served = self.captured.in_place(kept, self.exposure.units)
        gate, copies = Serving(self.captured, served), self.first.state.of_a_replay()
        run = participation_of(self.application, self.manner, self.state, gate, copies)
        run.traced, run.muted = self.manner.trace_replays, not self.manner.print_replays
        run.bound = self._bound(run, kept)
        sources, maker, watch = self._choice(kept), named(kept), run.watch
        gate.has_other_sources, gate.holds_out = sources != EVERYTHING, bool(self.exposure.held_out)
        run.outside = self.state.outside.of_run(sources, maker, lambda: self.state.alone.is_needed)
        texts = self.fidelity.texts
        watch.exchanges.after_reply.append(
            lambda reply: texts.note_reply(maker, reply, [each.text for each in watch.requests])
        )
        # ``begin_replay`` may end the replay, so it comes last.
        begin_replay(run, self.first, self.manner, kept, self.fidelity)
        found, counted = self.fidelity.find, self.fidelity.count
        looking = self.state.looking(sources, self._is_a_sources_own, found, counted)
        taking_part = inside_run(self.application, run)
        try:
            # Prints are muted until the replay ends, even if its caller has stopped waiting for it.
            with replays_muted(self.manner), looking, self.state.contexts.as_before(), taking_part:
                yield run
        except UnusableReply as failed:
            self.captured.waited = run.waits or self.captured.waited
            if sources == EVERYTHING:
                self.fidelity.failed = failed.reason
            raise
        finally:
            # No other run may contain a text of this replay, even if this replay failed.
            texts.note(maker, run)

    def _choice(self, kept: Sequence[Source]) -> Hashable:
        """Returns a key for the sources of a replay. Two replays have equal keys iff they retain the same
        sources in the same order."""
        ids = tuple(source.id for source in kept)
        # A replay that gets all sources in another order sends other requests than the baseline. So it
        # must not be compared with the baseline.
        is_baselines = self.exposure.is_all(ids) and not self.captured.other_order(ids)
        return EVERYTHING if is_baselines else ids

    def _bound(self, run: Participation, kept: Sequence[Source]) -> Bound | None:
        if self.manner.replay_bound is None:
            return None
        bound = Bound.of(self._extent(), self.manner.replay_bound, kept)
        watch = run.watch
        watch.exchanges.before_sending.append(lambda _: bound.check_requests(len(watch.requests)))
        watch.before_step.append(bound.check_steps)
        return bound

    def _extent(self) -> Extent:
        first = self.first
        return Extent(
            len(first.watch.requests),
            max(first.tool_calls, len(first.tools)),
            first.watch.steps,
            len(first.gate.queries),
        )

    @contextmanager
    def _ending(self, run: Participation) -> Generator[list[Any], None, None]:
        """Yields an empty list, into which the block puts the run's output. An error in the block is
        raised as an error of this package. No error is raised if the run was ended at a tool call whose
        result is unknown: the application's own error may be a consequence of that."""
        try:
            with self._failing(run):
                yield []
        except (Exception, ReplayEnded) as error:
            if isinstance(run.refused, UntrueReplay) and error is not run.refused:
                raise run.refused from error  # the application caught this error and raised another one
            if run.tool_replay is None or not run.tool_replay.cut:
                raise

    @contextmanager
    def _failing(self, run: Participation) -> Generator[None, None, None]:
        try:
            with failing(run.watch):
                yield
        except (Exception, ReplayEnded) as error:
            if run.bound is None or not run.bound.passed or isinstance(error, RagRuleError):
                raise
            raise unusable(run.bound.passed, run.watch, passing=False) from error

    def _checked(self, got: list[Any], kept: Sequence[Source], run: Participation) -> Answer:
        if not isinstance(run.gate, Serving):
            raise TypeError("a replay is served")
        serving = cast("Serving[object]", run.gate)
        check_not_ended(run)
        self._note_uncertain_tools(run)
        action = self.first.action
        if action is None:
            check_replay(run, self.manner, self.case.question)
        if action is None and run.tool_replay is not None and run.tool_replay.cut:
            return self._checked_so_far(run.tool_replay.cut, kept, run, serving)
        if action is None:
            self._check_not_waiting(got[0], run)
            note_unanswered(run, got[0])
        if run.watch.fault and serving.refused is None:
            raise failed_reply(run.watch.fault, run.watch)
        sources = self._choice(kept)
        if sources == EVERYTHING and serving.refused is None:
            # Its error tells the user more than the later errors, such as that no model was called.
            self._compare(run)
        serving.remarks.update(self.application.remarks(run, self.first))
        whole = action_in(run) if action else whole_answer(self.manner, got[0], run, self.first)
        answer, fault = taken_as_answer(whole, run, self.manner)
        checked = self.exposure.checked(answer, kept, serving, run.watch.requests)
        self._check_search_is_no_chance(checked, kept, run)
        if fault:
            raise unusable(fault, run.watch, passing=True)
        self.fidelity.check(run, answer, kept)
        if sources != EVERYTHING:
            self.fidelity.repeat(run, kept)
        self.fidelity.compare_answer(run, answer, kept, sources)
        leftover = self.state.leftovers.found_in(run.watch.exchanges, kept, [*run.made, *serving.queries])
        if leftover is not None:
            self.fidelity.take(leftover, kept)
        return checked

    def _note_uncertain_tools(self, run: Participation) -> None:
        found = () if run.tool_replay is None else sorted(run.tool_replay.uncertain)
        for each in found[:1]:
            self.fidelity.doubt = self.fidelity.doubt or UNCERTAIN_TOOL.format(name=repr(each))

    def _check_not_waiting(self, output: Any, run: Participation) -> None:
        stopped = self.application.stopped(output, self.case)
        if stopped:
            self.captured.waited = stopped
            raise unusable(stopped, run.watch, passing=False)

    def _checked_so_far(
        self, cut: str, kept: Sequence[Source], run: Participation, serving: Serving[object]
    ) -> Answer:
        """Checks a replay that was ended at a tool call, for the reason ``cut``; returns its calls."""
        is_all = self._choice(kept) == EVERYTHING
        if is_all and self.first.ends_at is None:
            self.fidelity.failed = cut
        answer = cut_answer(run, self.manner, cut, self.first)
        if serving.refused is None and not serving.served:
            raise unusable(cut, run.watch, passing=False)
        if is_all and self.first.ends_at is not None:
            self._compare(run)
        checked = self.exposure.checked(answer, kept, serving, run.watch.requests)
        self.fidelity.check(run, answer, kept)
        return checked

    def _check_search_is_no_chance(
        self, answer: Answer, kept: Sequence[Source], run: Participation
    ) -> None:
        """Raises UnusableReply if the application did not search for a retained source, and a model had
        replied to an equal request otherwise than in the baseline. The search may then be missing by
        chance, and not because of the omitted sources."""
        delivered, first = answer.delivered, self.fidelity.first
        missing = [] if delivered is None else [each for each in kept if each.id not in delivered]
        if not missing or first is None or getattr(run.gate, "promoting", False):
            return
        if first.answered_otherwise(self.fidelity.course(run)):
            named = ", ".join(plain_id(each.id) for each in missing)
            raise unusable(REPLIED_OTHERWISE.format(named=named), run.watch)

    def _compare(self, run: Participation) -> None:
        try:
            self.fidelity.compare(run)
        except UntrueReplay as error:
            if self.exposure.held_out and not self.fidelity.remembered:
                # The baseline retrieved the held-out sources, and the replay did not get them. They are
                # the likely cause of the difference, so the error names them.
                raise self.exposure.unseen_needed(self.captured.that_found) from error
            serving = next((each for each in self.first.begun if each.is_alive()), None)
            if serving is not None and self.fidelity.missed:
                raise served_by(serving.name) from error
            raise

    def _is_a_sources_own(self, key: str) -> bool:
        """Returns True iff ``key`` is the id or the text of a source. An application may keep one entry
        for each source in a dict, and such entries are no reason for doubt."""
        return any(key in {source.id, source.text} for source in self.captured.sources)


def participation_of(
    application: Application[Any],
    manner: Manner,
    state: StateWatch,
    gate: Recording[Any] | Serving[Any],
    copies: State,
) -> Participation:
    """Returns the ``Participation`` of a run that is about to begin. ``copies``: the run's copies of the
    application's memory."""
    run = Participation(gate, application.watch(accepts=manner.accepts), copies, manner.stub_tools)
    run.shared, run.unexecuted_tools = state.alone.at_start, manner.unexecuted_tools
    run.before_search.append(state.lasting.caches.note_search)
    return run
