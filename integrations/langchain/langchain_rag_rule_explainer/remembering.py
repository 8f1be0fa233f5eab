"""This module stores the state of an application just before an ordinary run.

The replays that explain the run start with this state.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.history import RunnableWithMessageHistory

from rag_rule_explainer.instrumentation.copies.state import State

from . import histories, memories
from .checkpoints import checkpoint_key, real_checkpoint
from .histories import history_key


def configured_by(application: Runnable[Any, Any], metadata: Mapping[str, Any]) -> RunnableConfig:
    """Returns the config of a run, read from the metadata of its events.

    Only the thread id and the configurable fields of the application are read.
    """
    names = {"thread_id", *(spec.id for spec in application.config_specs)}
    return {"configurable": {name: metadata[name] for name in sorted(names) if name in metadata}}


def keep_state(state: State, application: Runnable[Any, Any], config: RunnableConfig) -> None:
    """Stores in ``state`` what the application remembers before its run: the checkpoint of the config's
    thread, and the variables of a memory of langchain_classic, as far as it has these.

    Raises the errors of the checkpointer and the memory, for example if one has only async methods.
    """
    configurable = dict(config.get("configurable", {}))
    checkpointer = getattr(_inner(application), "checkpointer", None)
    memory = getattr(_inner(application), "memory", None)
    if hasattr(checkpointer, "get_tuple") and configurable.get("thread_id"):
        place = {"configurable": {"checkpoint_ns": "", **configurable}}
        state.before[checkpoint_key(state, checkpointer, place)] = real_checkpoint(checkpointer, place)
    if memory is not None:
        memories.keep_memory(state, memory)


def keep_chat(state: State, application: Runnable[Any, Any]) -> RunnableConfig:
    """Stores in ``state`` the messages of a ``RunnableWithMessageHistory``, before a run adds messages.

    Returns a config with the configurable fields of the run, except the history object; an empty config
    if the run uses no history. This function must be called in the context of an inner run, before any
    message is added to the history. Raises the errors of the history. Raises LookupError if the
    ``RunnableWithMessageHistory`` is only a part of the application.
    """
    configurable = dict((var_child_runnable_config.get() or {}).get("configurable") or {})
    history, runnable = configurable.pop("message_history", None), _with_history(application)
    if history is None:
        return {}
    if runnable is None:
        raise LookupError("the message history belongs to a part of the application")
    histories.keep_history(state, history, history_key(runnable, configurable))
    return {"configurable": configurable}


def _inner(application: Runnable[Any, Any]) -> Any:
    inner: Any = application
    while isinstance(inner, RunnableBinding):
        # pyright does not know the type of the Runnable inside a RunnableBinding.
        inner = inner.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return inner  # pyright: ignore[reportUnknownVariableType] -- pyright does not know the type, as above


def _with_history(application: Any) -> RunnableWithMessageHistory | None:
    while isinstance(application, RunnableBinding):
        if isinstance(application, RunnableWithMessageHistory):
            return application
        # pyright does not know the type of the Runnable inside a RunnableBinding.
        application = application.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return application if isinstance(application, RunnableWithMessageHistory) else None
