"""This module finds the run for which a tool is called in a thread or a task that was begun outside of
all runs, such as a worker that serves several of them. It cannot be certain of it, so such a call is
never answered as one of this run: the baseline is refused, and a replay is ended.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from ..errors import UntrueReplay
from ..tool_calls import ToolCall
from .isolation.whereabouts import open_runs, waits_for_a_thread
from .requests.calls_of_run import MadeCall
from .requests.unrecorded_tools import IN_ITS_CONTEXT
from .run_context import Participation
from .tool_replay import ToolOutcome, UsedTool

_NOT_RUN = (
    "the tool {name!r} was called in a thread or a task that was begun outside of the replay, and was "
    "not run, as it is not known which replay is to get its result; " + IN_ITS_CONTEXT
)


def stray_use(name: str, arguments: Callable[[], object], begun: Participation | None) -> UsedTool | None:
    """Returns a call of a tool in code that belongs to no run that goes on, with what it gets in place of
    a run of the tool; None if the tool is to run. ``arguments``: returns those that the model gives.
    ``begun``: the baseline in which this code began, such as a worker that later runs use as well; None
    if it began outside of runs.

    If a model has asked for a call of this tool, the call is noted on its run. If the run is a replay, it
    and the explanation end. Code that began outside of runs may work for others, such as those that a
    server answers, so that the model has to have asked for exactly this call, and the run to wait for
    another thread.
    """
    runs: list[Participation] = [each for each in open_runs() if not each.gate.closed]
    asking = [run for run in runs if any(each.call.name == name for each in _pending(run))]
    if not asking:
        return None
    call = ToolCall.written(name, arguments())
    found = list[UsedTool]()
    for run in asking:
        run.stray.add(name)
        fits = any(_fits(each.call, call) for each in _pending(run))
        if begun is not None or (fits and waits_for_a_thread(run)):
            found += _given(run, name)
    return found[0] if found else None


def _pending(run: Participation) -> list[MadeCall]:
    """Returns the calls that the models of a run have asked for, and that nothing has answered."""
    return [each for each in run.unexecuted if each.answered is None]


def _fits(asked: ToolCall, made: ToolCall) -> bool:
    """Returns True iff a call has all arguments that a model asked for. The application may add some."""
    given: Any = made.arguments
    if asked.name != made.name or not isinstance(asked.arguments, Mapping):
        return asked == made
    wanted = asked.arguments.items()
    return isinstance(given, Mapping) and all(
        cast("Mapping[str, Any]", given).get(key) == value for key, value in wanted
    )


def _given(run: Participation, name: str) -> list[UsedTool]:
    """Returns what a call of a tool gets that a model of this run has asked for; nothing if the tool is
    to run. Ends a replay, and what it belongs to. The call then gets the reason as its result: an error
    would end a thread that works for others as well."""
    replay = run.tool_replay
    if name in run.stubs:
        return [UsedTool(None, None, ToolOutcome(run.stubs[name]))]
    if replay is None or replay.on_new == "live" or name in {*replay.retrieving, *replay.safe}:
        return []
    if name in run.unexecuted_tools:
        return []
    why = _NOT_RUN.format(name=name)
    replay.record.faults[name] = why
    run.refused = run.refused or UntrueReplay(why)
    return [UsedTool(None, None, ToolOutcome(why))]
