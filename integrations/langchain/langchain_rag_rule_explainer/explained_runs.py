"""This module defines a Runnable that runs an application and explains its output."""

from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec, Input, Output
from pydantic import ConfigDict
from typing_extensions import override

from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.engine import TracedExplanation, heard, threads
from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained

from .calls import Calls, QuestionOptions
from .finding import Found
from .graphs import unpaused
from .outputs import whole
from .silencing import with_bound_tracers
from .streaming import aoutput_then_rules, output_then_rules
from .tracing import as_one_async_run, as_one_run, beside_root, inside_root, root_config, why_unheard

Result = TypeVar("Result")


class ExplainedRuns(RunnableSerializable[Input, Explained[Output]]):
    """This class is a Runnable that runs an application and explains its output. Tracers receive both as
    one run.

    ``answered``, ``answer_streamed`` and their async forms return the output even if it cannot be
    explained. The other methods raise an error in this case.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    application: Runnable[Any, Any]

    @property
    @abstractmethod
    def _calls(self) -> Calls:
        """Returns the object that makes a ``Call`` for each input of the application."""

    def _asked(
        self,
        ask: Callable[[Call[Found]], Result],
        given: Any,
        config: RunnableConfig | None,
        question: QuestionOptions,
        keywords: Mapping[str, Any],
    ) -> Result:
        """Calls ``ask`` with the ``Call`` of this input, and returns the result of ``ask``. Tracers
        receive the runs that ``ask`` makes as parts of one run."""

        def asked(config: RunnableConfig, trace: TracedExplanation) -> Result:
            return ask(self._calls.of(given, config, trace, question, keywords))

        return as_one_run(asked, given, with_bound_tracers(self.application, config))

    async def _aasked(
        self,
        ask: Callable[[Call[Found]], Awaitable[Result]],
        given: Any,
        config: RunnableConfig | None,
        question: QuestionOptions,
        keywords: Mapping[str, Any],
    ) -> Result:
        """Calls the async function ``ask`` with the ``Call`` of this input, and returns its result.

        ``ask`` runs in the caller's event loop. Tracers receive the runs that it makes as parts of one
        run.
        """

        async def asked(config: RunnableConfig, trace: TracedExplanation) -> Result:
            return await ask(self._calls.of(given, config, trace, question, keywords))

        return await as_one_async_run(asked, given, with_bound_tracers(self.application, config))

    @override
    def invoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Explained[Output]:
        """Runs the application, and returns its output with the explanation. Tracers receive both as one
        run."""
        return self._invoked(input, config, kwargs, forgiving=False)

    def answered(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> Explained[Any] | Unexplained[Any]:
        """Runs the application, and returns its output with the explanation. If only the explanation
        fails, returns the output as an ``Unexplained``."""
        return self._invoked(given, config, keywords, forgiving=True)

    def _invoked(
        self,
        given: Any,
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> Any:
        trace = TracedExplanation()

        def explained(
            given: Any,
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 -- LangChain passes it by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> Any:
            with inside_root(config, trace):
                call = self._calls.of_the_users_run(given, config, trace, keywords, forgiving=forgiving)
                return unpaused(call.answered()) if forgiving else call.explained()

        config = root_config(with_bound_tracers(self.application, config), trace)
        with heard(trace, why_unheard(config)):
            return self._call_with_config(cast("Any", explained), given, config, **keywords)

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Explained[Output]:
        """Runs the application by async methods, and returns its output with the explanation."""
        return await self._ainvoked(input, config, kwargs, forgiving=False)

    async def aanswered(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> Explained[Any] | Unexplained[Any]:
        """Runs the application in the caller's event loop, and returns its output with the explanation.
        If only the explanation fails, returns the output as an ``Unexplained``."""
        return await self._ainvoked(given, config, keywords, forgiving=True)

    async def _ainvoked(
        self,
        given: Any,
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> Any:
        trace = TracedExplanation()

        async def explained(
            given: Any,
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 -- LangChain passes it by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> Any:
            with inside_root(config, trace):
                call = self._calls.of_the_users_run(given, config, trace, keywords, forgiving=forgiving)
                return unpaused(await call.aanswered()) if forgiving else await call.aexplained()

        config = root_config(with_bound_tracers(self.application, config), trace)
        with heard(trace, await threads.shared().run(why_unheard, config)):
            return await self._acall_with_config(cast("Any", explained), given, config, **keywords)

    @override
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Explained[Output]]:
        """Yields each chunk of the output as an ``AnswerChunk``, then the whole output with its
        explanation."""
        return self.transform(iter([input]), config, **kwargs)

    def answer_streamed(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> Iterator[Explained[Any] | Unexplained[Any]]:
        """Yields each chunk of the output, then the whole output with its explanation. If only the
        explanation fails, the last item is an ``Unexplained``."""
        return self._transformed(iter([given]), config, keywords, forgiving=True)

    @override
    async def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Explained[Output]]:
        """Yields each chunk of the output, then the whole output with its explanation. Calls async
        methods in the caller's event loop."""

        async def only() -> AsyncIterator[Input]:
            yield input

        async for chunk in self.atransform(only(), config, **kwargs):
            yield chunk

    async def aanswer_streamed(
        self, given: Any, config: RunnableConfig | None, keywords: Mapping[str, Any]
    ) -> AsyncIterator[Explained[Any] | Unexplained[Any]]:
        """Yields each chunk of the output, then the whole output with its explanation, or without it as
        an ``Unexplained``. Runs in the caller's event loop."""

        async def only() -> AsyncIterator[Any]:
            yield given

        async for chunk in self._atransformed(only(), config, keywords, forgiving=True):
            yield chunk

    @override
    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Explained[Output]]:
        """Yields each chunk of the output, then the whole output with its explanation. ``input``: an
        iterator over the chunks of the input."""
        return self._transformed(input, config, kwargs, forgiving=False)

    def _transformed(
        self,
        given: Iterator[Any],
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> Iterator[Any]:
        trace = TracedExplanation()

        def streaming(
            given: Iterator[Any],
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 -- LangChain passes it by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> Iterator[Any]:
            with beside_root(config, trace, why_unheard(config)):
                call = self._calls.of_the_users_run(
                    whole(given), config, trace, keywords, streams=True, forgiving=forgiving
                )
                finish = call.answer_streamed if forgiving else call.streamed
                yield from output_then_rules(call, self.application, finish)

        config = root_config(with_bound_tracers(self.application, config), trace)
        return self._transform_stream_with_config(given, streaming, config, **keywords)

    @override
    async def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Explained[Output]]:
        """Yields each chunk of the output, then the whole output with its explanation. ``input``: an
        async iterator over the chunks of the input. Runs in the caller's event loop."""
        async for chunk in self._atransformed(input, config, kwargs, forgiving=False):
            yield chunk

    async def _atransformed(
        self,
        given: AsyncIterator[Any],
        config: RunnableConfig | None,
        keywords: Mapping[str, Any],
        *,
        forgiving: bool,
    ) -> AsyncIterator[Any]:
        trace = TracedExplanation()

        async def streaming(
            given: AsyncIterator[Any],
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 -- LangChain passes it by name
            config: RunnableConfig,
            **keywords: Any,
        ) -> AsyncIterator[Any]:
            everything = whole([each async for each in given])
            with beside_root(config, trace, await threads.shared().run(why_unheard, config)):
                call = self._calls.of_the_users_run(
                    everything, config, trace, keywords, streams=True, forgiving=forgiving
                )
                finish = call.aanswer_streamed if forgiving else call.astreamed
                async for chunk in aoutput_then_rules(call, self.application, finish):
                    yield chunk

        config = root_config(with_bound_tracers(self.application, config), trace)
        async for chunk in self._atransform_stream_with_config(given, streaming, config, **keywords):
            yield chunk

    @property
    @override
    def InputType(self) -> Any:
        """Returns the input type of the application."""
        return self.application.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """Returns ``Explained``, because the output is the application's output with its explanation."""
        return Explained

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Returns the input schema of the application."""
        return self.application.get_input_schema(config)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Returns the configurable fields of the application."""
        return self.application.config_specs

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """Returns the graph of the application with a node for the explanation at the end."""
        graph = self.application.get_graph(config)
        last, explained = graph.last_node(), graph.add_node(self, id="RuleExplainer")
        if last is not None:
            graph.add_edge(last, explained)
        return graph
