"""This module defines ``explained``, which returns a chain that attaches rules to its output."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, cast, overload

from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableLike
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec, Input, Output
from pydantic import ConfigDict, SkipValidation
from typing_extensions import Unpack, override

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.checks import showing
from rag_rule_explainer.instrumentation.explainer_options import FrameworkFields
from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained, check_alone
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .graphs import chunk_of_nothing, graph_in, has_typed_chunks
from .outputs import AnswerChunk, attached, last_chunk
from .runnable import LangChainOptions, RuleExplainer


@overload
def explained(
    chain: RuleExplainer[Input, Output],
    predicate: PredicateLike | None = None,
    **parameters: Unpack[FrameworkFields],
) -> Runnable[Input, Output]: ...


@overload
def explained(
    chain: Callable[[Input], Coroutine[Any, Any, Output]],
    predicate: PredicateLike | None = None,
    **parameters: Unpack[FrameworkFields],
) -> Runnable[Input, Output]: ...


@overload
def explained(
    chain: Callable[[], Runnable[Input, Output]],
    predicate: PredicateLike | None = None,
    **parameters: Unpack[FrameworkFields],
) -> Runnable[Input, Output]: ...


@overload
def explained(
    chain: RunnableLike[Input, Output],
    predicate: PredicateLike | None = None,
    **parameters: Unpack[FrameworkFields],
) -> Runnable[Input, Output]: ...


@showing_settings
@showing(LangChainOptions, FrameworkFields)
def explained(
    chain: Any, predicate: PredicateLike | None = None, **parameters: Unpack[FrameworkFields]
) -> Runnable[Any, Any]:
    """Returns a chain with the same output as ``chain``, to which the rules of the answer are attached.

    The rules are JSON-like data with the name ``rag_rules``. An AIMessage has ``rag_rules`` in its
    ``response_metadata``. A dict or a graph's state has them under the key ``rag_rules``, and its last
    AIMessage has them too. A str has the attribute ``rag_rules``. Any other output is returned as an
    ``Explained``. ``predicate`` and ``parameters`` are those of ``RuleExplainer``. ``chain`` may also be
    a RuleExplainer; then give no predicate and no parameters.

    The output is returned even if it cannot be explained, for example because nothing was retrieved or a
    graph stopped to ask a human. Then ``rag_rules`` has ``error`` and ``message`` in place of rules, an
    output of another type is returned as an ``Unexplained``, and a warning is logged. Errors of the chain
    are raised.
    """
    if isinstance(chain, RuleExplainer):
        check_alone(predicate, parameters)
        return ExplainedChain(explainer=cast("RuleExplainer[Any, Any]", chain))
    return ExplainedChain(explainer=RuleExplainer(chain, predicate, **parameters))


class ExplainedChain(RunnableSerializable[Input, Output]):
    """An ``ExplainedChain`` is a Runnable that runs a chain, and attaches the rules of the answer to its
    output. The function ``explained`` makes it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    # SkipValidation keeps this very object. Otherwise pydantic would copy the explainer, and all that it
    # holds, such as a store.
    explainer: SkipValidation[RuleExplainer[Any, Any]]

    @override
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Returns the output of the chain with its rules attached."""
        if participation() is not None:
            return attached(_inside(self.explainer.application.invoke(input, config, **kwargs)))
        return attached(self.explainer.answered(input, config, kwargs))

    @override
    async def ainvoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Returns the output of the chain with its rules attached, in the caller's event loop."""
        if participation() is not None:
            return attached(_inside(await self.explainer.application.ainvoke(input, config, **kwargs)))
        return attached(await self.explainer.aanswered(input, config, kwargs))

    @override
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """Yields the chunks of the chain, then a chunk that adds the rules."""
        before: Any = chunk_of_nothing(self.explainer.application, kwargs)
        typed = has_typed_chunks(self.explainer.application, kwargs)
        if participation() is not None:
            for piece in self.explainer.application.stream(input, config, **kwargs):
                yield piece
                before = piece
            yield last_chunk(before, _inside(before), typed=typed)
            return
        for chunk in self.explainer.answer_streamed(input, config, kwargs):
            yield _chunk(chunk, before, typed)
            before = chunk.output

    @override
    async def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Yields the chunks of the chain, then a chunk that adds the rules. Runs in the caller's event
        loop."""
        before: Any = chunk_of_nothing(self.explainer.application, kwargs)
        typed = has_typed_chunks(self.explainer.application, kwargs)
        if participation() is not None:
            async for piece in self.explainer.application.astream(input, config, **kwargs):
                yield piece
                before = piece
            yield last_chunk(before, _inside(before), typed=typed)
            return
        async for chunk in self.explainer.aanswer_streamed(input, config, kwargs):
            yield _chunk(chunk, before, typed)
            before = chunk.output

    @property
    @override
    def InputType(self) -> Any:
        """Returns the input type of the chain."""
        return self.explainer.application.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """Returns the output type of the chain."""
        return self.explainer.application.OutputType

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Returns the input schema of the chain."""
        return self.explainer.application.get_input_schema(config)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        """Returns the output schema of the chain."""
        return self.explainer.application.get_output_schema(config)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Returns the configurable fields of the chain."""
        return self.explainer.application.config_specs

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Returns the graph of the chain."""
        return self.explainer.application.get_graph(config)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Returns an attribute of the graph that is explained, such as ``get_state``."""
            explainer = None if name.startswith("_") else self.__dict__.get("explainer")
            graph = None if explainer is None else graph_in(explainer.application)
            return super().__getattr__(name) if graph is None else getattr(graph, name)


_INSIDE = (
    "this chain was run inside an application that is being explained, and that explanation is about it "
    "as well"
)


def _chunk(chunk: Explained[Any] | Unexplained[Any], before: Any, typed: bool) -> Any:
    if isinstance(chunk, AnswerChunk):
        return chunk.output
    return last_chunk(before, chunk, typed=typed)


def _inside(output: Any) -> Unexplained[Any]:
    """Returns, as an ``Unexplained``, the output of a chain that ran inside a larger application that is
    being explained. The explanation of the application covers this chain, so the chain gets no rules."""
    return Unexplained(output, InvalidInput(_INSIDE))
