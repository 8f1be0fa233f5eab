"""This module handles tool calls in a thread or task that began outside of all runs, such as a worker
that works for several runs. It is then unknown to which run a call belongs, so the call never gets a
recorded result. A baseline with such a call is not explained, and a replay with such a call is ended."""

import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, cast

from ..errors import UntrueReplay
from ..tool_calls import ToolCall
from .executed_calls import ToolOutcome
from .isolation.whereabouts import open_runs, runs_here, waits_for_a_thread
from .requests.calls_of_run import MadeCall
from .requests.unrecorded_tools import IN_ITS_CONTEXT
from .run_record import Participation
from .tool_replay import UsedTool

_LONGEST = 0.5
"""A run that has not begun to wait after so many seconds is taken to have nothing to do with a call."""
_NOT_RUN = (
    "the tool {name!r} was called in a thread or a task that was begun outside of the replay, and was "
    "not run, as it is not known which replay is to get its result; " + IN_ITS_CONTEXT
)


def stray_use(
    name: str, arguments: Callable[[], object], begun: Participation | None, tool: object
) -> UsedTool | None:
    """Handles a tool call in a thread or task that is part of no current run. Returns None if the tool
    may run, otherwise the call with the result that it gets instead. ``arguments``: returns the arguments
    of the call. ``begun``: the baseline in which this thread or task began; None if it began outside of
    runs. ``tool``: the tool, or its function.

    The tool is recorded in the ``stray`` of each run whose model asked for a call of it. If such a run is
    a replay, the replay and the explanation end. A thread that began outside of runs may also work for
    others, such as the clients of a server. For its calls, a replay ends only if its model asked for
    exactly this call and the replay waits for another thread.
    """
    runs: list[Participation] = [each for each in open_runs() if not each.gate.closed]
    if begun is None and any(_is_called_here(run) for run in runs):
        return None
    asking = [run for run in runs if any(each.call.name == name for each in pending_calls(run))]
    if not asking:
        return None
    call = ToolCall.written(name, arguments())
    found = list[UsedTool]()
    for run in asking:
        run.stray.add(name)
        if begun is not None or _comes_to_wait(run, call):
            found += _given(run, name, tool)
    return found[0] if found else None


def _comes_to_wait(run: Participation, call: ToolCall) -> bool:
    """Returns True iff the model of a run asked for this ``call`` and the run waits for another thread.

    The run may have given its work to this thread and not have begun to wait yet. So the run is looked at
    until it waits, or no longer needs this call, or has done something else for ``_LONGEST`` seconds.
    """
    ends = time.monotonic() + _LONGEST
    while not run.gate.closed and any(_fits(each.call, call) for each in pending_calls(run)):
        if waits_for_a_thread(run):
            return True
        if runs_here(run) or time.monotonic() > ends:
            return False
        time.sleep(0.001)
    return False


def _is_called_here(run: Participation) -> bool:
    """Returns True iff this thread, which belongs to no run, has called the application of ``run``. The
    tool call then belongs to a run that no explanation makes, such as a run for another user."""
    code = None if run.shared is None else run.shared.code
    frame: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage] -- there is no public function
    while code is not None and frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return code is not None and frame is not None


def pending_calls(run: Participation) -> list[MadeCall]:
    """Returns the calls that the models of a run have asked for and that have no result yet."""
    return [each for each in run.unexecuted if each.answered is None]


def _fits(asked: ToolCall, made: ToolCall) -> bool:
    """Returns True iff ``made`` is a call of the tool that a model ``asked`` for, with all arguments that
    the model gave. The call ``made`` may have more arguments, because the application may have added
    some."""
    given: Any = made.arguments
    if asked.name != made.name or not isinstance(asked.arguments, Mapping):
        return asked == made
    wanted = asked.arguments.items()
    return isinstance(given, Mapping) and all(
        cast("Mapping[str, Any]", given).get(key) == value for key, value in wanted
    )


def _given(run: Participation, name: str, tool: object) -> list[UsedTool]:
    """Returns a list with one call and the result that it gets instead of running the tool ``name``: the
    tool's stub, or a text that says why the tool does not run. Returns an empty list if the tool may run.

    If the result is such a text, the replay and the explanation end. No error is raised here, because an
    error would end a thread that may also work for others.
    """
    replay = run.tool_replay
    if name in run.stubs:
        return [UsedTool(None, None, ToolOutcome(run.stubs[name]))]
    if replay is None or replay.on_new == "live" or name in {*replay.safe, *run.unexecuted_tools}:
        return []
    if replay.retrieves(name, tool, run.tool_record.tools.made):
        return []
    why = replay.record.faults.setdefault(name, _NOT_RUN.format(name=name))
    run.refused = run.refused or UntrueReplay(why)
    return [UsedTool(None, None, ToolOutcome(why))]
