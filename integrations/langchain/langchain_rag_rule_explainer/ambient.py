"""This module keeps replays out of a LangGraph run in which the explanation itself is made.

An example is a graph that streams messages to a user and explains a chain in one of its nodes. The user
must not get the messages of replays. The graph passes its streams on in three places, and a replay must
get none of them: the callback handlers, the config's ``configurable``, and the config in LangChain's
context variable.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    DEFAULT_RECURSION_LIMIT,
    ensure_config,
    var_child_runnable_config,
)

_OF_GRAPHS = "langgraph."
_STREAM, _RUNTIME = "__pregel_stream", "__pregel_runtime"


@contextmanager
def without_ambient_config() -> Generator[None, None, None]:
    """Makes a replay in the block start without the config of the run that contains the explanation.

    Otherwise LangGraph would merge that config with the config of the replay. Tracers would then record
    the replay twice, and handlers would observe replays that must be hidden from them.
    """
    token = var_child_runnable_config.set(None)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def without_streams(config: RunnableConfig) -> RunnableConfig:
    """Returns a copy of the config without the streams of a surrounding graph. The explanation runs in a
    node of this graph, and no text of a replay may reach the graph's user."""
    kept: dict[str, Any] = {**config}
    callbacks: Any = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        kept["callbacks"] = manager = callbacks.copy()
        for each in filter(_streams, callbacks.handlers):
            manager.remove_handler(each)
    elif callbacks:
        kept["callbacks"] = [each for each in callbacks if not _streams(each)]
    entries: Mapping[str, Any] = config.get("configurable") or {}
    if _STREAM in entries or _RUNTIME in entries:
        own = {name: value for name, value in entries.items() if name != _STREAM}
        runtime = own.get(_RUNTIME)
        if hasattr(runtime, "override"):
            own[_RUNTIME] = cast("Any", runtime).override(stream_writer=_nowhere)
        kept["configurable"] = own
    return cast("RunnableConfig", kept)


def _streams(handler: object) -> bool:
    """Returns True iff the callback handler is one of LangGraph's, which write the events of a run into
    the stream of a graph."""
    return type(handler).__module__.startswith(_OF_GRAPHS)


def _nowhere(_: object) -> None:
    """Does nothing with its argument. Replays get this function as their stream writer, so that their
    texts do not reach the stream of a graph."""


def completed_config(config: RunnableConfig) -> RunnableConfig:
    """Returns the config with LangChain's defaults for missing keys, except for the recursion limit.

    LangChain's default limit would stop agents that make many steps. Without it, the application's own
    limit applies in replays, as it did in the baseline.
    """
    completed = ensure_config(config)
    if completed.get("recursion_limit") == DEFAULT_RECURSION_LIMIT:
        del completed["recursion_limit"]
    return completed
