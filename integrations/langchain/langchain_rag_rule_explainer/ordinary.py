"""The recording of an ordinary run that carries our callback handler, if this is one."""

from typing import Any, Protocol, TypeGuard

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import var_child_runnable_config

from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import participation


class RecordsRuns(Protocol):
    """A callback handler that records what is retrieved in the runs it is told of."""

    def recording_of(self, run_id: Any) -> "Recording[Any] | None":
        """Returns the recording of the root run that this run belongs to, while it goes on."""
        ...

    def state_of(self, run_id: Any) -> State | None:
        """Returns what was remembered before that root run, while it goes on."""
        ...


def ordinary_recording() -> Recording[Any] | None:
    """Found by LangChain's own notion of the current run, so nothing need be set in any context."""
    found = _recorder()
    return None if found is None else found[0].recording_of(found[1])


def current_state() -> State | None:
    """Of the replay, the baseline or the ordinary run with our handler that this context is part of."""
    run = participation()
    if run is not None:
        return run.state
    found = _recorder()
    return None if found is None else found[0].state_of(found[1])


def _recorder() -> tuple[RecordsRuns, Any] | None:
    callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    if not isinstance(callbacks, BaseCallbackManager):
        return None
    recorder = next(filter(_records_runs, callbacks.handlers), None)
    return None if recorder is None else (recorder, callbacks.parent_run_id)


def _records_runs(handler: object) -> TypeGuard[RecordsRuns]:
    return hasattr(handler, "recording_of")
