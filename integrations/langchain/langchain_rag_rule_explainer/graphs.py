"""This room streams a LangGraph graph as its caller asks, and learns its whole output beside."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langchain_core.runnables.config import merge_configs

from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained

from .breakpoints import Paused

STREAM_ONLY = ("stream_mode", "subgraphs", "print_mode")
"""Keywords that say how a run is told, and nothing of what it does."""

_VALUES = "values"


@dataclass(frozen=True, slots=True)
class Whole:
    """This class represents the last item of a stream whose chunks do not add up: the output as
    ``invoke`` returns it."""

    output: Any


def graph_in(application: Runnable[Any, Any]) -> Any:
    """Returns the graph that an application is, with or without a config bound to it; None if none."""
    while isinstance(application, RunnableBinding):
        application = application.bound
    is_graph = any(kind.__module__.startswith("langgraph.") for kind in type(application).__mro__)
    return application if is_graph and hasattr(application, "stream_mode") else None


def ended(application: Runnable[Any, Any], config: RunnableConfig, output: Any) -> Any:
    """Returns the output of an application, as ``Paused`` where it is a graph that has stopped."""
    return Paused.or_ended(graph_in(application), bound_with(application, config), output)


async def aended(application: Runnable[Any, Any], config: RunnableConfig, output: Any) -> Any:
    """Returns the same on the caller's loop."""
    return await Paused.or_aended(graph_in(application), bound_with(application, config), output)


def handed_back(done: Explained[Any] | Unexplained[Any]) -> Explained[Any] | Unexplained[Any]:
    """Returns what comes of the user's own run, with the output of a graph that has stopped as it is."""
    if isinstance(done, Unexplained) and isinstance(done.output, Paused):
        return Unexplained(done.output.output, done.error)
    return done


def bound_with(application: Runnable[Any, Any], config: RunnableConfig) -> RunnableConfig:
    """Returns the config of a run with what is bound to the application."""
    while isinstance(application, RunnableBinding):
        config, application = merge_configs(application.config, config), application.bound
    return config


def chunk_of_nothing(application: Runnable[Any, Any], keywords: Mapping[str, Any]) -> Any:
    """Returns an empty chunk in the shape that a graph is asked for; None for anything else."""
    graph = graph_in(application)
    return None if graph is None else GraphStream(graph, keywords).nothing


@dataclass(slots=True)
class GraphStream:
    """Asks a graph for its state beside what the caller wants, and hands on what the caller wants."""

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
    def asked(self) -> dict[str, Any]:
        """Returns the keywords for the graph."""
        modes = list(dict.fromkeys((*self._modes, _VALUES)))
        return {**self.keywords, "stream_mode": modes}

    @property
    def nothing(self) -> Any:
        """Returns a chunk as they are asked for, with nothing in it."""
        mode = self._modes[-1]
        chunk: Any = (AIMessageChunk(content=""), {}) if mode == "messages" else {}
        return self._shaped((), mode, chunk)

    def stream(
        self, application: Runnable[Any, Any], given: Any, config: RunnableConfig
    ) -> Iterator[Any]:
        """Yields the chunks that were asked for, then the ``Whole``."""
        for part in application.stream(given, config, **self.asked):
            yield from self._told(part)
        yield Whole(ended(application, config, self._last))

    async def astream(
        self, application: Runnable[Any, Any], given: Any, config: RunnableConfig
    ) -> AsyncIterator[Any]:
        """Yields the same on the caller's loop."""
        async for part in application.astream(given, config, **self.asked):
            for chunk in self._told(part):
                yield chunk
        yield Whole(await aended(application, config, self._last))

    def _told(self, part: Any) -> Iterator[Any]:
        if isinstance(part, Mapping):  # version="v2"
            typed = cast("Mapping[str, Any]", part)
            if typed.get("type") == _VALUES and not typed.get("ns"):
                self._last = typed.get("data")
            if typed.get("type") in self._modes:
                yield typed
            return
        # (mode, chunk), with the place of a subgraph before it where subgraphs are told as well.
        place, mode, chunk = part if len(part) == 3 else ((), *part)
        if mode == _VALUES and not place:
            self._last = chunk
        if mode in self._modes:
            yield self._shaped(place, mode, chunk)

    def _shaped(self, place: Any, mode: str, chunk: Any) -> Any:
        told = (chunk,) if self._is_single else (mode, chunk)
        told = (place, *told) if self.keywords.get("subgraphs") else told
        return told[0] if len(told) == 1 else told
