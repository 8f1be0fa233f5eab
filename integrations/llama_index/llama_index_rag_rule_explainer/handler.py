"""RuleExplanationHandler: explains ordinary runs of an engine, from what was recorded during them."""

import asyncio
import inspect
import threading
import weakref
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import Context
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
from rag_rule_explainer.allowed import brief, checked_flag, checked_whole
from rag_rule_explainer.instrumentation.call import Call, Recorded
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.outputs import Explained, unexplained
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import Participation, participation

from .awaiting import before_return, entries
from .chat_streams import attach
from .explainer import RuleExplainer
from .interception import interception
from .nodes import Found, identify
from .recording import RecordedRun
from .streaming import whole
from .watching import Watch

_ENTRIES = {"query", "aquery", "chat", "achat", "stream_chat", "astream_chat"}
_ASYNC = {"aquery", "achat", "astream_chat"}
_WAITING = {"aquery", "achat"}
_WRITING = {"write_response_to_history", "awrite_response_to_history"}


class RuleExplanationHandler(BaseSpanHandler[BaseSpan]):
    """Records ordinary runs of an explainer's engine, and explains them when asked to.

    To be added to LlamaIndex's dispatcher: ``get_dispatcher().add_span_handler(handler)``. It sees the
    runs of that very query or chat engine, wherever they are made, unless inside another one. The
    question, what was retrieved, what the model was sent and the answer are those of the run: nothing is
    retrieved again, and the baseline is not asked again. ``auto=True`` explains each run as soon as it
    has ended and attaches the rules to its response, as ``response.metadata["rag_rules"]``: before
    ``query``, ``chat``, ``aquery`` or ``achat`` returns, or its stream ends. Where a chat engine reads
    its stream in a thread or a task of its own, that may end later; ``await handler.finished()`` waits
    for such a task's. Where a run has no rules, its response, ``errors`` and a warning say why.
    ``keep``: how many ended runs are remembered, the latest.

    One handler may see many runs at once. It ignores replays, and the runs of a RuleExplainer. In traces
    an explanation is a span of its own, whose tags have the id of the span that it explains.

    Raises InvalidInput for an explainer of anything but a query or a chat engine: the dispatcher tells
    of no other as a whole; and for a ``keep`` that is no whole number from 1 on.
    """

    explanations: dict[str, Explanation] = Field(default_factory=dict)
    errors: dict[str, Exception] = Field(default_factory=dict)
    _explainer: RuleExplainer = PrivateAttr()
    _auto: bool = PrivateAttr()
    _keep: int = PrivateAttr()
    _guard: Any = PrivateAttr(default_factory=threading.RLock)
    _runs: "OrderedDict[str, RecordedRun]" = PrivateAttr(default_factory=OrderedDict)
    _contexts: dict[str, Context] = PrivateAttr(default_factory=dict)
    _tasks: "set[asyncio.Task[None]]" = PrivateAttr(default_factory=set)
    _letting_go: Callable[[], object] | None = PrivateAttr(default=None)

    def __init__(self, explainer: RuleExplainer, *, auto: bool = False, keep: int = 100) -> None:
        if not isinstance(explainer, RuleExplainer):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"the explainer is {brief(explainer)}; give a RuleExplainer of the engine")
        checked_flag("auto", auto)
        checked_whole("keep", keep, 1)
        if not isinstance(explainer.application, (BaseQueryEngine, BaseChatEngine)):
            raise InvalidInput(
                f"LlamaIndex's dispatcher does not tell of the runs of a "
                f"{type(explainer.application).__name__}; wrap it in explained(...)"
            )
        super().__init__()
        self._explainer, self._auto, self._keep = explainer, auto, keep
        if auto:
            entries.start()
            self._letting_go = weakref.finalize(self, entries.stop)

    @property
    def explainer(self) -> RuleExplainer:
        """Of the engine whose runs are recorded."""
        return self._explainer

    @property
    def runs(self) -> tuple[str, ...]:
        """The ids of the spans of the runs that have ended and can be explained, oldest first."""
        return tuple(run.id for run in list(self._runs.values()) if run.ended)

    def explain(self, run_id: str | None = None) -> Explanation:
        """Returns the rules of a run's answer, by default the latest's, blocking; see ``RuleExplainer``.

        Raises InvalidInput where no such run has ended, and what ``RuleExplainer.explain`` raises.
        """
        return self._explained(self._ended(run_id))

    def _explained(self, run: RecordedRun) -> Explanation:
        with interception.intercepting():
            call, recorded = self._call(run)
            explanation = call.mined_blocking(recorded)
        self.explanations[run.id] = explanation
        return explanation

    async def aexplain(self, run_id: str | None = None) -> Explanation:
        """Returns the same on the caller's loop, through the engine's async entry."""
        return await self._aexplained(self._ended(run_id))

    async def _aexplained(self, run: RecordedRun) -> Explanation:
        with interception.intercepting():
            call, recorded = self._call(run)
            explanation = await call.amined(recorded)
        self.explanations[run.id] = explanation
        return explanation

    async def finished(self) -> None:
        """Waits until every run that has ended so far is explained. Only of use with ``auto``, and for
        what a chat engine streams from a task of its own: all else waits by itself."""
        await asyncio.gather(*self._tasks)

    def close(self) -> None:
        """Lets go of the entries that wait for rules; the dispatcher calls it when it is shut down."""
        if self._letting_go is not None:
            self._letting_go()

    def handle(self, event: Any) -> None:  # noqa: ARG002 -- as event handlers are called
        """Notes an error: it gets events only where it was added as an event handler by mistake."""
        wrong = InvalidInput("this is a span handler; add it with add_span_handler(handler)")
        self.errors.setdefault("", wrong)

    def _call(self, run: RecordedRun) -> tuple[Call[Found], Recorded]:
        call, took_part = self._explainer.recorded_call(run.given), run.participation
        recording: Any = took_part.gate
        state = took_part.state
        return call, call.run.of_another_run(
            recording, run.output, run.watch, state, took_part.tools, run.id
        )

    def _ended(self, run_id: str | None) -> RecordedRun:
        with self._guard:
            ended = [run for run in self._runs.values() if run.ended and run_id in (None, run.id)]
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
        **told: Any,
    ) -> None:
        entry = _entry_of(id_)
        if instance is not self._explainer.application or entry not in _ENTRIES:
            return
        if participation() is not None:
            return
        recording: Recording[Found] = Recording(identify, only=self._explainer.retrievers)
        watch = Watch(accepts=self._explainer.accepts)
        given = copied(_given(bound_args))
        run = RecordedRun(id_, entry, given, Participation(recording, watch, State(live=True)), watch)
        self._contexts[id_] = run.begin()
        with self._guard:
            self._runs[id_] = run

    @override
    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        result: Any = None,
        **told: Any,
    ) -> None:
        if _entry_of(id_) in _WRITING:
            self._written(instance)
            return
        context = self._contexts.pop(id_, None)
        if context is None:
            return
        run = self._runs[id_]
        run.leave()
        if isinstance(result, StreamingResponse):
            result.response_gen = cast("Any", self._read(run, context, result, result.response_gen))
        elif isinstance(result, AsyncStreamingResponse):
            result.response_gen = cast("Any", self._aread(run, context, result, result.response_gen))
        elif isinstance(result, StreamingAgentChatResponse):
            weakref.finalize(result, run.end)
            # Else a thread or a task of the engine's own reads it, and writes it to the memory.
            if not result.is_writing_to_memory and result.chat_stream is not None:
                result.chat_stream = cast("Any", self._read(run, context, result, result.chat_stream))
            if not result.is_writing_to_memory and result.achat_stream is not None:
                result.achat_stream = cast("Any", self._aread(run, context, result, result.achat_stream))
        else:
            self._close(run, result, result)

    @override
    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **told: Any,
    ) -> None:
        run = self._running() if _entry_of(id_) in _WRITING else None
        if self._contexts.pop(id_, None) is not None:
            run = self._runs[id_]
            run.leave()
        if run is not None:
            self._forget(run)

    @override
    def new_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None  # no spans of its own

    @override
    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    @override
    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    def _written(self, response: StreamingAgentChatResponse) -> None:
        """A chat engine's thread or task has read the whole stream, and put it into the memory."""
        run = self._running()
        if run is not None:
            whole = AgentChatResponse(response.response, response.sources, response.source_nodes)
            self._close(run, whole, response)

    def _running(self) -> RecordedRun | None:
        """Returns the run that the current context belongs to."""
        current = participation()
        with self._guard:
            return next((run for run in self._runs.values() if run.participation is current), None)

    def _read(self, run: RecordedRun, context: Context, response: Any, pieces: Any) -> Iterator[Any]:
        weakref.finalize(response, run.end)
        return self._pieces(run, context, response, pieces)

    def _aread(
        self, run: RecordedRun, context: Context, response: Any, pieces: Any
    ) -> AsyncIterator[Any]:
        weakref.finalize(response, run.end)
        return self._apieces(run, context, response, pieces)

    def _pieces(self, run: RecordedRun, context: Context, response: Any, pieces: Any) -> Iterator[Any]:
        """Yields the pieces of a stream, as those of the run that it is a part of."""
        text: list[str] = []
        try:
            while (piece := context.run(next, pieces, None)) is not None:
                text.append(_text_of(piece))
                yield piece
        except BaseException:
            self._forget(run)
            raise
        self._close(run, whole(response, "".join(text)), response)

    async def _apieces(
        self, run: RecordedRun, context: Context, response: Any, pieces: Any
    ) -> AsyncIterator[Any]:
        """Yields the same, each in a task of its own, which has the run's context."""
        text: list[str] = []
        try:
            while (piece := await context.run(asyncio.ensure_future, _anext(pieces))) is not None:
                text.append(_text_of(piece))
                yield piece
        except BaseException:
            self._forget(run)
            raise
        self._end(run, whole(response, "".join(text)))
        if self._auto:
            # The stream ends once its rules are there.
            await self._explain_for(run, response)

    def _close(self, run: RecordedRun, output: Any, response: Any) -> None:
        self._end(run, output)
        if not self._auto:
            return
        if run.entry in _ASYNC:
            self._explain_later(run, response)
            return
        try:
            done: Any = Explained(response, self._explained(run))
        except Exception as error:  # the run itself went well
            self.errors[run.id] = error
            done = unexplained(response, error)
        attach(response, done)

    def _end(self, run: RecordedRun, output: Any) -> None:
        run.output = output
        run.end()
        run.ended = True
        with self._guard:
            ended = [each.id for each in self._runs.values() if each.ended]
            for each in ended[: max(0, len(ended) - self._keep)]:
                del self._runs[each]

    def _explain_later(self, run: RecordedRun, response: Any) -> None:
        """Before its entry returns; or in a task, where that has returned already."""
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

    def _forget(self, run: RecordedRun) -> None:
        run.end()
        with self._guard:
            self._runs.pop(run.id, None)


def _entry_of(span_id: str) -> str:
    """Returns the method's name, of an id such as ``RetrieverQueryEngine.query-<uuid>``."""
    return span_id.split("-", 1)[0].rpartition(".")[2]


def _given(bound: inspect.BoundArguments) -> Any:
    """Returns the input of a run: the query, or the message and the history of a chat that brings one."""
    arguments = dict(bound.arguments)
    if arguments.get("chat_history") is not None:
        return arguments
    return next(iter(arguments.values()))


def _text_of(piece: Any) -> str:
    return piece if isinstance(piece, str) else str(piece.delta or "")


async def _anext(pieces: AsyncIterator[Any]) -> Any:
    return await anext(pieces, None)
