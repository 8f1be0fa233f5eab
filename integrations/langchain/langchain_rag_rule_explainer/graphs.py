"""This module streams a LangGraph graph in the caller's stream modes, and collects its whole output."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langchain_core.runnables.config import merge_configs

from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained

from .breakpoints import Paused

STREAM_ONLY = ("stream_mode", "subgraphs", "print_mode")
"""Keywords of ``stream`` that change which chunks are yielded, but not how the graph runs."""

_VALUES = "values"


@dataclass(frozen=True, slots=True)
class Whole:
    """A ``Whole`` is the last item that a ``GraphStream`` yields: the output that ``invoke`` would
    return."""

    output: Any


def graph_in(application: Runnable[Any, Any]) -> Any:
    """Returns the LangGraph graph, if the application is one, without configs that are bound to it; else
    None."""
    while isinstance(application, RunnableBinding):
        application = application.bound
    is_graph = any(kind.__module__.startswith("langgraph.") for kind in type(application).__mro__)
    return application if is_graph and hasattr(application, "stream_mode") else None


def ended(application: Runnable[Any, Any], config: RunnableConfig, output: Any) -> Any:
    """Returns the output of an application. If the application is a graph that has stopped before its
    end, the output is wrapped in a ``Paused``."""
    return Paused.or_ended(graph_in(application), bound_with(application, config), output)


async def aended(application: Runnable[Any, Any], config: RunnableConfig, output: Any) -> Any:
    """Returns the output of an application, as ``ended`` does: wrapped in a ``Paused`` if a graph has
    stopped before its end. Calls async methods in the caller's event loop."""
    return await Paused.or_aended(graph_in(application), bound_with(application, config), output)


def unpaused(done: Explained[Any] | Unexplained[Any]) -> Explained[Any] | Unexplained[Any]:
    """Returns the result of a run. If the output in it is a ``Paused``, the graph's own output
    replaces it."""
    if isinstance(done, Unexplained) and isinstance(done.output, Paused):
        return Unexplained(done.output.output, done.error)
    return done


def bound_with(application: Runnable[Any, Any], config: RunnableConfig) -> RunnableConfig:
    """Returns the config of a run, merged with the configs that ``with_config`` bound to the application.
    If both have a value for the same key, the value of the run is used."""
    while isinstance(application, RunnableBinding):
        config, application = merge_configs(application.config, config), application.bound
    return config


def chunk_of_nothing(application: Runnable[Any, Any], keywords: Mapping[str, Any]) -> Any:
    """Returns an empty chunk in the shape of the chunks that the graph streams with these keywords; None
    if the application is no graph."""
    graph = graph_in(application)
    return None if graph is None else GraphStream(graph, keywords).nothing


def has_typed_chunks(application: Runnable[Any, Any], keywords: Mapping[str, Any]) -> bool:
    """Returns True iff the application is a graph that streams each chunk as a dict of type, namespace
    and data."""
    return keywords.get("version") == "v2" and graph_in(application) is not None


@dataclass(slots=True)
class GraphStream:
    """This class streams a graph in the stream modes that the caller wants.

    It also streams the mode "values", because the chunks of this mode show the final state of the graph.
    The caller gets these chunks only if the caller wants that mode.
    """

    graph: Any
    keywords: Mapping[str, Any]
    _last: Any = None
    _modes: tuple[str, ...] = field(init=False)
    _is_single: bool = field(init=False)

    def __post_init__(self) -> None:
        wanted: Any = self.keywords.get("stream_mode") or self.graph.stream_mode
        self._is_single = isinstance(wanted, str)
        self._modes = (wanted,) if isinstance(wanted, str) else tuple(cast("Sequence[str]", wanted))

    @property
    def keywords_with_state(self) -> dict[str, Any]:
        """Returns the caller's keywords, with "values" added to the stream modes."""
        modes = list(dict.fromkeys((*self._modes, _VALUES)))
        return {**self.keywords, "stream_mode": modes}

    @property
    def nothing(self) -> Any:
        """Returns an empty chunk in the shape that chunks have in the last stream mode that the caller
        listed."""
        mode = self._modes[-1]
        chunk: Any = (AIMessageChunk(content=""), {}) if mode == "messages" else {}
        return self._shaped((), mode, chunk)

    def stream(
        self, application: Runnable[Any, Any], given: Any, config: RunnableConfig
    ) -> Iterator[Any]:
        """Yields the chunks in the caller's stream modes, and at the end a ``Whole`` with the whole
        output."""
        for part in application.stream(given, config, **self.keywords_with_state):
            yield from self._in_modes(part)
        yield Whole(ended(application, config, self._last))

    async def astream(
        self, application: Runnable[Any, Any], given: Any, config: RunnableConfig
    ) -> AsyncIterator[Any]:
        """Yields the chunks in the caller's stream modes, and at the end a ``Whole`` with the whole
        output. Runs in the caller's event loop."""
        async for part in application.astream(given, config, **self.keywords_with_state):
            for chunk in self._in_modes(part):
                yield chunk
        yield Whole(await aended(application, config, self._last))

    def _in_modes(self, part: Any) -> Iterator[Any]:
        if isinstance(part, Mapping):  # this is a chunk of a stream with version="v2"
            typed = cast("Mapping[str, Any]", part)
            if typed.get("type") == _VALUES and not typed.get("ns"):
                self._last = _graph_output(typed)
            if typed.get("type") in self._modes:
                yield typed
            return
        # LangGraph yields pairs (mode, chunk), or triples (namespace of a subgraph, mode, chunk).
        namespace, mode, chunk = part if len(part) == 3 else ((), *part)
        if mode == _VALUES and not namespace:
            self._last = chunk
        if mode in self._modes:
            yield self._shaped(namespace, mode, chunk)

    def _shaped(self, namespace: Any, mode: str, chunk: Any) -> Any:
        parts = (chunk,) if self._is_single else (mode, chunk)
        parts = (namespace, *parts) if self.keywords.get("subgraphs") else parts
        return parts[0] if len(parts) == 1 else parts


def _graph_output(values: Mapping[str, Any]) -> Any:
    """Returns the output that ``invoke`` with ``version="v2"`` would return if the graph ended with
    this chunk of the mode "values"."""
    from langgraph.types import GraphOutput  # imported here, because not every application has LangGraph

    return GraphOutput(value=values["data"], interrupts=tuple(values.get("interrupts", ())))
