"""This module defines ``RuleExplanationHandler``, which explains ordinary runs after they have ended."""

import asyncio
import inspect
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Any, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import (
    AgentChatResponse,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from llama_index_instrumentation.span.base import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import Field, PrivateAttr
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput
from rag_rule_explainer.instrumentation.call import Call, Recorded
from rag_rule_explainer.instrumentation.checks import brief, checked_flag, checked_whole
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.outputs import Explained, unexplained
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.run_record import Participation

from .awaiting import before_return, entries
from .explainer import RuleExplainer
from .interception import interception
from .nodes import Found, identify
from .recorded_runs import RecordedRuns
from .recording import RecordedRun, entry_in, input_in
from .rules_attached import attach
from .streaming import whole
from .watching import Watch

_ENTRIES = {"query", "aquery", "chat", "achat", "stream_chat", "astream_chat"}
_ASYNC = {"aquery", "achat", "astream_chat"}
_WAITING = {"aquery", "achat"}
_STREAMED = (StreamingResponse, AsyncStreamingResponse, StreamingAgentChatResponse)
_WRITING = {"write_response_to_history", "awrite_response_to_history"}


class RuleExplanationHandler(BaseSpanHandler[BaseSpan]):
    """This span handler records ordinary runs of an explainer's engine, and explains them on request.

    Add it to LlamaIndex's dispatcher: ``get_dispatcher().add_span_handler(handler)``. It records all runs
    of the explainer's query or chat engine that are not part of another run. A recorded run is the
    baseline of its explanation, so neither the run nor its retrievals are repeated.

    With ``auto=True`` each run is explained when it ends, and its response gets the rules as
    ``response.metadata["rag_rules"]``. This happens before ``query``, ``chat``, ``aquery`` or ``achat``
    returns, or before the stream of the response ends. But if a chat engine reads its stream in a
    separate thread or task, the rules may come later; ``await handler.finished()`` waits for tasks. If a
    run could not be explained, its response, ``errors`` and a warning give the reason. ``keep``: the
    number of ended runs that are kept.

    A handler can record several runs at the same time. It ignores replays and the runs of a
    RuleExplainer. In traces, an explanation is a separate span, whose tags have the id of the explained
    span. Raises InvalidInput if ``keep`` is not a whole number above 0, or if the application is neither
    a query engine nor a chat engine, as LlamaIndex's dispatcher reports no whole runs of others.
    """

    explanations: dict[str, Explanation] = Field(default_factory=dict)
    errors: dict[str, Exception] = Field(default_factory=dict)
    _explainer: RuleExplainer = PrivateAttr()
    _auto: bool = PrivateAttr()
    _runs: RecordedRuns = PrivateAttr()
    _open: dict[str, RecordedRun] = PrivateAttr(default_factory=dict)
    _tasks: "set[asyncio.Task[None]]" = PrivateAttr(default_factory=set)
    _letting_go: Callable[[], object] | None = PrivateAttr(default=None)

    def __init__(self, explainer: RuleExplainer, *, auto: bool = False, keep: int = 100) -> None:
        if not isinstance(explainer, RuleExplainer):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(f"the explainer is {brief(explainer)}; give a RuleExplainer of the engine")
        checked_flag("auto", auto)
        checked_whole("keep", keep, 1)
        if not isinstance(explainer.application, (BaseQueryEngine, BaseChatEngine)):
            raise InvalidInput(
                f"LlamaIndex's dispatcher does not tell of the runs of a "
                f"{type(explainer.application).__name__}; wrap it in explained(...)"
            )
        super().__init__()
        self._explainer, self._auto, self._runs = explainer, auto, RecordedRuns(keep)
        if auto:
            entries.start()
            self._letting_go = weakref.finalize(self, entries.stop)

    @property
    def explainer(self) -> RuleExplainer:
        """Returns the explainer of the engine whose runs are recorded."""
        return self._explainer

    @property
    def runs(self) -> tuple[str, ...]:
        """Returns the span ids of the ended runs that can be explained, the oldest first."""
        return tuple(run.id for run in self._runs.ended())

    def explain(self, run_id: str | None = None) -> Explanation:
        """Returns the rules of the answer of a recorded run (None: the latest one). Blocks.

        Raises InvalidInput if no such run has ended, and the errors of ``RuleExplainer.explain``.
        """
        return self._explained(self._ended(run_id))

    def _explained(self, run: RecordedRun) -> Explanation:
        with interception.intercepting():
            call, recorded = self._call(run)
            explanation = call.mined_blocking(recorded)
        self.explanations[run.id] = explanation
        return explanation

    async def aexplain(self, run_id: str | None = None) -> Explanation:
        """Returns the rules of a recorded answer, as ``explain`` does, in the caller's event loop."""
        return await self._aexplained(self._ended(run_id))

    async def _aexplained(self, run: RecordedRun) -> Explanation:
        with interception.intercepting():
            call, recorded = self._call(run)
            explanation = await call.amined(recorded)
        self.explanations[run.id] = explanation
        return explanation

    async def finished(self) -> None:
        """Waits for the tasks that explain ended runs. There are such tasks only with ``auto=True``."""
        await asyncio.gather(*self._tasks)

    def close(self) -> None:
        """Restores the original ``aquery`` and ``achat``. The dispatcher calls this at its shutdown."""
        if self._letting_go is not None:
            self._letting_go()

    def handle(self, event: Any) -> None:  # noqa: ARG002 -- LlamaIndex calls event handlers with this argument
        """Adds an error to ``errors``: this is called iff a user wrongly used ``add_event_handler``."""
        wrong = InvalidInput("this is a span handler; add it with add_span_handler(handler)")
        self.errors.setdefault("", wrong)

    def _call(self, run: RecordedRun) -> tuple[Call[Found], Recorded]:
        call, took_part = self._explainer.recorded_call(run.given), run.participation
        recording: Any = took_part.gate
        return call, call.run.of_another_run(
            recording, run.output, run.watch, took_part.state, took_part.tools, run.id
        )

    def _ended(self, run_id: str | None) -> RecordedRun:
        ended = [run for run in self._runs.ended() if run_id in (None, run.id)]
        if not ended:
            if "" in self.errors:
                raise self.errors[""]
            which = "has ended" if run_id is None else f"with the id {run_id} is remembered"
            raise InvalidInput(
                f"no run {which}; add the handler with get_dispatcher().add_span_handler(handler), and "
                "query the engine that its explainer was made of"
            )
        return ended[-1]

    @override
    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        entry = entry_in(id_)
        if instance is not self._explainer.application or entry not in _ENTRIES:
            return
        if participation() is not None:
            return
        recording: Recording[Found] = Recording(identify, only=self._explainer.retrievers)
        watch = Watch(accepts=self._explainer.accepts)
        given = copied(input_in(bound_args))
        run = RecordedRun(id_, entry, given, Participation(recording, watch, State(live=True)), watch)
        run.begin()
        self._open[id_] = run
        self._runs.add(run)

    @override
    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        result: Any = None,
        **more: Any,
    ) -> None:
        if entry_in(id_) in _WRITING:
            self._written(instance)
            return
        run = self._open.pop(id_, None)
        if run is None:
            return
        run.leave()
        if isinstance(result, _STREAMED):
            # If the caller drops the response without reading it, the run must still end.
            weakref.finalize(result, run.end)
        if isinstance(result, StreamingResponse):
            result.response_gen = cast("Any", self._pieces(run, result, result.response_gen))
        elif isinstance(result, AsyncStreamingResponse):
            result.response_gen = cast("Any", self._apieces(run, result, result.response_gen))
        elif isinstance(result, StreamingAgentChatResponse):
            # If the engine reads the stream itself, in a thread or a task, ``_written`` ends the run.
            if not result.is_writing_to_memory and result.chat_stream is not None:
                result.chat_stream = cast("Any", self._pieces(run, result, result.chat_stream))
            if not result.is_writing_to_memory and result.achat_stream is not None:
                result.achat_stream = cast("Any", self._apieces(run, result, result.achat_stream))
        else:
            self._close(run, result, result)

    @override
    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **more: Any,
    ) -> None:
        run = self._runs.current() if entry_in(id_) in _WRITING else None
        opened = self._open.pop(id_, None)
        if opened is not None:
            run = opened
            run.leave()
        if run is not None:
            self._runs.forget(run)

    @override
    def new_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None  # this handler only observes spans and keeps no objects for them

    @override
    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    @override
    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    def _written(self, response: StreamingAgentChatResponse) -> None:
        """Ends the run, after the engine has read the stream and saved the answer in its memory."""
        run = self._runs.current()
        if run is not None:
            whole = AgentChatResponse(response.response, response.sources, response.source_nodes)
            self._close(run, whole, response)

    def _pieces(self, run: RecordedRun, response: Any, stream: Any) -> Iterator[Any]:
        text: list[str] = []
        yield from self._runs.pieces(run, stream, text)
        self._close(run, whole(response, "".join(text)), response)

    async def _apieces(self, run: RecordedRun, response: Any, stream: Any) -> AsyncIterator[Any]:
        text: list[str] = []
        # If the consumer stops early, the inner generator is closed at once, which removes the run.
        async with aclosing(self._runs.apieces(run, stream, text)) as pieces:
            async for piece in pieces:
                yield piece
        self._runs.end(run, whole(response, "".join(text)))
        if self._auto:
            # The rules are attached before the stream ends, so that its consumer finds them at the end.
            await self._explain_for(run, response)

    def _close(self, run: RecordedRun, output: Any, response: Any) -> None:
        self._runs.end(run, output)
        if not self._auto:
            return
        if run.entry in _ASYNC:
            self._explain_later(run, response)
            return
        try:
            done: Any = Explained(response, self._explained(run))
        # The run itself succeeded and must return its response, so the error is only stored.
        except Exception as error:
            self.errors[run.id] = error
            done = unexplained(response, error)
        attach(response, done)

    def _explain_later(self, run: RecordedRun, response: Any) -> None:
        """Explains an async run before ``aquery`` or ``achat`` returns, or in a task if neither runs."""
        explain = partial(self._explain_for, run, response)
        if run.entry in _WAITING and before_return(self._explainer.application, explain):
            return
        task = asyncio.get_running_loop().create_task(explain())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _explain_for(self, run: RecordedRun, response: Any) -> None:
        try:
            done: Any = Explained(response, await self._aexplained(run))
        except Exception as error:
            self.errors[run.id] = error
            done = unexplained(response, error)
        attach(response, done)
