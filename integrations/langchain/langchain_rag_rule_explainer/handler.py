"""RuleExplanationHandler: explains ordinary runs afterwards, from what was recorded during them."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput
from rag_rule_explainer.allowed import checked_flag, checked_whole, told
from rag_rule_explainer.instrumentation.call import Call, Recorded
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.engine import BASELINE_TAG, REPLAY_TAG, TracedExplanation
from rag_rule_explainer.instrumentation.outputs import unexplained
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation

from .finding import Found, documents_found, identify
from .graphs import ended
from .interception import interception
from .remembering import configured_by, keep_chat, keep_state
from .retrievers import named_key
from .runnable import RuleExplainer
from .tracing import as_one_async_run, as_one_run
from .watching import Watch


@dataclass(slots=True, eq=False)
class RecordedRun:
    """One ordinary run of the application, while it goes on and after.

    ``state``: what the application remembered when it began; ``unknown``: why that is not known.
    """

    id: UUID
    given: Any
    recording: Recording[Found]
    watch: Watch
    config: RunnableConfig = field(default_factory=RunnableConfig)
    state: State = field(default_factory=lambda: State(live=True))
    unknown: Exception | None = None
    output: Any = None
    ended: bool = False
    chat_known: bool = False


class RuleExplanationHandler(BaseCallbackHandler):
    """Records ordinary runs of an explainer's application, and explains them when asked to.

    To be given in the callbacks of a run: ``chain.invoke(x, {"callbacks": [handler]})``. The question,
    what was retrieved, what the model was sent and the answer are those of that run: nothing is retrieved
    again, and the baseline is not asked again. ``auto=True`` explains each run as soon as it has ended:
    before ``invoke`` returns, or, for an async run, in a task beside it, which ``await
    handler.finished()`` waits for. Where a run has no rules, ``errors`` and a warning say why.
    ``keep``: how many ended runs are remembered, the latest.

    One handler may see many runs at once. It ignores replays, and the runs of a RuleExplainer. In traces
    an explanation is a run of its own, whose metadata has the id of the run that it explains.

    Raises InvalidInput for what is no RuleExplainer, and for a ``keep`` that is no whole number above 0.
    """

    run_inline = True  # in the context of the run itself

    def __init__(
        self, explainer: RuleExplainer[Any, Any], *, auto: bool = False, keep: int = 100
    ) -> None:
        if not isinstance(explainer, RuleExplainer):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(
                f"the explainer is {told(explainer)}; give a RuleExplainer of the application"
            )
        checked_flag("auto", auto)
        checked_whole("keep", keep, 1)
        self.explainer = explainer
        self.explanations: dict[UUID, Explanation] = {}
        self.errors: dict[UUID, Exception] = {}
        self._auto = auto
        self._keep = keep
        self._lock = threading.Lock()
        self._runs: OrderedDict[UUID, RecordedRun] = OrderedDict()
        self._root_of: dict[UUID, UUID] = {}
        self._retrieving: dict[UUID, tuple[Hashable, UUID | None, str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def runs(self) -> tuple[UUID, ...]:
        """The ids of the runs that have ended and can be explained, oldest first."""
        return tuple(run.id for run in self._runs.values() if run.ended)

    def explain(self, run_id: UUID | None = None, config: RunnableConfig | None = None) -> Explanation:
        """Returns the rules of a run's answer, by default the latest's, blocking; see ``RuleExplainer``.

        ``config``: of the replays, where they need more than the run's thread or session id. Raises
        InvalidInput where no such run has ended, and what ``RuleExplainer.explain`` raises.
        """
        run = self._ended(run_id)

        def explained(config: RunnableConfig, trace: TracedExplanation) -> Explanation:
            with interception.intercepting():
                call, recorded = self._call(run, config, trace)
                return call.mined_blocking(recorded)

        trace = TracedExplanation(explained_run=str(run.id))
        explanation = as_one_run(explained, run.given, self._config(run, config), trace)
        self.explanations[run.id] = explanation
        return explanation

    async def aexplain(
        self, run_id: UUID | None = None, config: RunnableConfig | None = None
    ) -> Explanation:
        """Returns the same on the caller's loop, through the application's async entry."""
        run = self._ended(run_id)

        async def explained(config: RunnableConfig, trace: TracedExplanation) -> Explanation:
            with interception.intercepting():
                call, recorded = self._call(run, config, trace)
                return await call.amined(recorded)

        trace, config = TracedExplanation(explained_run=str(run.id)), self._config(run, config)
        explanation = await as_one_async_run(explained, run.given, config, trace)
        self.explanations[run.id] = explanation
        return explanation

    async def finished(self) -> None:
        """Waits until every async run that has ended so far is explained. Only of use with ``auto``."""
        await asyncio.gather(*self._tasks)

    def _config(self, run: RecordedRun, config: RunnableConfig | None) -> RunnableConfig:
        return {**run.config, **(config or {})}

    def _call(
        self, run: RecordedRun, config: RunnableConfig, trace: TracedExplanation
    ) -> tuple[Call[Found], Recorded]:
        call = self.explainer.recorded_call(run.given, config, trace)
        return call, call.run.of_another_run(
            run.recording, run.output, run.watch, run.state, run.watch.tools, str(run.id)
        )

    def _ended(self, run_id: UUID | None) -> RecordedRun:
        with self._lock:
            ended = [run for run in self._runs.values() if run.ended and run_id in (None, run.id)]
        if ended and ended[-1].unknown is not None:
            raise InvalidInput(
                "what the application remembered before this run could not be read, so no replay could "
                "start from there; explain the input itself, with the explainer's explain or aexplain: "
                f"{type(ended[-1].unknown).__name__}: {ended[-1].unknown}"
            )
        if not ended:
            which = "has ended" if run_id is None else f"with the id {run_id} is remembered"
            raise InvalidInput(
                f'no run {which}; pass the handler to one: invoke(x, {{"callbacks": [handler]}})'
            )
        return ended[-1]

    def recording_of(self, run_id: UUID | None) -> Recording[Found] | None:
        """Returns where the retrievals of a run are recorded, while its root run goes on."""
        run = self._run_of(run_id)
        return None if run is None or run.ended else run.recording

    def state_of(self, run_id: UUID | None) -> State | None:
        """Returns what the application remembered before a run, while its root run goes on."""
        run = self._run_of(run_id)
        return None if run is None or run.ended else run.state

    @override
    def on_chain_start(
        self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, **told: Any
    ) -> None:
        self._started(run_id, inputs, told)

    @override
    def on_tool_start(
        self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **told: Any
    ) -> None:
        self._started(run_id, input_str, told)
        run = self._run_of(run_id)
        if run is not None:
            run.watch.on_tool_start(serialized, input_str, **told)

    @override
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **told: Any) -> None:
        run = self._runs.get(run_id)
        if run is None:
            return
        # A stream knows its input only at its end.
        run.given = copied(told["inputs"]) if "inputs" in told else run.given
        run.output = self._output(run, outputs)
        self._close(run)
        if self._auto:
            self._explain_now(run)

    @override
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> None:
        run = self._runs.get(run_id)
        if run is not None:
            self._close(run)
            with self._lock:
                del self._runs[run_id]

    @override
    def on_retriever_start(
        self, serialized: dict[str, Any], query: str, *, run_id: UUID, **told: Any
    ) -> None:
        self._started(run_id, query, told)
        # Where the call itself was intercepted, it is recorded there.
        inner = told.get("parent_run_id") in self._retrieving or inside_retrieval.get()
        if self._run_of(run_id) is not None:
            key = None if inner else named_key(str(told.get("name")), query)
            self._retrieving[run_id] = key, told.get("parent_run_id"), query

    @override
    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **told: Any) -> None:
        key, _, query = self._retrieving.pop(run_id, (None, None, ""))
        run = self._run_of(run_id)
        if run is not None and key is not None:
            run.recording.record((key,), documents_found(documents), None)
            run.recording.queries.append(query)

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **told: Any
    ) -> None:
        run = self._run_of(told.get("parent_run_id"))
        if run is not None:
            self._root_of[told["run_id"]] = run.id
            run.watch.on_chat_model_start(serialized, messages, **told)

    @override
    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], **told: Any) -> None:
        run = self._run_of(told.get("parent_run_id"))
        if run is not None:
            self._root_of[told["run_id"]] = run.id
            run.watch.on_llm_start(serialized, prompts, **told)

    @override
    def on_llm_new_token(self, token: Any, **told: Any) -> None:
        run = self._run_of(told.get("run_id"))
        if run is not None:
            run.watch.on_llm_new_token(token, **told)

    @override
    def on_llm_end(self, response: LLMResult, **told: Any) -> None:
        run = self._run_of(told.get("run_id"))
        if run is not None:
            run.watch.on_llm_end(response, **told)

    def _output(self, run: RecordedRun, outputs: Any) -> Any:
        """Returns the output of a run; a ``Paused`` where its graph has stopped before its end."""
        if run.unknown is not None or not run.config.get("configurable", {}).get("thread_id"):
            return outputs
        try:
            return ended(self.explainer.application, run.config, outputs)
        except Exception as error:
            run.unknown = error
            return outputs

    def _run_of(self, run_id: UUID | None) -> RecordedRun | None:
        root = None if run_id is None else self._root_of.get(run_id)
        return None if root is None else self._runs.get(root)

    def _started(self, run_id: UUID, given: Any, told: Mapping[str, Any]) -> None:
        if participation() is not None or {REPLAY_TAG, BASELINE_TAG} & set(told.get("tags") or ()):
            return
        parent = told.get("parent_run_id")
        with self._lock:
            root = self._root_of.get(parent) if parent else None
            self._root_of[run_id] = root or run_id
        if root is None:
            self._open(run_id, given, told.get("metadata") or {})
        elif (run := self._runs.get(root)) and not run.chat_known:
            # By its first inner run, the history has been asked for and not yet been read.
            run.chat_known = True
            try:
                config = keep_chat(run.state, self.explainer.application)
            except Exception as error:
                run.unknown = error
                return
            run.config = {**run.config, **config}

    def _open(self, run_id: UUID, given: Any, metadata: Mapping[str, Any]) -> None:
        recording: Recording[Found] = Recording(identify, only=self.explainer.retrievers)
        watch = Watch(accepts=self.explainer.accepts)
        run = RecordedRun(run_id, copied(given), recording, watch)
        try:
            run.config = configured_by(self.explainer.application, metadata)
            keep_state(run.state, self.explainer.application, run.config)
        except Exception as error:
            run.unknown = error
        with self._lock:
            self._runs[run_id] = run
        interception.start()

    def _close(self, run: RecordedRun) -> None:
        interception.stop()
        run.recording.closed = run.ended = True
        with self._lock:
            for each in [each for each, root in self._root_of.items() if root == run.id]:
                del self._root_of[each]
                self._retrieving.pop(each, None)
            ended = [each.id for each in self._runs.values() if each.ended]
            for each in ended[: max(0, len(ended) - self._keep)]:
                del self._runs[each]

    def _explain_now(self, run: RecordedRun) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            try:
                self.explain(run.id)
            except Exception as error:  # the run itself went well
                self._note(run, error)
            return
        task = loop.create_task(self._explain_beside(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _explain_beside(self, run: RecordedRun) -> None:
        try:
            await self.aexplain(run.id)
        except Exception as error:
            self._note(run, error)

    def _note(self, run: RecordedRun, error: Exception) -> None:
        self.errors[run.id] = unexplained(run.output, error).error
