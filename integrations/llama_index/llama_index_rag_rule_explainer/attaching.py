"""``explained``: an engine that attaches the rules of its answers to its own responses."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any, cast, overload

from llama_index.core.agent.workflow.workflow_events import AgentOutput
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import (
    AgentChatResponse,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.workflow import Workflow
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, InvalidInput
from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained, check_alone
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.predicates import PredicateLike

from .chat_streams import ExplainedChatStream, apieces_with_rules, attach, pieces_with_rules
from .entries import Engine
from .explained_runs import ExplainedRun
from .explainer import RuleExplainer
from .streaming import AsyncPieces, Pieces
from .workflows import by_name


@overload
def explained(
    engine: BaseChatEngine, predicate: PredicateLike | None = None, **parameters: Any
) -> "ExplainedChatEngine": ...


@overload
def explained(
    engine: Workflow | type[Workflow], predicate: PredicateLike | None = None, **parameters: Any
) -> "ExplainedWorkflow": ...


@overload
def explained(
    engine: BaseQueryEngine | Callable[..., Any],
    predicate: PredicateLike | None = None,
    **parameters: Any,
) -> "ExplainedQueryEngine": ...


@overload
def explained(
    engine: RuleExplainer, predicate: PredicateLike | None = None, **parameters: Any
) -> Any: ...


def explained(
    engine: Engine | RuleExplainer, predicate: PredicateLike | None = None, **parameters: Any
) -> Any:
    """Returns the engine; its responses carry the rules they obey as ``response.metadata["rag_rules"]``.

    A chat engine becomes an ``ExplainedChatEngine``; a workflow or an agent an ``ExplainedWorkflow``,
    with its ``run`` and its events; anything else an ``ExplainedQueryEngine``. The last two are a
    ``BaseQueryEngine``, for tools, routers and agents. What is streamed
    comes as it would; its rules are there when its stream has ended. ``predicate`` and
    ``parameters``: as for ``RuleExplainer``, which may also be given itself, by itself.

    The response comes back whatever becomes of its explanation: where there is none, as where nothing was
    retrieved, ``rag_rules`` says why in ``error`` and ``message``, what has no metadata comes as an
    ``Unexplained``, and a warning is logged. What the engine raises is raised.
    """
    if isinstance(engine, RuleExplainer):
        check_alone(predicate, parameters)
        explainer = engine
    else:
        explainer = RuleExplainer(engine, predicate, **parameters)
    if isinstance(explainer.application, BaseChatEngine):
        return ExplainedChatEngine(explainer)
    if issubclass(_kind_of(explainer.application), Workflow):
        return ExplainedWorkflow(explainer)
    return ExplainedQueryEngine(explainer)


def _kind_of(application: Any) -> type[Any]:
    """Returns the class of an engine; a class is called to make one for every run."""
    return application if isinstance(application, type) else type(application)


def as_response(output: Any, text: str) -> Any:
    """Returns a response of the framework's own for an output of any kind whose answer is known."""
    if isinstance(output, (Response, PydanticResponse, AgentChatResponse)):
        return output
    nodes: list[NodeWithScore] = list(getattr(output, "source_nodes", None) or ())
    metadata = {"output": output} if isinstance(output, AgentOutput) else {}
    return Response(text, nodes, metadata)


class ExplainedQueryEngine(BaseQueryEngine):
    """See ``explained``."""

    def __init__(self, explainer: RuleExplainer) -> None:
        super().__init__(getattr(explainer.application, "callback_manager", None))
        self.explainer = explainer

    @override
    def _get_prompt_modules(self) -> PromptMixinType:
        engine = self.explainer.application
        return {"engine": engine} if isinstance(engine, BaseQueryEngine) else {}

    @override
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        given = self._given(query_bundle)
        if participation() is not None:
            return self._nested(query_bundle)
        call = self.explainer.live_call(given)
        if call.run.application.async_only:
            return _with_rules(self.explainer, call.answered())
        try:
            begun = Pieces.of(call)
        except BaselineFailed as failed:
            if not call.is_async_only(failed):
                raise
            return _with_rules(self.explainer, self.explainer.live_call(given).answered())
        if not isinstance(begun.response, StreamingResponse):
            return _with_rules(self.explainer, begun.rest())
        response = StreamingResponse(
            cast("Any", None), begun.response.source_nodes, dict(begun.response.metadata or {})
        )
        # One that nobody reads lets go of everything as well.
        weakref.finalize(response, begun.close)
        response.response_gen = cast("Any", pieces_with_rules(begun, response))
        return response

    @override
    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Returns what the engine's own returns."""
        return self._engine.retrieve(query_bundle)

    @override
    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Returns the engine's, without rules: on the caller's nodes, nobody knows what was left out."""
        return self._engine.synthesize(query_bundle, nodes, additional_source_nodes)

    @override
    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Returns the same on the caller's loop."""
        return await self._engine.asynthesize(query_bundle, nodes, additional_source_nodes)

    @property
    def _engine(self) -> BaseQueryEngine:
        engine = self.explainer.application
        if not isinstance(engine, BaseQueryEngine):
            raise NotImplementedError(f"a {type(engine).__name__} is no query engine; use query")
        return engine

    @override
    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        given = self._given(query_bundle)
        if participation() is not None:
            return await self._anested(query_bundle)
        begun = await AsyncPieces.of(self.explainer.live_call(given))
        if not isinstance(begun.response, (StreamingResponse, AsyncStreamingResponse)):
            return _with_rules(self.explainer, await begun.rest())
        response = AsyncStreamingResponse(
            cast("Any", None), begun.response.source_nodes, dict(begun.response.metadata or {})
        )
        weakref.finalize(response, begun.close)
        response.response_gen = cast("Any", apieces_with_rules(begun, response))
        return response

    def _nested(self, query_bundle: QueryBundle) -> Any:
        engine = self.explainer.application
        if isinstance(engine, BaseQueryEngine):
            return _inside(engine.query(query_bundle))
        output = self.explainer.entry.run(query_bundle.query_str)
        return _inside(as_response(output, self.explainer.text_of(output)))

    async def _anested(self, query_bundle: QueryBundle) -> Any:
        engine = self.explainer.application
        if isinstance(engine, BaseQueryEngine):
            return _inside(await engine.aquery(query_bundle))
        output = await self.explainer.entry.arun(query_bundle.query_str)
        return _inside(as_response(output, self.explainer.text_of(output)))

    def _given(self, query_bundle: QueryBundle) -> Any:
        # Agents and functions are asked in words.
        engine = self.explainer.application
        return query_bundle if isinstance(engine, BaseQueryEngine) else query_bundle.query_str


