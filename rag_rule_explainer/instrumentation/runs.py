"""This module runs an application on one input: first the recorded baseline, then the replays."""

import time
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Generic, TypeVar

from ..errors import BaselineFailed, InvalidInput, NoSourcesCaptured, RagRuleError
from ..probing.interrupts import kept as interrupts_kept
from ..probing.replaying import Baseline, UnusableReply
from ..probing.tracing.marks import TracedExplanation
from ..probing.tracing.traced import traced_first
from ..sources import Source
from ..verdicts import Answer
from .application import Application
from .beginnings import begin_baseline
from .copies.state import State
from .doubts import BASELINE, Advice
from .explainable import explainable, first_answer
from .fidelity import Fidelity
from .first_run_faults import (
    application_failed,
    check_tools,
    no_answer,
    nothing_retrieved,
    tools_that_acted,
)
from .inside_runs import inside_run
from .isolation.attributes import data_copy
from .isolation.exiting import exits_contained
from .options import CallInput, Manner
from .outer_steps import repeated_part
from .recorded_baseline import RecordedBaseline
from .recording.captured import Captured
from .recording.exposure_checks import ExposureChecks
from .recording.first_gate import first_gate
from .recording.recorder import Recording
from .recording.refetching import Refetch
from .replays import Replays, participation_of
from .run_failures import failed_reply
from .run_record import Participation
from .searches.items import why_empty
from .searches.retrieval_result import Retrieved
from .shared_state.lasting import EVERYTHING
from .source_kinds.gathering import check_kinds, constant_texts, gathered, other_texts, why_no_sources
from .source_kinds.shown_results import is_given_by_tool, shown_results
from .state_watch import StateWatch
from .stopping import Stopping
from .streams import AsyncForwarded, forwarded
from .watches import ModelWatch

Item = TypeVar("Item")


