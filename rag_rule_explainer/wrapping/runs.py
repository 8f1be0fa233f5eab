"""One input to an application: its recorded baseline, then its replays."""

import hashlib
from collections.abc import AsyncIterator, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from ..errors import BaselineFailed, NoSourcesCaptured, RagRuleError
from ..probing.conduct import Conduct
from ..probing.gating import Captured, OnNewQuery, Recording, Serving
from ..probing.replaying import Baseline, UnusableReply
from ..sources import Source
from ..verdicts import Answer
from .application import Application
from .cases import Case, Manner
from .copying import described
from .participation import Participation, Watch, failed_reply, failing, participating, with_spent
from .retrieved import Retrieved
from .state import State
from .stopping import Stopping
from .streams import astreamed, streamed

Item = TypeVar("Item")


class ApplicationRun(Generic[Item]):
    """Runs an application on a case: first on everything, recording, then on parts of that."""

    def __init__(self, application: Application[Item], case: Case, manner: Manner) -> None:
        self.application = application
        # What one run does to its input must not reach another run, nor the record of it.
        self.case = replace(case, given=application.copied(case.given))
        self._manner = manner
        self._captured: Captured[Item] | None = None
        self._conduct: Conduct | None = None
        self._first = self._baseline_participation()

    def anew(self) -> "ApplicationRun[Item]":
        """The same, as if nothing had been run."""
        return ApplicationRun(self.application, self.case, self._manner)

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
        return self._participation(gate, State(live=self.case.live))

    def _participation(self, gate: Recording[Item] | Serving[Item], state: State) -> Participation:
        watch = self.application.watch(allow_length=self._manner.allow_length)
        return Participation(gate, watch, state, self._manner.stub_tools)

    def _copied(self) -> Case:
        return replace(self.case, given=self.application.copied(self.case.given))

    def baseline(self) -> Any:
        """The application's output on everything, through its sync entry.

        Raises BaselineFailed where the application raises.
        """
        with self._running_first():
            return self.application.run(self._copied(), None)

    async def abaseline(self) -> Any:
        """The same through its async entry."""
        with self._running_first():
            return await self.application.arun(self._copied(), None)

    def retrieved(self) -> Retrieved:
        """What the application retrieves; it is stopped where it would first show any of it to a model.

        Raises NoSourcesCaptured, BaselineFailed.
        """
        with self._until_enough() as stopping:
            self.baseline()
        return self._retrieved_until(stopping)

    async def aretrieved(self) -> Retrieved:
        """The same through its async entry."""
        with self._until_enough() as stopping:
            await self.abaseline()
        return self._retrieved_until(stopping)

    @contextmanager
    def _until_enough(self) -> Generator[Stopping, None, None]:
        gate = self._first.gate
        stopping = Stopping(lambda: bool(gate.retrievals if isinstance(gate, Recording) else gate.served))
        self._first.watch.stopping = stopping
        with stopping.forgiving():
            yield stopping

    def _retrieved_until(self, stopping: Stopping) -> Retrieved:
        captured, watch = self._recorded_sources(), self._first.watch
        return Retrieved.of(captured.sources, self._conduct_for(captured), stopping.request, watch)

    def stream(self) -> Iterator[Any]:
        """The same, chunk by chunk. The consumer's context takes part in nothing."""
        return streamed(self._running_first(), lambda: self.application.stream(self._copied()))

    def astream(self) -> AsyncIterator[Any]:
        """The same through its async entry."""
        return astreamed(self._running_first(), lambda: self.application.astream(self._copied()))

    @contextmanager
    def _running_first(self) -> Generator[None, None, None]:
        try:
            with self._joined(self._first):
                yield
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
        if first.watch.fault:
            raise BaselineFailed(
                f"{first.watch.fault}, so there is no answer to explain; make it answer first"
            )
        captured = self._recorded_sources()
        return self._understood(captured, self._read(output, first.watch), replays)

    def _recorded_sources(self) -> Captured[Item]:
        gate = self._first.gate
        retrievals = gate.retrievals if isinstance(gate, Recording) else gate.served
        if isinstance(gate, Recording):
            self._captured = gate.captured(self._on_new_query())
        if self._captured is None or not retrievals or not self._captured.sources:
            told = self.application.why_nothing(retrievals)
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
        before: Mapping[Hashable, Any],
        tools: set[str],
    ) -> tuple[Sequence[Source], Baseline]:
        """The same for a run of the user's own that was recorded, and is not made again.

        ``before``: what the application remembered when it began; ``tools``: those that ran.
        """
        self._first = Participation(recording, watch, State(before=dict(before)), tools=tools)
        return self.recorded(output, replays=0)

    def _understood(
        self, captured: Captured[Item], current: Answer, replays: int
    ) -> tuple[Sequence[Source], Baseline]:
        case, conduct = self.case, self._conduct_for(captured)
        self._conduct = conduct
        logged = None if case.baseline is None else self._logged(case.baseline)
        baseline = Baseline(
            current if logged is None else logged,
            None if conduct.held_out else current,
            logged=logged is not None,
            replays=replays,
            usage=(current.usage or {}) if replays else {},
            models=current.models if replays else None,
            state=self._state(),
            input=self.application.plain(case.given),
            scope=conduct.scope,
            held_out=conduct.held_out,
            warnings=tuple(self._warnings()),
            notes=(*conduct.notes, *self.application.notes(captured)),
            versions=self.application.versions(),
        )
        return conduct.units, baseline

    def _conduct_for(self, captured: Captured[Item]) -> Conduct:
        return Conduct.of(
            captured.sources,
            self._first.watch.requests,
            scope=self._manner.scope,
            constant=self.application.texts_in(self.case.given),
            pinned=self.case.pinned,
            shown=self.application.shown(captured),
            on_no_retrieval=self._manner.on_no_retrieval,
        )

    def _state(self) -> str:
        """What answers depend on beside question and sources: the rest of the input, what is
        remembered."""
        given = self.application.plain(self.case.given)
        remembered = sorted(map(described, self._first.state.before.values()))
        if given == self.case.question and not remembered:
            return ""
        told = "\n".join([described(given), *remembered])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _logged(self, given: Any) -> Answer:
        return (
            Answer.of(given)
            if isinstance(given, (str, Answer))
            else Answer.of(self._manner.answer_of(given))
        )

    def _warnings(self) -> Iterable[str]:
        stubs = self._manner.stub_tools
        acting = self._first.tools - self._first.retrieving_tools - set(stubs)
        for tool in sorted(acting):
            yield (
                f"the tool {tool!r} retrieved nothing in the baseline and runs again in every replay; if "
                f"it changes anything, pass stub_tools={{{tool!r}: its result}}"
            )

    def _on_new_query(self) -> OnNewQuery:
        # Whoever calls tools writes its queries itself, and anew in every run.
        return self._manner.on_new_query or ("filter" if self._first.tools else "kept")

    def replay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's sync entry."""
        with self._replaying(kept) as run, failing(run.watch):
            output = self.application.run(self._copied(), kept)
        return self._checked(output, kept, run)

    async def areplay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's async entry."""
        with self._replaying(kept) as run, failing(run.watch):
            output = await self.application.arun(self._copied(), kept)
        return self._checked(output, kept, run)

    @contextmanager
    def _replaying(self, kept: Sequence[Source]) -> Generator[Participation, None, None]:
        if self._captured is None:
            raise RuntimeError("recorded() comes before the first replay")
        # A retriever or a store may have been imported since the last replay.
        self.application.interception.wrap_loaded_classes()
        run = self._participation(self._captured.replaying(kept), self._first.state.of_a_replay())
        run.traced = self._manner.trace_replays
        with self._joined(run):
            yield run

    def _checked(self, output: Any, kept: Sequence[Source], run: Participation) -> Answer:
        if self._conduct is None or not isinstance(run.gate, Serving):
            raise RuntimeError("recorded() comes before the first replay")
        serving = cast("Serving[object]", run.gate)
        if run.refused is not None:
            raise run.refused
        if run.watch.fault and serving.refused is None:
            raise failed_reply(run.watch.fault, run.watch)
        serving.remarks.update(self.application.remarks(run, self._first))
        answer = self._read(output, run.watch)
        return self._conduct.checked(answer, kept, serving, run.watch.requests)

    def _read(self, output: Any, watch: Watch) -> Answer:
        return with_spent(Answer.of(self._manner.answer_of(output)), watch)
