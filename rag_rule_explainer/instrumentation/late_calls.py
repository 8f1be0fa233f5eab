"""This module keeps tools from running after the end of a run in which they must not run.

A replay may end while some of its tasks or threads go on. For example, one of several parallel calls
ended the replay, or the application never waits for a thread.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from .bounds import ReplayEnded
from .copies.patching import Patches
from .executed_calls import ToolOutcome
from .isolation.callbacks import keep_loop_quiet
from .isolation.whereabouts import as_begun_here, current_task
from .run_context import has_run, run_begun
from .run_record import Participation
from .stray_calls import stray_use
from .tool_replay import UsedTool

_LATE = (
    "the tool {name!r} does not run: a task or a thread of a replay called it after the end of the replay"
)


@contextmanager
def patched_while_tools_may_run(patches: Patches, run: Participation) -> Generator[None, None, None]:
    """Keeps the framework's methods patched during the block, and afterwards until all threads and tasks
    that the run began have ended. The original methods would execute tools that this run must not
    execute.

    Does nothing if the run may execute all tools, because its tool calls get neither stubs nor recorded
    results.
    """
    if not _guards(run):
        yield
        return
    patches.start()
    try:
        yield
    finally:
        run.work.when_over(patches.stop)


def run_of_work() -> Participation | None:
    """Returns the run in which the current context began; None if it began outside of runs. Also returns
    None if that run has ended and its tool calls got neither stubs nor recorded results: in this case, no
    tool must be kept from running after the end of the run."""
    run = run_begun()
    return None if run is None or (run.gate.closed and not _guards(run)) else run


def _guards(run: Participation) -> bool:
    return run.tool_replay is not None or bool(run.stubs)


def takes_part() -> bool:
    """Returns True iff the current context began in a run, even if that run has ended."""
    return run_begun() is not None


def _of_none() -> bool:
    return False


def late_use(
    name: str,
    arguments: Callable[[], object],
    is_of_another: Callable[[], bool] = _of_none,
    *,
    tool: object,
) -> UsedTool | None:
    """Handles a tool call outside of runs, or after the end of its run. Returns None if the tool is to
    run. If its result is known, such as that of a stub, returns the call with this result. If the run was
    a replay in which this tool must not run, raises an error that ``except Exception`` does not catch.
    ``arguments``: returns the arguments of the call. ``is_of_another``: returns True iff the context
    shows that the call belongs to a run that no explanation makes, such as one of another user.
    ``tool``: the tool, or its function."""
    run = run_begun()
    if not has_run() and is_of_another():
        return None
    if run is None:
        return stray_use(name, arguments, None, tool)
    if name in run.stubs:
        return UsedTool(None, None, ToolOutcome(run.stubs[name]))
    replay = run.tool_replay
    if replay is None:
        return stray_use(name, arguments, run, tool)
    if name in replay.safe or replay.retrieves(name, tool, run.tool_record.tools.made):
        return None
    if current_task() is not None:
        # If no code waits for the task, asyncio would log any other error as an error of the application.
        raise asyncio.CancelledError(_LATE.format(name=name))
    error = ReplayEnded(_LATE.format(name=name))
    keep_loop_quiet(error)
    raise error


def in_its_run() -> AbstractContextManager[None]:
    """During the block, makes one run the current run: the run in which this thread or task began. Does
    nothing if the context already has a current run. (A new ``contextvars.Context`` has none.)"""
    if has_run():
        return nullcontext()
    run = run_begun()
    return nullcontext() if run is None or run.gate.closed else as_begun_here()
