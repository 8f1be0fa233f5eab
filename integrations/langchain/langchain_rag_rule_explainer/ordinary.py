"""This module finds the ``Recording`` (the retrievals of a run) and the ``State`` (the content of stores
and histories) of the current run, if a handler records this run.

The handler is a ``RuleExplanationHandler``. The run is an ordinary run of the application.
"""

from typing import Any, Protocol, TypeGuard

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import var_child_runnable_config

from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import participation


class RecordsRuns(Protocol):
    """A ``RecordsRuns`` is a callback handler that records the retrievals of the runs it observes."""

    def recording_of(self, run_id: Any) -> "Recording[Any] | None":
        """Returns the recording of the root run that contains the run with this id.

        Returns None if the handler does not record the root run, if it has ended, or if ``run_id`` is
        None.
        """
        ...

    def state_of(self, run_id: Any) -> State | None:
        """Returns the content that the application's stores and histories had before a root run. The root
        run is the one that contains the run with this id.

        Returns None if the handler does not record the root run, if it has ended, or if ``run_id`` is
        None.
        """
        ...


def ordinary_recording() -> Recording[Any] | None:
    """Returns the recording of the current run; None if no handler records it.

    The current run is the one in LangChain's context variable for the config.
    """
    found = _recorder()
    return None if found is None else found[0].recording_of(found[1])


def state_of_current_run() -> State | None:
    """Returns the ``State`` of the current run: what the application's stores and histories contain for
    this run. Returns None outside of runs.

    The run is a replay, a baseline, or an ordinary run that a handler records.
    """
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
