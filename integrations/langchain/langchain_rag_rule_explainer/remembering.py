"""What an application remembered just before an ordinary run, as far as can be told from outside."""

from collections.abc import Hashable, Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.history import RunnableWithMessageHistory

from .checkpoints import checkpoint_key, real_checkpoint
from .histories import history_key
from .memories import memory_key


def configured_by(application: Runnable[Any, Any], metadata: Mapping[str, Any]) -> RunnableConfig:
    """The config of a run, from what LangChain puts of it into the metadata of its events."""
    names = {"thread_id", *(spec.id for spec in application.config_specs)}
    return {"configurable": {name: metadata[name] for name in sorted(names) if name in metadata}}


def remembered(application: Runnable[Any, Any], config: RunnableConfig) -> dict[Hashable, Any]:
    """By the keys under which its runs will ask for it; to be called before the run reads or writes.

    Raises what the checkpointer or the memory raises, such as one that can only be read asynchronously.
    """
    found: dict[Hashable, Any] = {}
    configurable = dict(config.get("configurable", {}))
    checkpointer = getattr(_inner(application), "checkpointer", None)
    memory = getattr(_inner(application), "memory", None)
    if hasattr(checkpointer, "get_tuple") and configurable.get("thread_id"):
        place = {"configurable": {"checkpoint_ns": "", **configurable}}
        found[checkpoint_key(checkpointer, place)] = real_checkpoint(checkpointer, place)
    if memory is not None:
        found[memory_key(memory)] = memory.load_memory_variables({})
    return found


def remembered_chat(application: Runnable[Any, Any]) -> tuple[dict[Hashable, Any], RunnableConfig]:
    """The messages of a ``RunnableWithMessageHistory`` and the config they were asked for with.

    To be called in the context of one of its inner runs, before the history is written to. Raises what
    the history raises, and LookupError where it is not known whose history it is.
    """
    configurable = dict((var_child_runnable_config.get() or {}).get("configurable") or {})
    history, runnable = configurable.pop("message_history", None), _with_history(application)
    if history is None:
        return {}, {}
    if runnable is None:
        raise LookupError("the message history belongs to a part of the application")
    return {history_key(runnable, configurable): list(history.messages)}, {"configurable": configurable}


def _inner(application: Runnable[Any, Any]) -> Any:
    inner: Any = application
    while isinstance(inner, RunnableBinding):
        inner = inner.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return inner  # pyright: ignore[reportUnknownVariableType]


def _with_history(application: Any) -> RunnableWithMessageHistory | None:
    while isinstance(application, RunnableBinding):
        if isinstance(application, RunnableWithMessageHistory):
            return application
        application = application.bound  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return application if isinstance(application, RunnableWithMessageHistory) else None
