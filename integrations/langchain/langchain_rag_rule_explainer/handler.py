"""This module defines ``RuleExplanationHandler``, which explains ordinary runs after they have ended."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput
from rag_rule_explainer.instrumentation.call import Call, Recorded
from rag_rule_explainer.instrumentation.checks import brief, called_as, checked_flag, checked_whole
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.engine import TracedExplanation
from rag_rule_explainer.instrumentation.outputs import unexplained
from rag_rule_explainer.instrumentation.recording.recorder import Recording

from .finding import Found
from .interception import interception
from .recorded_runs import RecordedRun, RecordedRuns
from .runnable import RuleExplainer
from .tracing import as_one_async_run, as_one_run

_LOOP_ENDED = (
    "the event loop ended before the run was explained; await handler.finished() in it, after the run"
)


@called_as("RuleExplanationHandler")
class RuleExplanationHandler(BaseCallbackHandler):
    """This callback handler records ordinary runs of an application, and explains them afterwards.

    Pass it in the callbacks of a run: ``chain.invoke(x, {"callbacks": [handler]})``. The handler records
    the question, the retrieved documents, the requests to models and the answer of this run. The run is
    the baseline of its explanation, so neither the run nor its retrievals are repeated.

    With ``auto=True`` each run is explained when it ends. A sync run is explained before ``invoke``
    returns. An async run is explained in a task, for which ``await handler.finished()`` waits. If a run
    could not be explained, ``errors`` and a warning say why. ``keep``: the number of ended runs that are
    kept.

    A handler can record several runs at the same time. It ignores replays and the runs of a
    RuleExplainer. In traces, an explanation is a separate run, whose metadata has the id of the explained
    run. Raises InvalidInput if ``explainer`` is not a RuleExplainer, or ``keep`` is not a whole number
    above 0.
    """

    run_inline = True  # LangChain then calls the handler in the context of the run

    def __init__(
        self, explainer: RuleExplainer[Any, Any], *, auto: bool = False, keep: int = 100
    ) -> None:
        if not isinstance(explainer, RuleExplainer):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(
                f"the explainer is {brief(explainer)}; give a RuleExplainer of the application"
            )
        checked_flag("auto", auto)
        checked_whole("keep", keep, 1)
        self.explainer = explainer
        self.explanations: dict[UUID, Explanation] = {}
        self.errors: dict[UUID, Exception] = {}
        self._auto = auto
        self._recorded = RecordedRuns(explainer, keep)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def runs(self) -> tuple[UUID, ...]:
        """Returns the ids of the ended runs that can be explained, the oldest first."""
        return tuple(run.id for run in self._recorded.ended)

    def explain(self, run_id: UUID | None = None, config: RunnableConfig | None = None) -> Explanation:
        """Returns the rules of the answer of a recorded run, by default of the latest run. Blocks until
        the search has ended.

        ``config``: entries for the config of the replays. The thread id and the session id of the run are
        recorded; ``config`` is needed only if the replays need more. Raises InvalidInput if no such run
        has ended, and the errors of ``RuleExplainer.explain``.
        """
        run = self._recorded.ended_run(run_id)

        def explained(config: RunnableConfig, trace: TracedExplanation) -> Explanation:
            with interception.intercepting():
                call, recorded = self._call(run, config, trace)
                return call.mined_blocking(recorded)

        trace = TracedExplanation(explained_run=str(run.id))
        merged: RunnableConfig = {**run.config, **(config or {})}
        explanation = as_one_run(explained, run.given, merged, trace)
        self.explanations[run.id] = explanation
        return explanation

    async def aexplain(
        self, run_id: UUID | None = None, config: RunnableConfig | None = None
    ) -> Explanation:
        """Returns the rules of the answer of a recorded run, as ``explain`` does, but calls async
        methods in the caller's event loop."""
        run = self._recorded.ended_run(run_id)

        async def explained(config: RunnableConfig, trace: TracedExplanation) -> Explanation:
            with interception.intercepting():
                call, recorded = self._call(run, config, trace)
                return await call.amined(recorded)

        trace = TracedExplanation(explained_run=str(run.id))
        merged: RunnableConfig = {**run.config, **(config or {})}
        explanation = await as_one_async_run(explained, run.given, merged, trace)
        self.explanations[run.id] = explanation
        return explanation

    async def finished(self) -> None:
        """Waits until every async run that has ended is explained. Needed only with ``auto=True``."""
        await asyncio.gather(*self._tasks)

    def recording_of(self, run_id: UUID | None) -> Recording[Found] | None:
        """Returns the recording of the root run that contains the run with this id.

        Returns None if this handler does not record the root run, if it has ended, or if ``run_id`` is
        None.
        """
        run = self._recorded.of(run_id)
        return None if run is None or run.ended else run.recording

    def state_of(self, run_id: UUID | None) -> State | None:
        """Returns the content that the application's stores and histories had before a root run. The root
        run is the one that contains the run with this id.

        Returns None if this handler does not record the root run, if it has ended, or if ``run_id`` is
        None.
        """
        run = self._recorded.of(run_id)
        return None if run is None or run.ended else run.state

    def _call(
        self, run: RecordedRun, config: RunnableConfig, trace: TracedExplanation
    ) -> tuple[Call[Found], Recorded]:
        call = self.explainer.recorded_call(run.given, config, trace)
        return call, call.run.of_another_run(
            run.recording, run.output, run.watch, run.state, run.watch.tools, str(run.id)
        )

    @override
    def on_chain_start(
        self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, **event: Any
    ) -> None:
        self._recorded.started(run_id, inputs, event)

    @override
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **event: Any) -> None:
        run = self._recorded.finished(run_id, outputs, event)
        if run is not None and self._auto:
            self._explain_now(run)

    @override
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        self._recorded.failed(run_id)

    @override
    def on_tool_start(
        self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **event: Any
    ) -> None:
        run = self._recorded.started(run_id, input_str, event)
        if run is not None:
            run.watch.on_tool_start(serialized, input_str, **event)

    @override
    def on_retriever_start(
        self, serialized: dict[str, Any], query: str, *, run_id: UUID, **event: Any
    ) -> None:
        self._recorded.retrieval_started(run_id, query, event)

    @override
    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **event: Any) -> None:
        self._recorded.retrieval_ended(run_id, documents)

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **event: Any
    ) -> None:
        run = self._recorded.model_started(event)
        if run is not None:
            run.watch.on_chat_model_start(serialized, messages, **event)

    @override
    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], **event: Any) -> None:
        run = self._recorded.model_started(event)
        if run is not None:
            run.watch.on_llm_start(serialized, prompts, **event)

    @override
    def on_llm_new_token(self, token: Any, **event: Any) -> None:
        run = self._recorded.of(event.get("run_id"))
        if run is not None:
            run.watch.on_llm_new_token(token, **event)

    @override
    def on_llm_end(self, response: LLMResult, **event: Any) -> None:
        run = self._recorded.of(event.get("run_id"))
        if run is not None:
            run.watch.on_llm_end(response, **event)

    def _explain_now(self, run: RecordedRun) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            try:
                self.explain(run.id)
            # The run itself succeeded, so the error is stored in ``errors`` instead of raised.
            except Exception as error:
                self._note(run, error)
            return
        task = loop.create_task(self._explain_in_task(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _explain_in_task(self, run: RecordedRun) -> None:
        try:
            await self.aexplain(run.id)
        except asyncio.CancelledError:
            self._note(run, InvalidInput(_LOOP_ENDED))
            raise
        except Exception as error:
            self._note(run, error)

    def _note(self, run: RecordedRun, error: Exception) -> None:
        self.errors[run.id] = unexplained(run.output, error).error
