"""The recording of an ordinary run that carries our callback handler, if this is one."""

from typing import Any, Protocol, runtime_checkable

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import var_child_runnable_config

from rag_rule_explainer.probing.gating import Recording


@runtime_checkable
class RecordsRuns(Protocol):
    """A callback handler that records what is retrieved in the runs it is told of."""

    def recording_of(self, run_id: Any) -> "Recording[Any] | None":
        """The recording of the root run that this run belongs to, while it goes on."""
        ...


def ordinary_recording() -> Recording[Any] | None:
    """Found by LangChain's own notion of the current run, so nothing need be set in any context."""
    callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager):
        return None
    for handler in callbacks.handlers:
        if isinstance(handler, RecordsRuns):
            return handler.recording_of(callbacks.parent_run_id)
    return None