class ApplicationRun(Generic[Item]):
    """An ``ApplicationRun`` runs an application on one input: first the baseline, which it records, then
    the replays on subsets of the sources. ``manner``: the explainer's settings."""

    def __init__(
        self,
        application: Application[Item],
        case: CallInput,
        manner: Manner,
        trace: TracedExplanation | None = None,
    ) -> None:
        self.application = application
        self.trace = trace or TracedExplanation()
        self.trace.replays = manner.trace_replays
        # A run may change its input. Other runs must not see the change, so every run gets a copy.
        before = data_copy(case.config) if case.before is None else case.before
        self.case = replace(case.copied(application.copied), before=before)
        self._live_keywords = case.keywords if case.live else None
        self.manner = manner
        self._captured: Captured[Item] | None = None
        self._seconds: float | None = None
        self._state = StateWatch(application.root, self.case.objects, manner.steady, self._isolated)
        self._first = self._baseline_participation()
        self._recorded: Replays[Item] | None = None
        advice, state = Advice(application.making, application.seeing), self._state
        self._fidelity = Fidelity(
            manner.steady, advice, state.lasting_state, state.has_changed, state.rewinding
        )

    def anew(self, refetch: Refetch | None = None) -> "ApplicationRun[Item]":
        """Returns a new ``ApplicationRun`` for the same input; its baseline has not run yet. ``refetch``:
        the change of the corpus for its first run; None to keep the change of this run, if any."""
        case = self.case if refetch is None else replace(self.case, refetch=refetch)
        return ApplicationRun(self.application, case, self.manner, self.trace)

    def _baseline_participation(self) -> Participation:
        check_kinds(self.manner, self.case)
        gate, self._captured = first_gate(self.application, self.manner, self.case)
        copies, state = State(live=self.case.live), self._state
        first = participation_of(self.application, self.manner, state, gate, copies)
        first.watch.exchanges.before_sending.append(
            lambda request: None if first.retrievals else state.leftovers.early.append(request.text)
        )
        first.outside = state.outside.of_run(EVERYTHING, BASELINE, lambda: True)
        self.application.load_clients(state.functions_before, for_replay=False)
        begin_baseline(first, self.manner, state.leftovers.before, self.application.interception.guards)
        first.tool_record.begin(state.kept if self.manner.replays_tools else None)
        first.trace = self.trace
        return first

    def _isolated(self) -> Iterator[Hashable]:
        """Yields the keys of the objects of which every run has its own copy."""
        yield from (*self._first.state.before, *self._first.state.aside)

    def _first_case(self) -> CallInput:
        """Returns a copy of the input; the keyword arguments of the user's own call are not copied."""
        case = self.case.copied(self.application.copied)
        return case if self._live_keywords is None else replace(case, keywords=self._live_keywords)

    def baseline(self) -> Any:
        """Runs the baseline through the sync interface, and returns its output. Raises BaselineFailed if
        the application raises an error, or the application's own error if the case has ``own_errors``."""
        turn, running = self._state.alone.first_turn(), self._running_first()
        with turn, running, interrupts_kept() as interrupts, interrupts.passed_on():
            return self.application.run(self._first_case(), None)

    async def abaseline(self) -> Any:
        """Runs the baseline through the async interface, and returns its output."""
        async with self._state.alone.first_aturn():
            with self._running_first(), exits_contained():
                return await self.application.arun(self._first_case(), None)

    def retrieved(self) -> Retrieved:
        """Runs the application until it has retrieved, and returns the sources. The run is stopped before
        a model gets these sources. Raises NoSourcesCaptured, BaselineFailed."""
        with self._until_enough() as stopping:
            self._check_not_stopped(self.baseline())
        return self._retrieved_until(stopping)

    async def aretrieved(self) -> Retrieved:
        """Returns the retrieved sources, as ``retrieved`` does, but through the async interface."""
        with self._until_enough() as stopping:
            self._check_not_stopped(await self.abaseline())
        return self._retrieved_until(stopping)

    @contextmanager
    def _until_enough(self) -> Generator[Stopping, None, None]:
        stopping = Stopping(lambda: self._first.has_all_sources)
        self._first.watch.exchanges.before_sending.append(stopping.before)
        with stopping.forgiving(), self._state.rewinding.undone(lambda: self._first.tools):
            yield stopping

    def _retrieved_until(self, stopping: Stopping) -> Retrieved:
        self._first = first = repeated_part(self._first, self.manner, self.case.question)
        captured = self._recorded_sources()
        exposure = self._conduct_for(captured, Answer(""))
        return Retrieved.of(captured.sources, exposure, stopping.request, first)

    def stream(self) -> Iterator[Any]:
        """Yields the baseline's output in chunks. Code that consumes them is not part of the run."""
        running = self._running_first(in_pieces=True)
        return forwarded(running, lambda: self.application.stream(self._first_case()))

    def astream(self) -> AsyncForwarded:
        """Yields the baseline's output in chunks, through the async interface."""
        return AsyncForwarded(self._running_first(), lambda: self.application.astream(self._first_case()))

    @contextmanager
    def _running_first(self, *, in_pieces: bool = False) -> Generator[None, None, None]:
        started, self.trace.explained_run = time.monotonic(), ""
        try:
            taking_part = inside_run(self.application, self._first, in_pieces=in_pieces)
            with self._state.of_the_baseline(live=self.case.live), taking_part, traced_first(self.trace):
                yield
            self._seconds = time.monotonic() - started
        except RagRuleError:
            raise
        except Exception as error:
            if self.case.own_errors:
                raise
            raise application_failed(error, self.case, self._first.retrievals) from error

    def recorded(self, output: Any, replays: int = 1) -> tuple[Sequence[Source], Baseline]:
        """Returns the sources that rules are about, and the baseline made from the first run's answer.

        ``output``: the application's output; ``replays``: the number of runs that were made for the
        baseline. Raises NoSourcesCaptured if no retrieval was observed, BaselineFailed if a model's reply
        is not a usable answer (empty, cut off or an error).
        """
        if (first := self._first).refused is not None:
            raise first.refused
        check_tools(self.manner, first)
        self._first = first = repeated_part(first, self.manner, self.case.question, [output])
        self._check_not_stopped(output)
        if self.case.unreadable is not None:
            raise self.case.unreadable
        if first.watch.fault:
            raise no_answer(first.watch.fault)
        captured = self._sources_of(output)
        try:
            answer = self.answer_in(output)
        except InvalidInput:
            self._check_not_stopped(output, unreadable=True)
            raise
        answer = explainable(answer, first, self.manner)
        given, state = self.application.texts_in(self.case.given), self._state
        state.outside.services.begin([*given, *(source.text for source in captured.sources)])
        self._fidelity.begin(first, answer, captured.sources, given, state.leftovers.before.texts())
        exposure = self._conduct_for(captured, answer)
        self._recorded = Replays(
            self.application, self.case, self.manner, first, captured, exposure, state, self._fidelity
        )
        baseline = RecordedBaseline(self._recorded, self.trace, self._seconds)
        state.leftovers.begin(exposure.units, baseline.given_anyway())
        return exposure.units, baseline.baseline(answer, replays)

    def answer_in(self, output: Any) -> Answer:
        """Returns the answer in an output of the first run."""
        return first_answer(self.manner, output, self._first)

    def _sources_of(self, output: Any) -> Captured[Item]:
        try:
            return self._recorded_sources()
        except NoSourcesCaptured:
            with suppress(InvalidInput):
                self.answer_in(output)
                raise
            # The application may have stopped before it retrieved anything, for example to wait for a
            # human. The error of ``_check_not_stopped`` then names this cause.
            self._check_not_stopped(output, unreadable=True)
            raise

    def _check_not_stopped(self, output: Any, *, unreadable: bool = False) -> None:
        acts = self._first.action is not None and self._first.action.meets  # later stops do not matter
        if not acts and (stopped := self.application.stopped(output, self.case, unreadable=unreadable)):
            raise BaselineFailed(stopped)

    def _recorded_sources(self) -> Captured[Item]:
        first, gate, retrievals = self._first, self._first.gate, self._first.retrievals
        if isinstance(gate, Recording):
            if gate.fault is not None:
                raise gate.fault
            self._captured = gate.captured(self.manner.new_queries(first.tools), first.before)
        if self._captured is not None:
            self._captured = gathered(self._captured, first, self.manner, self.application, self.case)
        if self._captured is None or not retrievals or not self._captured.sources:
            faults = filter(None, map(why_empty, gate.forms if isinstance(gate, Recording) else ()))
            reason = next(faults, "") or why_no_sources(first, self.manner, self.application, retrievals)
            raise nothing_retrieved(reason, self.manner, first.tools, searched=retrievals > 0)
        return self._captured

    @property
    def acted(self) -> list[str]:
        """Returns the names of the tools that ran in the first run, and that must not run again."""
        return tools_that_acted(self.manner, self._first)

    def failure(self, failed: BaselineFailed) -> UnusableReply:
        """Returns the error that a replay would raise if it failed in the same way as this baseline."""
        return failed_reply(str(failed), self._first.watch, failed.__cause__)

    def of_another_run(
        self,
        recording: Recording[Item],
        output: Any,
        watch: ModelWatch,
        state: State,
        tools: set[str],
        identity: str,
    ) -> tuple[Sequence[Source], Baseline]:
        """Returns the sources and the baseline of a run that the user made. ``recording``: the searches
        of this run; ``watch``: its model requests; ``state``: the application's memory at its start;
        ``tools``: the names of the tools that ran; ``identity``: the run's id in traces."""
        check_kinds(self.manner, self.case, has_ended=True)
        self.trace.explained_run = identity
        self._first = Participation(recording, watch, state, tools=tools)
        self._state.miss_the_baseline()
        return self.recorded(output, replays=0)

    def _conduct_for(self, captured: Captured[Item], answer: Answer) -> ExposureChecks:
        results = shown_results(captured.sources, self._first, answer)
        self._first.answered_by_tool = is_given_by_tool(captured.sources, self._first, answer)
        exposure = ExposureChecks.of(
            captured.sources,
            self._first.watch.requests,
            scope=self.manner.scope,
            constant=constant_texts(self.application.texts_in, self.case.given, self._first),
            pinned=self.case.pinned,
            shown=[*self.application.shown(captured), *results],
            others=other_texts(self._first),
        )
        accepted = self.manner.on_no_retrieval
        return replace(exposure, making=self.application.making, on_no_retrieval=accepted)

    def replay(self, question: str, kept: Sequence[Source]) -> Answer:
        """Returns the answer of one replay, through the application's sync interface."""
        return self._replays().replay(question, kept)

    async def areplay(self, question: str, kept: Sequence[Source]) -> Answer:
        """Returns the answer of one replay, through the application's async interface."""
        return await self._replays().areplay(question, kept)

    def _replays(self) -> Replays[Item]:
        if self._recorded is None:
            raise RuntimeError("recorded() comes before the first replay")
        return self._recorded
