"""One input to an application: its recorded baseline, then its replays."""

import asyncio
from collections.abc import AsyncIterator, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import replace
from importlib.metadata import version
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langsmith import run_helpers

from rag_rule_explainer import (
    Answer,
    BaselineFailed,
    InvalidInput,
    NoSourcesCaptured,
    RagRuleError,
    Source,
)
from rag_rule_explainer.probing.conduct import Conduct
from rag_rule_explainer.probing.gating import Captured, OnNewQuery, Recording, Serving
from rag_rule_explainer.probing.replaying import Baseline, UnusableReply

from .brought import as_documents
from .cases import Case, Manner
from .documents import copied
from .finding import Found, documents_found, identify
from .interception import interception
from .participation import Participation, participating
from .reading import plain, texts_in, tokens
from .state import State
from .watching import Watch

REPLAY_TAG = "rag-rule-replay"
BASELINE_TAG = "rag-rule-baseline"

_LONGEST_NAME = 60


class ApplicationRun:
    """Runs ``application`` on a case: first on everything, recording, then on parts of that."""

    def __init__(self, application: Runnable[Any, Any], case: Case, manner: Manner) -> None:
        if case.documents is not None and case.add_documents:
            raise InvalidInput("documents= and add_documents= were both given; add them to documents")
        self.application = application
        self.case = case
        self._manner = manner
        # What one run does to its input must not reach another run, nor the record of it.
        self._input = copied(case.given)
        self._captured: Captured[Found] | None = None
        self._conduct: Conduct | None = None
        self._first = self._baseline_participation()

    def anew(self) -> "ApplicationRun":
        """The same, as if nothing had been run."""
        return ApplicationRun(self.application, self.case, self._manner)

    def _baseline_participation(self) -> Participation:
        only = self._manner.retrievers
        gate: Recording[Found] | Serving[Found]
        if self.case.documents is None:
            added = (
                documents_found(as_documents(self.case.add_documents)) if self.case.add_documents else []
            )
            gate = Recording(identify, added, only)
        else:
            brought = documents_found(as_documents(self.case.documents))
            self._captured = Captured[Found].brought(brought, identify, only)
            gate = self._captured.replaying(self._captured.sources)
        return self._participation(gate, State(live=self.case.live))

    def _participation(self, gate: Recording[Found] | Serving[Found], state: State) -> Participation:
        watch = Watch(allow_length=self._manner.allow_length)
        return Participation(gate, watch, state, self._manner.stub_tools)

    def baseline(self) -> Any:
        """The application's output on everything, through its sync entry.

        Raises BaselineFailed where the application raises.
        """
        with self._running_first() as config:
            return self.application.invoke(copied(self._input), config)

    async def abaseline(self) -> Any:
        """The same through its async entry."""
        with self._running_first() as config:
            return await self.application.ainvoke(copied(self._input), config)

    def stream(self) -> Iterator[Any]:
        """The same, chunk by chunk. The consumer's context takes part in nothing."""
        context, stack = copy_context(), ExitStack()
        try:
            config = context.run(stack.enter_context, self._running_first())
            chunks = context.run(self.application.stream, copied(self._input), config)
            while (chunk := context.run(_next, stack, chunks)) is not _END:
                yield chunk
        finally:
            context.run(stack.close)

    async def astream(self) -> AsyncIterator[Any]:
        """The same through its async entry, in a task, whose context is its own."""
        chunks: asyncio.Queue[Any] = asyncio.Queue()

        async def produce() -> None:
            try:
                with self._running_first() as config:
                    async for chunk in self.application.astream(copied(self._input), config):
                        chunks.put_nowait(chunk)
            finally:
                chunks.put_nowait(_END)

        producing = asyncio.create_task(produce())
        try:
            while (chunk := await chunks.get()) is not _END:
                yield chunk
            await producing
        finally:
            producing.cancel()
            await asyncio.wait([producing])

    @contextmanager
    def _running_first(self) -> Generator[RunnableConfig, None, None]:
        tagged: RunnableConfig = {"tags": [BASELINE_TAG]}
        try:
            with participating(self._first):
                yield merge_configs(self.case.config, tagged)
        except RagRuleError:
            raise
        except Exception as error:
            raise BaselineFailed(
                "the application failed on this input, so there is no answer to explain; "
                f"make it answer first: {type(error).__name__}: {error}"
            ) from error

    def recorded(self, output: Any, replays: int = 1) -> tuple[Sequence[Source], Baseline]:
        """What was retrieved, and the answer.

        Raises NoSourcesCaptured where nothing was seen, BaselineFailed where a model's reply is none.
        """
        first, gate = self._first, self._first.gate
        if first.watch.fault:
            raise BaselineFailed(
                f"{first.watch.fault}, so there is no answer to explain; make it answer first"
            )
        retrievals = gate.retrievals if isinstance(gate, Recording) else gate.served
        if isinstance(gate, Recording):
            self._captured = gate.captured(self._on_new_query())
        if self._captured is None or not retrievals or not self._captured.sources:
            raise NoSourcesCaptured(_why_nothing(retrievals))
        return self._understood(self._captured, self._read(output, first.watch), replays)

    def of_another_run(
        self, recording: Recording[Found], output: Any, watch: Watch, before: Mapping[Hashable, Any]
    ) -> tuple[Sequence[Source], Baseline]:
        """The same for a run of the user's own that was recorded, and is not made again."""
        state = State(before=dict(before))
        self._first = Participation(recording, watch, state, tools=watch.tools)
        return self.recorded(output, replays=0)

    def _understood(
        self, captured: Captured[Found], current: Answer, replays: int
    ) -> tuple[Sequence[Source], Baseline]:
        case = self.case
        conduct = Conduct.of(
            captured.sources,
            self._first.watch.requests,
            scope=self._manner.scope,
            constant=texts_in(self._input),
            pinned=case.pinned,
            on_no_retrieval=self._manner.on_no_retrieval,
        )
        self._conduct = conduct
        logged = None if case.baseline is None else self._logged(case.baseline)
        baseline = Baseline(
            current if logged is None else logged,
            None if conduct.held_out else current,
            logged=logged is not None,
            replays=replays,
            usage=(current.usage or {}) if replays else {},
            input=plain(self._input),
            scope=conduct.scope,
            held_out=conduct.held_out,
            warnings=tuple(self._warnings()),
            notes=conduct.notes,
            versions={"langchain-core": version("langchain-core")},
        )
        return conduct.units, baseline

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
        with self._replaying(kept) as (run, config):
            output = self.application.invoke(copied(self._input), config)
        return self._checked(output, kept, run)

    async def areplay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's async entry."""
        with self._replaying(kept) as (run, config):
            output = await self.application.ainvoke(copied(self._input), config)
        return self._checked(output, kept, run)

    @contextmanager
    def _replaying(
        self, kept: Sequence[Source]
    ) -> Generator[tuple[Participation, RunnableConfig], None, None]:
        if self._captured is None:
            raise RuntimeError("recorded() comes before the first replay")
        # A retriever or a store may have been imported since the last replay.
        interception.wrap_loaded_classes()
        run = self._participation(self._captured.replaying(kept), self._first.state.of_a_replay())
        ids = ",".join(source.id for source in kept)
        shown = ids if len(ids) <= _LONGEST_NAME else f"{len(kept)} sources"
        traced: RunnableConfig = {
            "run_name": f"rag_rule_replay[{shown}]",
            "tags": [REPLAY_TAG],
            "metadata": {"rag_rule_kept": ids},
        }
        config = merge_configs(_of_a_new_run(self.case.config), traced)
        with participating(run), ExitStack() as untraced:
            if not self._manner.trace_replays:
                config["callbacks"] = []
                untraced.enter_context(run_helpers.tracing_context(enabled=False))  # pyright: ignore[reportUnknownMemberType] -- a parameter of it has half a type
            yield run, config

    def _checked(self, output: Any, kept: Sequence[Source], run: Participation) -> Answer:
        if self._conduct is None or not isinstance(run.gate, Serving):
            raise RuntimeError("recorded() comes before the first replay")
        serving = cast("Serving[object]", run.gate)
        if run.watch.fault and serving.refused is None:
            raise UnusableReply(run.watch.fault, tokens(run.watch.usage_metadata.values()))
        answer = self._read(output, run.watch)
        return self._conduct.checked(answer, kept, serving, run.watch.requests)

    def _read(self, output: Any, watch: Watch) -> Answer:
        answer = Answer.of(self._manner.answer_of(output))
        # Every model the application asked, not just the one whose message is its output.
        spent = {**(answer.usage or {}), **(tokens(watch.usage_metadata.values()) or {})}
        return replace(answer, usage=spent or None)


_END = object()


def _next(open_until_then: ExitStack, chunks: Iterator[Any]) -> Any:
    try:
        return next(chunks)
    except StopIteration:
        return _END
    except Exception as error:
        # Through the block the run is made in, which tells whose fault it is.
        if open_until_then.__exit__(type(error), error, error.__traceback__):
            return _END
        raise


def _of_a_new_run(config: RunnableConfig) -> RunnableConfig:
    """The config without the id of the run it was given for."""
    return cast("RunnableConfig", {key: value for key, value in config.items() if key != "run_id"})


def _why_nothing(retrievals: int) -> str:
    if retrievals:
        return (
            "the application's retrievers returned no documents for this input, so there is nothing to "
            "explain its answer by; check the query and the index"
        )
    return (
        "the application answered without a retrieval that could be seen: those of LangChain retrievers "
        "and vector stores made inside its run are. Wrap any other search, or one in a thread of its "
        "own, in gate(...) where it is called; or explain your own function of (question, sources) with "
        "rag_rule_explainer.Explainer"
    )