class ExplainedWorkflow(ExplainedQueryEngine):
    """See ``explained``. It is run as the workflow is, and asked as a query engine."""

    def run(self, *positional: Any, **named: Any) -> ExplainedRun:
        """Begins a run: awaited, it is the workflow's result with its rules; ``stream_events`` tells its
        events. What has no metadata for rules comes as an ``Explained``.

        It is given what the ``run`` of the workflow is given.
        """
        given = by_name(_kind_of(self.explainer.application), positional, named)
        is_code = participation() is not None

        async def explain() -> Any:
            if is_code:
                done: Any = Unexplained(await self.explainer.entry.arun(given), InvalidInput(_INSIDE))
            else:
                done = await self.explainer.live_call(given).aanswered()
            if not hasattr(done.output, "metadata"):
                return done
            attach(done.output, done)
            return done.output

        return ExplainedRun.of(explain, is_code=is_code)


class ExplainedChatEngine(BaseChatEngine):
    """See ``explained``. The conversation is that of the engine it explains."""

    def __init__(self, explainer: RuleExplainer) -> None:
        self.explainer = explainer

    @override
    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        """Returns the response to a message, with its rules."""
        if participation() is not None:
            return _inside(self._engine.chat(message, chat_history))
        done = self.explainer.live_call(_said(message, chat_history)).answered()
        return _with_rules(self.explainer, done)

    @override
    async def achat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> AgentChatResponse:
        """Returns the same on the caller's loop."""
        if participation() is not None:
            return _inside(await self._engine.achat(message, chat_history))
        call = self.explainer.live_call(_said(message, chat_history))
        return _with_rules(self.explainer, await call.aanswered())

    @override
    def stream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """Returns the response as it comes; its ``metadata`` has the rules once its stream has ended."""
        if participation() is not None:
            return _inside(self._engine.stream_chat(message, chat_history))
        begun = Pieces.of(self.explainer.live_call(_said(message, chat_history)))
        return ExplainedChatStream.of(begun.response, begun=begun)

    @override
    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """Returns the same on the caller's loop."""
        if participation() is not None:
            return _inside(await self._engine.astream_chat(message, chat_history))
        begun = await AsyncPieces.of(self.explainer.live_call(_said(message, chat_history)))
        return ExplainedChatStream.of(begun.response, abegun=begun)

    @override
    def reset(self) -> None:
        """Of the conversation."""
        self._engine.reset()

    @property
    @override
    def chat_history(self) -> list[ChatMessage]:
        """Returns the conversation so far."""
        return self._engine.chat_history

    @property
    def _engine(self) -> BaseChatEngine:
        return cast("BaseChatEngine", self.explainer.application)


def _with_rules(explainer: RuleExplainer, done: Explained[Any] | Unexplained[Any]) -> Any:
    response = as_response(done.output, explainer.text_of(done.output))
    attach(response, done)
    return response


_INSIDE = (
    "this engine was asked inside an application that is being explained; that explanation is about it, "
    "too"
)


def _inside(response: Any) -> Any:
    """Of an application that is being explained, the explained engine is a part like any other."""
    attach(response, Unexplained(response, InvalidInput(_INSIDE)))
    return response


def _said(message: str, chat_history: Sequence[ChatMessage] | None) -> dict[str, Any]:
    return {"message": message, "chat_history": None if chat_history is None else list(chat_history)}
