"""This module defines ``explained``, which returns an engine that attaches rules to its responses."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any, cast, overload

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import (
    BaseChatEngine,
)
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.workflow import Workflow
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.checks import type_said
from rag_rule_explainer.instrumentation.outputs import Unexplained, check_alone
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.predicates import PredicateLike

from .chat_streams import apieces_with_rules, pieces_with_rules
from .entries import Engine
from .explained_chat import ExplainedChatEngine
from .explained_runs import ExplainedRun
from .explainer import RuleExplainer
from .rules_attached import INSIDE, as_response, attach, inside, with_rules
from .streaming import AsyncPieces, Pieces
from .workflows import by_name


@overload
def explained(
    engine: BaseChatEngine, predicate: PredicateLike | None = None, **parameters: Any
) -> ExplainedChatEngine: ...


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
    """Returns an engine with the same responses as ``engine``, to which rules are attached.

    The rules are ``response.metadata["rag_rules"]``. A streamed response has them after its stream has
    ended.

    A chat engine becomes an ``ExplainedChatEngine``. A workflow or an agent becomes an
    ``ExplainedWorkflow``, with its ``run`` and its events. Any other engine becomes an
    ``ExplainedQueryEngine``. The last two classes are ``BaseQueryEngine``, so tools, routers and agents
    can use them. ``predicate`` and ``parameters`` are those of ``RuleExplainer``. ``engine`` may also be
    a ``RuleExplainer``; then give no predicate and no parameters.

    The response is returned even if it cannot be explained, for example because nothing was retrieved.
    Then ``rag_rules`` has ``error`` and ``message`` in place of rules, an output without metadata becomes
    an ``Unexplained``, and a warning is logged. Errors of the engine are raised.
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
    """Returns the class of the engine that runs. If the application is itself a class, each run makes an
    engine of this class, so this class is returned."""
    return application if isinstance(application, type) else type(application)


class ExplainedQueryEngine(BaseQueryEngine):
    """This query engine returns the responses of another query engine, and attaches to each the rules of
    its answer. The function ``explained`` makes it."""

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
            return with_rules(self.explainer, call.answered())
        try:
            begun = Pieces.of(call)
        except Exception as failed:  # An engine that has only async methods may raise any error.
            if not call.is_async_only(failed):
                raise
            return with_rules(self.explainer, self.explainer.live_call(given).answered())
        if not isinstance(begun.response, StreamingResponse):
            return with_rules(self.explainer, begun.rest())
        response = StreamingResponse(
            cast("Any", None), begun.response.source_nodes, dict(begun.response.metadata or {})
        )
        # An open response counts as a running call for ``concurrency``. If the caller drops the response
        # without reading it, ``close`` makes it stop counting, so that another call can begin.
        weakref.finalize(response, begun.close)
        response.response_gen = cast("Any", pieces_with_rules(begun, response))
        return response

    @override
    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Returns the nodes that the wrapped engine retrieves. Explains nothing."""
        return self._engine.retrieve(query_bundle)

    @override
    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Returns the engine's response without rules, because the caller has chosen the nodes itself."""
        return self._engine.synthesize(query_bundle, nodes, additional_source_nodes)

    @override
    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Returns the engine's response without rules, because the caller has chosen the nodes itself.
        Runs in the caller's event loop."""
        return await self._engine.asynthesize(query_bundle, nodes, additional_source_nodes)

    @property
    def _engine(self) -> BaseQueryEngine:
        engine = self.explainer.application
        if not isinstance(engine, BaseQueryEngine):
            raise NotImplementedError(f"{type_said(engine)} is no query engine; use query")
        return engine

    @override
    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        given = self._given(query_bundle)
        if participation() is not None:
            return await self._anested(query_bundle)
        begun = await AsyncPieces.of(self.explainer.live_call(given))
        if not isinstance(begun.response, (StreamingResponse, AsyncStreamingResponse)):
            return with_rules(self.explainer, await begun.rest())
        response = AsyncStreamingResponse(
            cast("Any", None), begun.response.source_nodes, dict(begun.response.metadata or {})
        )
        weakref.finalize(response, begun.close)
        response.response_gen = cast("Any", apieces_with_rules(begun, response))
        return response

    def _nested(self, query_bundle: QueryBundle) -> Any:
        engine = self.explainer.application
        if isinstance(engine, BaseQueryEngine):
            return inside(engine.query(query_bundle))
        output = self.explainer.entry.run(query_bundle.query_str)
        return inside(as_response(output, self.explainer.text_of(output)))

    async def _anested(self, query_bundle: QueryBundle) -> Any:
        engine = self.explainer.application
        if isinstance(engine, BaseQueryEngine):
            return inside(await engine.aquery(query_bundle))
        output = await self.explainer.entry.arun(query_bundle.query_str)
        return inside(as_response(output, self.explainer.text_of(output)))

    def _given(self, query_bundle: QueryBundle) -> Any:
        # Only query engines accept a QueryBundle. Agents and functions get the text of the question.
        engine = self.explainer.application
        return query_bundle if isinstance(engine, BaseQueryEngine) else query_bundle.query_str


class ExplainedWorkflow(ExplainedQueryEngine):
    """This class runs a workflow by ``run``, or as a query engine, and attaches rules to its results.

    Its other attributes are those of the workflow. ``Context.from_dict``, for example, reads them.
    """

    def __getattr__(self, name: str) -> Any:
        # While the object is being copied, ``explainer`` is not set yet. Reading it would call this
        # method again and again.
        if name == "explainer" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.explainer.application, name)

    def run(self, *positional: Any, **named: Any) -> ExplainedRun:
        """Starts a run with the arguments of the workflow's own ``run``, and returns the run.

        Awaiting the run returns the workflow's result with its rules. The method ``stream_events`` of the
        run yields the events. A result without metadata is returned in an ``Explained``.
        """
        given = by_name(_kind_of(self.explainer.application), positional, named)
        is_code = participation() is not None

        async def explain() -> Any:
            if is_code:
                done: Any = Unexplained(await self.explainer.entry.arun(given), InvalidInput(INSIDE))
            else:
                done = await self.explainer.live_call(given).aanswered()
            if not hasattr(done.output, "metadata"):
                return done
            attach(done.output, done)
            return done.output

        return ExplainedRun.of(explain, is_code=is_code)
