"""This module keeps tools from running after the end of a run that began their calls.

A replay may end while tasks or threads of it go on: those of parallel calls, of which one ended it, and
those for which the application never waits.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from .bounds import ReplayEnded
from .copies.patching import Patches
from .isolation.callbacks import keep_loop_quiet
from .isolation.whereabouts import as_begun_here, current_task
from .run_context import Participation, has_run, run_begun
from .stray_calls import stray_use
from .tool_replay import ToolOutcome, UsedTool

_LATE = (
    "the tool {name!r} does not run: a task or a thread of a replay called it after the end of the replay"
)


@contextmanager
def patched_while_tools_may_run(patches: Patches, run: Participation) -> Generator[None, None, None]:
    """Keeps the methods replaced for the block, and as long as anything goes on that a run in it began.

    The explanation may have ended by then. Tools that the run is not to execute would be executed by the
    original methods.
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
    """Returns the run that the current context is part of; None outside of runs, and after the end of one
    that may execute all tools."""
    run = run_begun()
    return None if run is None or (run.gate.closed and not _guards(run)) else run


def _guards(run: Participation) -> bool:
    return run.tool_replay is not None or bool(run.stubs)


def takes_part() -> bool:
    """Returns True iff the current context began in a run, also if that has ended."""
    return run_begun() is not None


def late_use(name: str, arguments: Callable[[], object]) -> UsedTool | None:
    """Returns a call of a tool that is made outside of runs, or after the end of its run: with its stub;
    None if the tool is to run. Raises an error that the application does not catch by ``except
    Exception`` if the run was a replay in which this tool may not run. ``arguments``: returns those that
    the model gives."""
    run = run_begun()
    if run is None:
        return stray_use(name, arguments, None)
    if name in run.stubs:
        return UsedTool(None, None, ToolOutcome(run.stubs[name]))
    replay = run.tool_replay
    if replay is None:
        return stray_use(name, arguments, run)
    if name in {*replay.retrieving, *replay.safe}:
        return None
    if current_task() is not None:
        # A task that fails, and that nobody waits for, is logged as an error of the application.
        raise asyncio.CancelledError(_LATE.format(name=name))
    error = ReplayEnded(_LATE.format(name=name))
    keep_loop_quiet(error)
    raise error


def in_its_run() -> AbstractContextManager[None]:
    """Makes the run of this thread or task the current run for the duration of the block, if the context
    has none, as inside a new ``contextvars.Context``."""
    if has_run():
        return nullcontext()
    run = run_begun()
    return nullcontext() if run is None or run.gate.closed else as_begun_here()
