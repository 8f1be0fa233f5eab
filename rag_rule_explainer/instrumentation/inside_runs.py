"""This module marks a run as the current one while it lasts, so that its calls are recorded. It also
hides the prints of replays."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import anyio.to_thread

from .application import Application
from .isolation.muting import muting
from .isolation.whereabouts import executing, under_way
from .late_calls import patched_while_tools_may_run
from .options import Manner
from .run_context import participating, participation
from .run_record import Participation


@contextmanager
def inside_run(
    application: Application[Any], run: Participation, *, in_pieces: bool = False
) -> Generator[None, None, None]:
    """Makes ``run`` the current run for the duration of the block. Searches, model calls and tool calls
    in the block are recorded as calls of this run. ``in_pieces``: True if the thread or task also
    executes other code in the block, such as the consumer of a stream."""
    patched = patched_while_tools_may_run(application.interception, run)
    with patched, participating(run), application.watching(run.watch), under_way(run, in_pieces):
        yield


async def in_a_thread(function: Callable[[], Any]) -> Any:
    """Calls a sync function in a thread, as part of the current run, and returns its result."""
    run = participation()

    def call() -> Any:
        with nullcontext() if run is None else executing(run):
            return function()

    return await anyio.to_thread.run_sync(call)


def replays_muted(manner: Manner) -> AbstractContextManager[None]:
    """Mutes prints and warnings during the block, unless the user wants to see them
    (``print_replays``)."""
    return nullcontext() if manner.print_replays else muting()
